-- name: InsertDocument :execrows
INSERT INTO documents (id, owner, title, status, source_type, external_id, bytes, created_at, format, source_url, source_version, address, name, thread_id, added_by)
VALUES (@id, @owner, @title, 'processing', @source_type, @external_id, @bytes, @created_at, @format, @source_url, @source_version, @address, @name, @thread_id, @added_by)
ON CONFLICT DO NOTHING;

-- name: InsertRaw :exec
INSERT INTO raw_documents (doc_id, raw) VALUES (@doc_id, @raw);

-- name: DocumentAddress :one
SELECT address FROM documents WHERE owner = @owner AND id = @id;

-- name: Raw :one
SELECT r.raw FROM raw_documents r JOIN documents d ON d.id = r.doc_id
WHERE r.doc_id = @doc_id AND d.owner IN (@owner, '*') AND d.status = 'processing';

-- name: Original :one
SELECT r.raw FROM raw_documents r JOIN documents d ON d.id = r.doc_id
WHERE r.doc_id = @doc_id AND d.owner IN (@owner, @author, '*') AND (d.owner <> @author OR d.thread_id = @thread_id) AND d.status = 'ready';

-- name: DeleteRaw :exec
DELETE FROM raw_documents WHERE doc_id = @doc_id;

-- name: PutScan :execrows
INSERT INTO scans (doc_id, page, text)
SELECT d.id, CAST(@page AS BIGINT), CAST(@text AS TEXT) FROM documents d
WHERE d.id = @doc_id AND d.owner = @owner AND d.source_version = @version AND d.status = 'processing'
ON CONFLICT DO NOTHING;

-- name: Scans :many
SELECT s.page, s.text FROM scans s JOIN documents d ON d.id = s.doc_id
WHERE s.doc_id = @doc_id AND d.owner = @owner AND d.source_version = @version ORDER BY s.page;

-- name: DeleteScans :exec
DELETE FROM scans WHERE doc_id = @doc_id;

-- name: Document :one
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM documents d WHERE d.id = @id AND d.owner IN (@owner, '*');

-- name: ImportedDocument :one
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM documents d WHERE d.owner = @owner AND d.source_type = @source_type AND d.external_id = @external_id AND d.external_id <> '';

-- name: ReplaceImport :execrows
UPDATE documents SET status = 'processing', progress = 0, pages = 0, unread_pages = 0, error = '', format = @format, bytes = @bytes,
    source_url = @source_url, source_version = @source_version, name = @name
WHERE id = @id AND owner = @owner AND (status = 'failed' OR source_version <> @source_version);

-- name: DocumentProgress :execrows
UPDATE documents SET progress = @progress WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: SetDocumentPages :execrows
UPDATE documents SET pages = @pages, unread_pages = @unread_pages WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: NameDocument :execrows
UPDATE documents SET title = @title, title_folded = @title_folded, named = @named, other_names = @other_names, title_words = @title_words, other_words = @other_words, language = @language
WHERE id = @id AND owner = @owner;

-- name: FailDocument :execrows
UPDATE documents SET status = 'failed', error = @error WHERE id = @id AND owner = @owner AND status = 'processing';

-- name: DeleteDocument :execrows
DELETE FROM documents WHERE id = @id AND owner = @owner;

-- name: MoveDocument :execrows
UPDATE documents SET thread_id = @thread_id WHERE id = @id AND owner = @owner;

-- name: DeleteThreadDocuments :exec
DELETE FROM documents WHERE thread_id = @thread_id AND owner = @owner AND thread_id <> '';

-- Deletes what belongs to a conversation that no message has begun.

-- name: PruneThreadDocuments :exec
DELETE FROM documents
WHERE documents.thread_id <> '' AND documents.created_at < @older_than AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = documents.thread_id);

-- name: SetEmbedding :execrows
UPDATE documents SET embedding = @model WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: ListDocuments :many
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM documents d
WHERE d.owner IN (@owner, '*') AND (d.owner <> '*' OR NOT EXISTS (SELECT 1 FROM profiles p WHERE p.owner = @owner AND p.hide_samples))
    AND d.thread_id = @thread_id
    AND (d.created_at < CAST(@before_at AS BIGINT) OR (d.created_at = CAST(@before_at AS BIGINT) AND d.id < CAST(@before_id AS TEXT)))
ORDER BY d.created_at DESC, d.id DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: DocumentsToEmbed :many
SELECT id, owner FROM documents
WHERE status = 'ready' AND chunks > 0 AND embedding <> @model AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);

-- name: DocumentsToIndex :many
SELECT id, owner FROM documents
WHERE status = 'ready' AND chunks > 0 AND terms_version <> @terms_version AND id > @after_id
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);

-- name: SetIndexed :execrows
UPDATE documents SET words = @words, terms_version = @terms_version
WHERE id = @id AND owner = @owner AND status = 'ready';
