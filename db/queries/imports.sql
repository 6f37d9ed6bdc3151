-- name: AnnounceImport :exec
UPDATE imports SET announce = @announce WHERE id = @id AND owner = @owner;

-- name: CountOpenImports :one
SELECT count(*) FROM imports WHERE owner = @owner AND state NOT IN ('ready', 'failed');

-- name: DeleteUserImports :exec
DELETE FROM imports WHERE owner = @owner;

-- name: ClearImportsAddress :exec
UPDATE imports SET address = '' WHERE owner = @owner AND address <> '';

-- name: InsertImport :execrows
INSERT INTO imports (id, owner, thread_id, turn_id, key, source_type, external_id, resource_key, url, state, outcome, name, remote, doc_id, chunks, code, message, announce, address, created_at, updated_at)
VALUES (@id, @owner, nullif(CAST(@thread_id AS TEXT), ''), @turn_id, @key, @source_type, @external_id, @resource_key, @url, 'looking', '', '', '', '', 0, '', '', @announce,
    CASE WHEN CAST(@address AS TEXT) <> '' THEN CAST(@address AS TEXT) ELSE coalesce((SELECT c.address FROM conversations c WHERE c.id = CAST(@thread_id AS TEXT)), '') END,
    @at, @at)
ON CONFLICT (id) DO NOTHING;

-- name: ImportByID :one
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, CAST(coalesce(d.progress, 0) AS BIGINT) AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.id = @id AND i.owner = @owner;

-- name: OpenImports :many
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, CAST(coalesce(d.progress, 0) AS BIGINT) AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.owner = @owner AND i.key = @key AND i.state NOT IN ('ready', 'failed')
ORDER BY i.created_at, i.id;

-- Imports of one conversation, or of one turn, or all; without those whose document was deleted.

-- name: ListImports :many
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, CAST(coalesce(d.progress, 0) AS BIGINT) AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.owner = @owner AND (CAST(@thread_id AS TEXT) = '' OR i.thread_id = CAST(@thread_id AS TEXT)) AND (CAST(@turn_id AS TEXT) = '' OR i.turn_id = CAST(@turn_id AS TEXT))
    AND (i.state <> 'ready' OR d.id IS NOT NULL)
ORDER BY i.created_at DESC, i.id DESC LIMIT CAST(@max_rows AS BIGINT);

-- name: UpdateImport :exec
UPDATE imports SET state = @state, outcome = @outcome, chunks = @chunks, code = @code, message = @message, updated_at = @at,
    name = CASE WHEN CAST(@name AS TEXT) <> '' THEN CAST(@name AS TEXT) ELSE name END,
    remote = CASE WHEN CAST(@remote AS TEXT) <> '' THEN CAST(@remote AS TEXT) ELSE remote END,
    doc_id = CASE WHEN CAST(@doc_id AS TEXT) <> '' THEN CAST(@doc_id AS TEXT) ELSE doc_id END
WHERE id = @id AND owner = @owner AND state NOT IN ('ready', 'failed');
