-- name: DocumentsByID :many
SELECT d.id, d.owner, d.title, d.status, d.source_type, d.external_id, d.bytes, d.chunks, d.progress, d.error, d.created_at, d.format, d.source_url, d.source_version, d.name, d.named, d.other_names, d.pages, d.unread_pages, d.language, d.thread_id, d.added_by, d.deleted_at,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (o.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR o.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM json_each(CAST(@ids AS TEXT)) j CROSS JOIN documents d ON d.id = j.value WHERE d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w));

-- name: DocumentsTitled :many
SELECT d.id, d.owner, d.title, d.status, d.name, d.named, d.other_names, d.created_at, d.language, d.format, d.source_url, d.chunks, d.unread_pages
FROM json_each(CAST(@titles AS TEXT)) j CROSS JOIN documents d ON d.title_folded = j.value AND d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w));

-- name: DocumentText :one
SELECT e.text FROM documents d JOIN editions e ON e.id = d.edition
WHERE d.id = @id AND d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND d.status = 'ready';

-- name: InsertEdition :one
INSERT INTO editions (doc_id, text) VALUES (@doc_id, @text) RETURNING id;

-- name: DeleteOtherEditions :exec
DELETE FROM editions WHERE doc_id = @doc_id AND id <> (SELECT d.edition FROM documents d WHERE d.id = @doc_id);

-- name: InsertChunk :exec
INSERT INTO chunks (id, edition, start_char, end_char, heading, text, pages)
VALUES (@id, @edition, @start_char, @end_char, @heading, @text, @pages);

-- name: InsertVector :exec
INSERT INTO chunk_vectors (id, vector) VALUES (@id, @vector) ON CONFLICT (id) DO UPDATE SET vector = excluded.vector;

-- name: EmbeddingProgress :one
SELECT count(*) AS total, CAST(coalesce(sum(embedding = @model), 0) AS INTEGER) AS done
FROM documents WHERE owner IN (@owner, '*') AND status = 'ready' AND chunks > 0;

-- name: IndexProgress :one
SELECT count(*) AS total, CAST(coalesce(sum(terms_version = @terms_version), 0) AS INTEGER) AS done
FROM documents WHERE status = 'ready' AND chunks > 0;

-- name: EditionChunks :many
SELECT c.id, c.text, c.heading FROM documents d JOIN chunks c ON c.edition = d.edition
WHERE d.id = @id AND d.owner = @owner AND d.status = 'ready' AND c.id > @after_id ORDER BY c.id LIMIT CAST(@max_rows AS INTEGER);

-- name: ReadyEdition :one
SELECT edition FROM documents WHERE id = @id AND owner = @owner AND status = 'ready' AND chunks = @chunks;

-- name: PublishEdition :execrows
UPDATE documents SET edition = @edition, status = 'ready', chunks = @chunks, words = @words, progress = 100, error = '', embedding = @model,
    terms_version = @terms_version
WHERE documents.id = @id AND owner = @owner AND EXISTS (SELECT 1 FROM editions e WHERE e.id = @edition);

-- name: ChunksByKey :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (o.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR o.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM json_each(CAST(@keys AS TEXT)) j
JOIN documents d ON d.id = json_extract(j.value, '$[0]')
JOIN chunks c ON c.id = (d.edition << 20) + json_extract(j.value, '$[1]')
WHERE d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND d.status = 'ready' AND c.edition = d.edition;

-- name: DocumentChunks :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (o.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR o.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM documents d JOIN chunks c ON c.edition = d.edition
WHERE d.id = @id AND d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND d.status = 'ready'
ORDER BY c.id LIMIT CAST(@max_rows AS INTEGER);

-- name: ChunksByInternalID :many
SELECT d.id AS doc_id, d.title, CAST(c.id - (d.edition << 20) AS INTEGER) AS ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, d.owner, d.language,
    CAST(EXISTS (SELECT 1 FROM documents o WHERE o.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (o.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR o.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND o.title_folded = d.title_folded AND o.id <> d.id) AS BOOLEAN) AS twin
FROM json_each(CAST(@ids AS TEXT)) j
JOIN chunks c ON c.id = j.value
JOIN editions e ON e.id = c.edition
JOIN documents d ON d.id = e.doc_id
WHERE d.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR d.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND d.status = 'ready' AND d.edition = e.id;

-- name: VisibleDocuments :many
SELECT id, owner, title, status, name, named, other_names, created_at, language, format, source_url, chunks, unread_pages FROM documents
WHERE documents.owner IN (SELECT w.value FROM json_each(CAST(@owners AS TEXT)) w) AND (documents.owner NOT IN (SELECT w.value FROM json_each(CAST(@authors AS TEXT)) w) OR documents.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w)) AND (documents.owner <> '*' OR NOT EXISTS (SELECT 1 FROM profiles p WHERE p.owner = @owner AND p.hide_samples))
    AND (documents.thread_id = '' OR documents.thread_id IN (SELECT w.value FROM json_each(CAST(@threads AS TEXT)) w))
ORDER BY created_at DESC, id DESC LIMIT CAST(@max_rows AS BIGINT);
