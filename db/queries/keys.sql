-- name: CreateAccessKey :exec
INSERT INTO access_keys (id, owner, name, digest, anonymous, created_at, used_at, expires_at)
VALUES (@id, @owner, @name, @digest, @anonymous, @created_at, 0, @expires_at);

-- name: AccessKeys :many
SELECT * FROM access_keys WHERE owner = @owner ORDER BY created_at, id;

-- This query takes no owner: it finds the owner of a key.

-- name: AccessKeyByDigest :one
SELECT * FROM access_keys WHERE digest = @digest;

-- name: UseAccessKey :exec
UPDATE access_keys SET used_at = @used_at WHERE owner = @owner AND id = @id AND used_at < @used_at;

-- name: DeleteAccessKey :execrows
DELETE FROM access_keys WHERE owner = @owner AND id = @id;

-- name: DeleteUserAccessKeys :exec
DELETE FROM access_keys WHERE owner = @owner;
