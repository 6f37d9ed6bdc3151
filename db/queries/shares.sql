-- name: CountShares :one
SELECT count(*) FROM shares WHERE owner = @owner;

-- name: Shares :many
SELECT x.id, x.owner, x.thread_id, x.title, x.created_at, c.space_id FROM shares x JOIN conversations c ON c.id = x.thread_id
WHERE x.owner = @owner ORDER BY x.created_at, x.id;

-- This query takes no owner: whoever has the token may read the shared conversation.

-- name: ShareByDigest :one
SELECT x.id, x.owner, x.thread_id, x.title, x.created_at, x.content, c.space_id FROM shares x JOIN conversations c ON c.id = x.thread_id
WHERE x.digest = @digest;

-- name: DeleteShare :execrows
DELETE FROM shares WHERE owner = @owner AND thread_id = @thread_id AND id = @id;

-- name: CreateShare :execrows
INSERT INTO shares (id, owner, thread_id, digest, title, content, created_at)
SELECT CAST(@id AS TEXT), c.owner, c.id, CAST(@digest AS TEXT), CAST(@title AS TEXT), CAST(@content AS TEXT), CAST(@created_at AS BIGINT)
FROM conversations c WHERE c.id = @thread_id AND c.owner = @owner;
