-- name: CountShares :one
SELECT count(*) FROM shares WHERE owner = @owner;

-- name: Shares :many
SELECT id, owner, thread_id, title, created_at FROM shares WHERE owner = @owner ORDER BY created_at, id;

-- This query takes no owner: whoever has the token may read the shared conversation.

-- name: ShareByDigest :one
SELECT id, owner, thread_id, title, created_at, content FROM shares WHERE digest = @digest;

-- name: DeleteShare :execrows
DELETE FROM shares WHERE owner = @owner AND thread_id = @thread_id AND id = @id;

-- name: CreateShare :execrows
INSERT INTO shares (id, owner, thread_id, digest, title, content, created_at)
SELECT CAST(@id AS TEXT), c.owner, c.id, CAST(@digest AS TEXT), CAST(@title AS TEXT), CAST(@content AS TEXT), CAST(@created_at AS BIGINT)
FROM conversations c WHERE c.id = @thread_id AND c.owner = @owner;
