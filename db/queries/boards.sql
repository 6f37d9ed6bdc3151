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

-- name: DeleteBoard :execrows
UPDATE boards SET deleted_at = @at WHERE id = @id AND owner = @owner AND deleted_at = 0;

-- name: RestoreBoard :execrows
UPDATE boards SET deleted_at = 0 WHERE id = @id AND owner = @owner AND deleted_at > @after;

-- name: PruneBoards :exec
DELETE FROM boards WHERE deleted_at > 0 AND deleted_at <= @before;

-- name: ListBoards :many
SELECT id, owner, title, items, revision, created_at, updated_at FROM boards
WHERE owner = @owner AND deleted_at = 0 AND (updated_at < CAST(@before_at AS BIGINT) OR (updated_at = CAST(@before_at AS BIGINT) AND id < CAST(@before_id AS TEXT)))
ORDER BY updated_at DESC, id DESC LIMIT CAST(@max_rows AS BIGINT);
