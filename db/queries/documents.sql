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
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name, named, other_names, pages, unread_pages
FROM documents WHERE id = @id AND owner IN (@owner, '*');

-- name: ImportedDocument :one
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name, named, other_names, pages, unread_pages
FROM documents WHERE owner = @owner AND source_type = @source_type AND external_id = @external_id AND external_id <> '';

-- name: ReplaceImport :execrows
UPDATE documents SET status = 'processing', progress = 0, pages = 0, unread_pages = 0, error = '', format = @format, bytes = @bytes,
    source_url = @source_url, source_version = @source_version, name = @name
WHERE id = @id AND owner = @owner AND (status = 'failed' OR source_version <> @source_version);

-- name: DocumentProgress :execrows
UPDATE documents SET progress = @progress WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: SetDocumentPages :execrows
UPDATE documents SET pages = @pages, unread_pages = @unread_pages WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: NameDocument :execrows
UPDATE documents SET title = @title, title_folded = @title_folded, named = @named, other_names = @other_names, title_words = @title_words, other_words = @other_words
WHERE id = @id AND owner = @owner;

-- name: FailDocument :execrows
UPDATE documents SET status = 'failed', error = @error WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: DeleteDocument :execrows
DELETE FROM documents WHERE id = @id AND owner = @owner;

-- name: SetEmbedding :execrows
UPDATE documents SET embedding = @model WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: ListDocuments :many
SELECT id, owner, title, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, name, named, other_names, pages, unread_pages
FROM documents
WHERE owner IN (@owner, '*')
    AND (created_at < CAST(@before_at AS BIGINT) OR (created_at = CAST(@before_at AS BIGINT) AND id < CAST(@before_id AS TEXT)))
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: VisibleDocuments :many
SELECT id, owner, title, status, name, named, other_names, created_at FROM documents WHERE owner IN (@owner, '*')
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: DocumentsToEmbed :many
SELECT id, owner FROM documents
WHERE status = 'ready' AND chunks > 0 AND embedding <> @model AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);
