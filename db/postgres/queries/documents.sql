-- name: DocumentForChange :one
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name, named, other_names, pages, unread_pages
FROM documents WHERE id = @id AND owner IN (@owner, '*') FOR NO KEY UPDATE;

-- name: DocumentsByID :many
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name, named, other_names, pages, unread_pages
FROM documents WHERE id = ANY(@ids::text[]) AND owner IN (@owner, '*');

-- name: DocumentsTitled :many
SELECT id, owner, title, status, name, named, other_names, created_at
FROM documents WHERE title_folded = ANY(@titles::text[]) AND owner IN (@owner, '*');

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

-- name: EmbeddingProgress :one
SELECT count(*) AS total, count(*) FILTER (WHERE embedding = @model) AS done
FROM documents WHERE owner IN (@owner, '*') AND status = 'ready' AND chunks > 0;

-- name: PublishText :execrows
UPDATE documents SET status = 'ready', chunks = @chunks, words = @words, progress = 100, error = '', embedding = @model
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
