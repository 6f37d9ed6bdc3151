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
WHERE owner IN (@owner, '*') AND (created_at < @before_at OR (created_at = @before_at AND id < @before_id))
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS INTEGER);

-- name: VisibleDocuments :many
SELECT id, owner, title, status, name FROM documents WHERE owner IN (@owner, '*')
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS INTEGER);

-- name: DocumentsByID :many
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name
FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN documents d ON d.id = j.value WHERE d.owner IN (@owner, '*');

-- name: DeleteDocument :execrows
DELETE FROM documents WHERE id = @id AND owner = @owner;

-- name: DocumentText :one
SELECT e.text FROM documents d JOIN editions e ON e.id = d.edition
WHERE d.id = @id AND d.owner IN (@owner, '*') AND d.status = 'ready';

-- name: InsertEdition :one
INSERT INTO editions (doc_id, text) VALUES (@doc_id, @text) RETURNING id;

-- name: DeleteOtherEditions :exec
DELETE FROM editions WHERE doc_id = @doc_id AND id <> (SELECT d.edition FROM documents d WHERE d.id = @doc_id);

-- name: InsertChunk :exec
INSERT INTO chunks (id, edition, start_char, end_char, heading, text, pages)
VALUES (@id, @edition, @start_char, @end_char, @heading, @text, @pages);

-- name: InsertVector :exec
INSERT INTO chunk_vectors (id, vector) VALUES (@id, @vector) ON CONFLICT (id) DO UPDATE SET vector = excluded.vector;

-- name: DocumentsToEmbed :many
SELECT id, owner FROM documents
WHERE status = 'ready' AND chunks > 0 AND embedding <> @model AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS INTEGER);

-- name: EmbeddingProgress :one
SELECT count(*) AS total, CAST(coalesce(sum(embedding = @model), 0) AS INTEGER) AS done
FROM documents WHERE owner IN (@owner, '*') AND status = 'ready' AND chunks > 0;

-- name: SetEmbedding :execrows
UPDATE documents SET embedding = @model WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: ReadyEdition :one
SELECT edition FROM documents WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: PublishEdition :execrows
UPDATE documents SET edition = @edition, status = 'ready', chunks = @chunks, words = @words, progress = 100, error = '', embedding = @model,
    title = CASE WHEN CAST(@own_title AS TEXT) <> '' AND title = name THEN CAST(@own_title AS TEXT) ELSE title END
WHERE documents.id = @id AND owner = @owner AND EXISTS (SELECT 1 FROM editions e WHERE e.id = @edition);

-- name: ChunksByKey :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM json_each(CAST(@keys AS TEXT)) j
JOIN documents d ON d.id = json_extract(j.value, '$[0]')
JOIN chunks c ON c.id = (d.edition << 20) + json_extract(j.value, '$[1]')
WHERE d.owner IN (@owner, '*') AND d.status = 'ready' AND c.edition = d.edition;

-- name: DocumentChunks :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM documents d JOIN chunks c ON c.edition = d.edition
WHERE d.id = @id AND d.owner IN (@owner, '*') AND d.status = 'ready'
ORDER BY c.id LIMIT CAST(@max_rows AS INTEGER);

-- name: VisibleChunks :one
SELECT CAST(coalesce(sum(chunks), 0) AS INTEGER) FROM documents WHERE owner IN (@owner, '*') AND status = 'ready';

-- name: ChunksByInternalID :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages
FROM json_each(CAST(@ids AS TEXT)) j
JOIN chunks c ON c.id = j.value
JOIN editions e ON e.id = c.edition
JOIN documents d ON d.id = e.doc_id
WHERE d.owner IN (@owner, '*') AND d.status = 'ready' AND d.edition = e.id;
