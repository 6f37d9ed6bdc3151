-- name: InsertDocument :execrows
INSERT INTO documents (id, owner, title, status, source_type, external_id, bytes, created_at, format, source_url, source_version, address, name)
VALUES (@id, @owner, @title, 'processing', @source_type, @external_id, @bytes, @created_at, @format, @source_url, @source_version, @address, @name)
ON CONFLICT DO NOTHING;

-- name: InsertRaw :exec
INSERT INTO raw_documents (doc_id, raw) VALUES (@doc_id, @raw);

-- name: Raw :one
SELECT r.raw FROM raw_documents r JOIN documents d ON d.id = r.doc_id
WHERE r.doc_id = @doc_id AND d.owner IN (@owner, '*') AND d.status = 'processing';

-- name: Original :one
SELECT r.raw FROM raw_documents r JOIN documents d ON d.id = r.doc_id
WHERE r.doc_id = @doc_id AND d.owner IN (@owner, '*') AND d.status = 'ready';

-- name: DeleteRaw :exec
DELETE FROM raw_documents WHERE doc_id = @doc_id;

-- name: Document :one
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name
FROM documents WHERE id = @id AND owner IN (@owner, '*');

-- name: DocumentForChange :one
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name
FROM documents WHERE id = @id AND owner IN (@owner, '*') FOR NO KEY UPDATE;

-- name: ImportedDocument :one
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name
FROM documents WHERE owner = @owner AND source_type = @source_type AND external_id = @external_id AND external_id <> '';

-- name: ReplaceImport :execrows
UPDATE documents SET status = 'processing', progress = 0, error = '', title = @title, format = @format, bytes = @bytes,
    source_url = @source_url, source_version = @source_version, name = @name
WHERE id = @id AND owner = @owner AND (status = 'failed' OR source_version <> @source_version);

-- name: DocumentProgress :execrows
UPDATE documents SET progress = @progress WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: RenameDocument :execrows
UPDATE documents SET title = @title WHERE id = @id AND owner = @owner;

-- name: FailDocument :execrows
UPDATE documents SET status = 'failed', error = @error WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: ListDocuments :many
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name
FROM documents
WHERE owner IN (@owner, '*')
    AND (created_at < @before_at::bigint OR (created_at = @before_at::bigint AND id < @before_id::text))
ORDER BY created_at DESC, id DESC LIMIT @max_rows::bigint;

-- name: VisibleDocuments :many
SELECT id, owner, title, status, name FROM documents WHERE owner IN (@owner, '*')
ORDER BY created_at DESC, id DESC LIMIT @max_rows::bigint;

-- name: DocumentsByID :many
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name
FROM documents WHERE id = ANY(@ids::text[]) AND owner IN (@owner, '*');

-- name: DeleteDocument :execrows
DELETE FROM documents WHERE id = @id AND owner = @owner;

-- name: DocumentText :one
SELECT t.text FROM documents d JOIN document_texts t ON t.doc_id = @id
WHERE d.id = @id AND d.owner IN (@owner, '*') AND d.status = 'ready';

-- name: PutDocumentText :exec
INSERT INTO document_texts (doc_id, text) VALUES (@doc_id, @text)
ON CONFLICT (doc_id) DO UPDATE SET text = excluded.text;

-- name: DeleteChunks :exec
DELETE FROM chunks WHERE doc_id = @doc_id;

-- name: InsertChunks :exec
INSERT INTO chunks (doc_id, ordinal, start_char, end_char, heading, text, pages, words, search, frequencies)
SELECT @doc_id, n.ordinal, n.start_char, n.end_char, n.heading, n.text, n.pages, n.words, s.search, palaver_frequencies(s.search)
FROM (SELECT unnest(@ordinals::bigint[]) AS ordinal, unnest(@starts::bigint[]) AS start_char, unnest(@ends::bigint[]) AS end_char,
        unnest(@headings::text[]) AS heading, unnest(@texts::text[]) AS text, unnest(@pages::text[]) AS pages, unnest(@words::bigint[]) AS words,
        unnest(@heading_terms::text[]) AS heading_terms, unnest(@text_terms::text[]) AS text_terms) n
CROSS JOIN LATERAL (SELECT setweight(to_tsvector('palaver', n.text_terms), 'A')
        || setweight(to_tsvector('palaver', n.heading_terms), 'B') AS search) s
ORDER BY n.ordinal;

-- name: InsertVectors :exec
INSERT INTO chunk_vectors (id, vector)
SELECT c.id, n.vector
FROM (SELECT unnest(@ordinals::bigint[]) AS ordinal, unnest(@vectors::bytea[]) AS vector) n
JOIN chunks c ON c.doc_id = @doc_id AND c.ordinal = n.ordinal
ON CONFLICT (id) DO UPDATE SET vector = excluded.vector;

-- name: DocumentsToEmbed :many
SELECT id, owner FROM documents
WHERE status = 'ready' AND chunks > 0 AND embedding <> @model AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);

-- name: EmbeddingProgress :one
SELECT count(*) AS total, count(*) FILTER (WHERE embedding = @model) AS done
FROM documents WHERE owner IN (@owner, '*') AND status = 'ready' AND chunks > 0;

-- name: SetEmbedding :execrows
UPDATE documents SET embedding = @model WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: PublishText :execrows
UPDATE documents SET status = 'ready', chunks = @chunks, words = @words, progress = 100, error = '', embedding = @model,
    title = CASE WHEN CAST(@own_title AS TEXT) <> '' AND title = name THEN CAST(@own_title AS TEXT) ELSE title END
WHERE id = @id AND owner = @owner;

-- name: ChunksByKey :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM (SELECT unnest(@doc_ids::text[]) AS doc_id, unnest(@ordinals::bigint[]) AS ordinal) k
JOIN documents d ON d.id = k.doc_id
JOIN chunks c ON c.doc_id = d.id AND c.ordinal = k.ordinal
WHERE d.owner IN (@owner, '*') AND d.status = 'ready';

-- name: DocumentChunks :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM documents d JOIN chunks c ON c.doc_id = @id
WHERE d.id = @id AND d.owner IN (@owner, '*') AND d.status = 'ready'
ORDER BY c.ordinal LIMIT @max_rows::bigint;

-- name: ChunksByInternalID :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM chunks c JOIN documents d ON d.id = c.doc_id
WHERE c.id = ANY(@ids::bigint[]) AND d.owner IN (@owner, '*') AND d.status = 'ready';

