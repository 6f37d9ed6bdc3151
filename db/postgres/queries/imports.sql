-- name: InsertImport :execrows
INSERT INTO imports (id, owner, thread_id, turn_id, key, source_type, external_id, resource_key, url, state, outcome, name, remote, doc_id, chunks, code, message, announce, address, created_at, updated_at)
VALUES (@id, @owner, nullif(@thread_id::text, ''), @turn_id, @key, @source_type, @external_id, @resource_key, @url, 'looking', '', '', '', '', 0, '', '', @announce,
    CASE WHEN @address::text <> '' THEN @address::text ELSE coalesce((SELECT c.address FROM conversations c WHERE c.id = @thread_id::text), '') END,
    @at, @at)
ON CONFLICT (id) DO NOTHING;

-- name: ImportByID :one
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, coalesce(d.progress, 0)::bigint AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.id = @id AND i.owner = @owner;

-- name: OpenImports :many
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, coalesce(d.progress, 0)::bigint AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.owner = @owner AND i.key = @key AND i.state NOT IN ('ready', 'failed')
ORDER BY i.created_at, i.id;

-- Imports of one conversation, or of one turn, or all; without those whose document was deleted.

-- name: ListImports :many
SELECT i.id, i.owner, coalesce(i.thread_id, '') AS thread_id, i.turn_id, i.key, i.source_type, i.external_id, i.resource_key, i.url, i.state, i.outcome, i.name,
    i.remote, i.doc_id, i.chunks, i.code, i.message, i.announce, i.address, i.created_at, i.updated_at, coalesce(d.title, '') AS title, coalesce(d.progress, 0)::bigint AS progress
FROM imports i LEFT JOIN documents d ON d.id = i.doc_id AND d.owner = i.owner
WHERE i.owner = @owner AND (@thread_id::text = '' OR i.thread_id = @thread_id::text) AND (@turn_id::text = '' OR i.turn_id = @turn_id::text)
    AND (i.state <> 'ready' OR d.id IS NOT NULL)
ORDER BY i.created_at DESC, i.id DESC LIMIT @max_rows::bigint;

-- name: UpdateImport :exec
UPDATE imports SET state = @state, outcome = @outcome, chunks = @chunks, code = @code, message = @message, updated_at = @at,
    name = CASE WHEN @name::text <> '' THEN @name::text ELSE name END,
    remote = CASE WHEN @remote::text <> '' THEN @remote::text ELSE remote END,
    doc_id = CASE WHEN @doc_id::text <> '' THEN @doc_id::text ELSE doc_id END
WHERE id = @id AND owner = @owner AND state NOT IN ('ready', 'failed');

-- name: AnnounceImport :exec
UPDATE imports SET announce = @announce WHERE id = @id AND owner = @owner;

-- name: OpenImportsForChange :many
SELECT id FROM imports WHERE owner = @owner AND key = @key AND state NOT IN ('ready', 'failed') FOR KEY SHARE;

-- name: CountOpenImports :one
SELECT count(*) FROM imports WHERE owner = @owner AND state NOT IN ('ready', 'failed');

-- name: DeleteUserImports :exec
DELETE FROM imports WHERE owner = @owner;

-- name: ClearImportsAddress :exec
UPDATE imports SET address = '' WHERE owner = @owner AND address <> '';
