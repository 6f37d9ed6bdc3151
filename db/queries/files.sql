-- name: Attachment :one
SELECT id, owner, coalesce(thread_id, '') AS thread_id, mime, bytes, space_id FROM attachments WHERE id = @id AND owner = @owner;

-- name: AttachmentData :one
SELECT data FROM attachments WHERE id = @id AND owner = @owner;

-- The owner of a picture in a conversation that is shared with a space, or of a message there that
-- the reader has copied. The caller has checked that the reader reads the space.

-- name: AttachmentInSpace :one
SELECT a.owner FROM attachments a LEFT JOIN conversations c ON c.id = a.thread_id
WHERE a.id = @id AND (c.space_id = @space_id AND c.space_id <> '' AND c.shared
    OR EXISTS (SELECT 1 FROM turns t WHERE t.author = a.owner AND t.author <> '' AND t.owner = @reader AND t.space_id = @space_id
        AND t.content LIKE '%"' || a.id || '"%'));

-- name: PruneAttachments :exec
DELETE FROM attachments WHERE thread_id IS NULL AND created_at < @older_than;

-- name: Repo :one
SELECT r.version, r.sha256, r.updated_at, r.gzipped, c.scope FROM repos r JOIN conversations c ON c.id = r.thread_id
WHERE r.thread_id = @thread_id AND r.owner = @owner;

-- name: DropRepo :exec
DELETE FROM repos WHERE thread_id = @thread_id AND owner = @owner;

-- name: PutRepo :exec
INSERT INTO repos (thread_id, owner, version, sha256, updated_at, gzipped, bytes, address)
VALUES (@thread_id, @owner, @version, @sha256, @at, @gzipped, @bytes, @address)
ON CONFLICT (thread_id) DO UPDATE SET version = excluded.version, sha256 = excluded.sha256,
    updated_at = excluded.updated_at, gzipped = excluded.gzipped, bytes = excluded.bytes, address = excluded.address;

-- name: InsertAttachment :execrows
INSERT INTO attachments (id, owner, thread_id, mime, bytes, created_at, data, address, space_id)
VALUES (@id, @owner, nullif(CAST(@thread_id AS TEXT), ''), @mime, @bytes, @at, @data, @address, @space_id) ON CONFLICT DO NOTHING;

-- name: UnusedAttachments :one
SELECT count(*) AS number, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM attachments
WHERE owner = @owner AND thread_id IS NULL;

-- name: RepoVersion :one
SELECT CAST(coalesce(max(version), 0) AS BIGINT) AS version FROM repos WHERE thread_id = @thread_id AND owner = @owner;
