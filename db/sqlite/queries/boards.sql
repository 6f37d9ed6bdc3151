-- name: InsertBoard :execrows
INSERT INTO boards (id, owner, title, items, revision, bytes, created_at, updated_at, address, content)
VALUES (@id, @owner, @title, @items, 1, @bytes, @at, @at, @address, @content) ON CONFLICT DO NOTHING;

-- name: Board :one
SELECT id, owner, title, items, revision, created_at, updated_at, content FROM boards
WHERE id = @id AND owner = @owner AND deleted_at = 0;

-- name: BoardSize :one
SELECT bytes FROM boards WHERE id = @id AND owner = @owner AND deleted_at = 0;

-- name: PutBoard :execrows
UPDATE boards SET title = @title, items = @items, revision = revision + 1, bytes = @bytes, updated_at = @at, content = @content
WHERE id = @id AND owner = @owner AND deleted_at = 0 AND revision = @match;

-- name: ListBoards :many
SELECT id, owner, title, items, revision, created_at, updated_at FROM boards
WHERE owner = @owner AND deleted_at = 0 AND (updated_at < @before_at OR (updated_at = @before_at AND id < @before_id))
ORDER BY updated_at DESC, id DESC LIMIT CAST(@max_rows AS INTEGER);

-- name: DeleteBoard :execrows
UPDATE boards SET deleted_at = @at WHERE id = @id AND owner = @owner AND deleted_at = 0;

-- name: RestoreBoard :execrows
UPDATE boards SET deleted_at = 0 WHERE id = @id AND owner = @owner AND deleted_at > @after;

-- name: PruneBoards :exec
DELETE FROM boards WHERE deleted_at > 0 AND deleted_at <= @before;

-- Chats of boards that are deleted for good, and throw-away threads.

-- name: LeftThreads :many
SELECT c.owner, c.id FROM conversations c
WHERE c.kind <> '' AND c.id > @after_id
    AND (c.kind = 'once' AND c.last_message_at < @before_at OR c.kind = 'board' AND NOT EXISTS (
        SELECT 1 FROM boards b WHERE b.id = c.id AND (b.deleted_at = 0 OR b.deleted_at > @deleted_after)))
ORDER BY c.id LIMIT CAST(@max_rows AS INTEGER);
