-- name: DocumentForChange :one
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (@owner, '*') AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM documents d WHERE d.id = @id AND d.owner IN (@owner, '*') FOR NO KEY UPDATE;

-- How many documents have the title is counted, because the planner reads the whole table for EXISTS
-- with a list of owners.

-- name: DocumentsByID :many
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST((SELECT count(*) FROM documents o WHERE o.owner = ANY(@owners::text[]) AND (o.owner <> ALL(@authors::text[]) OR o.thread_id = ANY(@threads::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0 AS BOOLEAN) AS twin
FROM documents d WHERE d.id = ANY(@ids::text[]) AND d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[]));

-- name: DocumentsTitled :many
SELECT id, owner, title, status, name, named, other_names, created_at, language, format, source_url, chunks, unread_pages
FROM documents WHERE title_folded = ANY(@titles::text[]) AND owner = ANY(@owners::text[]) AND (owner <> ALL(@authors::text[]) OR thread_id = ANY(@threads::text[]));

-- name: DocumentText :one
SELECT t.text FROM documents d JOIN document_texts t ON t.doc_id = @id
WHERE d.id = @id AND d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[])) AND d.status = 'ready';

-- name: PutDocumentText :exec
INSERT INTO document_texts (doc_id, text) VALUES (@doc_id, @text)
ON CONFLICT (doc_id) DO UPDATE SET text = excluded.text;

-- name: DeleteChunks :exec
DELETE FROM chunks WHERE doc_id = @doc_id;

-- name: InsertChunks :exec
INSERT INTO chunks (doc_id, ordinal, start_char, end_char, heading, text, pages, words, search, frequencies)
SELECT @doc_id, n.ordinal, n.start_char, n.end_char, n.heading, n.text, n.pages, n.words,
    array_to_tsvector(ARRAY(SELECT jsonb_object_keys(n.frequencies))), n.frequencies
FROM (SELECT unnest(@ordinals::bigint[]) AS ordinal, unnest(@starts::bigint[]) AS start_char, unnest(@ends::bigint[]) AS end_char,
        unnest(@headings::text[]) AS heading, unnest(@texts::text[]) AS text, unnest(@pages::text[]) AS pages, unnest(@words::bigint[]) AS words,
        unnest(@frequencies::text[])::jsonb AS frequencies) n
ORDER BY n.ordinal;

-- name: IndexChunks :exec
UPDATE chunks c SET words = n.words, search = array_to_tsvector(ARRAY(SELECT jsonb_object_keys(n.frequencies))), frequencies = n.frequencies
FROM (SELECT unnest(@ordinals::bigint[]) AS ordinal, unnest(@words::bigint[]) AS words, unnest(@frequencies::text[])::jsonb AS frequencies) n
WHERE c.doc_id = @doc_id AND c.ordinal = n.ordinal;

-- name: InsertVectors :exec
INSERT INTO chunk_vectors (id, vector)
SELECT c.id, n.vector
FROM (SELECT unnest(@ordinals::bigint[]) AS ordinal, unnest(@vectors::bytea[]) AS vector) n
JOIN chunks c ON c.doc_id = @doc_id AND c.ordinal = n.ordinal
ON CONFLICT (id) DO UPDATE SET vector = excluded.vector;

-- name: EmbeddingProgress :one
SELECT count(*) AS total, count(*) FILTER (WHERE embedding = @model) AS done
FROM documents WHERE owner IN (@owner, '*') AND status = 'ready' AND chunks > 0;

-- name: IndexProgress :one
SELECT count(*) AS total, count(*) FILTER (WHERE terms_version = @terms_version) AS done
FROM documents WHERE status = 'ready' AND chunks > 0;

-- name: PublishText :execrows
UPDATE documents SET status = 'ready', chunks = @chunks, words = @words, progress = 100, error = '', embedding = @model,
    terms_version = @terms_version
WHERE id = @id AND owner = @owner;

-- name: ChunksByKey :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST((SELECT count(*) FROM documents o WHERE o.owner = ANY(@owners::text[]) AND (o.owner <> ALL(@authors::text[]) OR o.thread_id = ANY(@threads::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0 AS BOOLEAN) AS twin
FROM (SELECT unnest(@doc_ids::text[]) AS doc_id, unnest(@ordinals::bigint[]) AS ordinal) k
JOIN documents d ON d.id = k.doc_id
JOIN chunks c ON c.doc_id = d.id AND c.ordinal = k.ordinal
WHERE d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[])) AND d.status = 'ready';

-- name: DocumentChunks :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST((SELECT count(*) FROM documents o WHERE o.owner = ANY(@owners::text[]) AND (o.owner <> ALL(@authors::text[]) OR o.thread_id = ANY(@threads::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0 AS BOOLEAN) AS twin
FROM documents d JOIN chunks c ON c.doc_id = @id
WHERE d.id = @id AND d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[])) AND d.status = 'ready'
ORDER BY c.ordinal LIMIT @max_rows::bigint;

-- name: ChunksByInternalID :many
SELECT d.id AS doc_id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST((SELECT count(*) FROM documents o WHERE o.owner = ANY(@owners::text[]) AND (o.owner <> ALL(@authors::text[]) OR o.thread_id = ANY(@threads::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0 AS BOOLEAN) AS twin
FROM chunks c JOIN documents d ON d.id = c.doc_id
WHERE c.id = ANY(@ids::bigint[]) AND d.owner = ANY(@owners::text[]) AND (d.owner <> ALL(@authors::text[]) OR d.thread_id = ANY(@threads::text[])) AND d.status = 'ready';

-- name: VisibleDocuments :many
SELECT id, owner, title, status, name, named, other_names, created_at, language, format, source_url, chunks, unread_pages FROM documents
WHERE documents.owner = ANY(@owners::text[]) AND (documents.owner <> ALL(@authors::text[]) OR documents.thread_id = ANY(@threads::text[])) AND (documents.owner <> '*' OR NOT EXISTS (SELECT 1 FROM profiles p WHERE p.owner = @owner AND p.hide_samples))
    AND (documents.thread_id = '' OR documents.thread_id = ANY(@threads::text[]))
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS BIGINT);
