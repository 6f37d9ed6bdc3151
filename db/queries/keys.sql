-- name: CreateAccessKey :exec
INSERT INTO access_keys (id, owner, name, digest, anonymous, created_at, used_at, expires_at, space_id)
VALUES (@id, @owner, @name, @digest, @anonymous, @created_at, 0, @expires_at, @space_id);

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

-- Revokes the keys of a space, or of a person, whose owners do not read their space any more.

-- name: RevokeLeftKeys :exec
DELETE FROM access_keys WHERE id IN (SELECT k.id FROM access_keys k
    WHERE k.space_id <> '' AND (k.space_id = @space_id OR k.owner = @owner)
    AND NOT EXISTS (SELECT 1 FROM space_members m WHERE m.space_id = k.space_id
        AND (m.kind = 'person' AND m.member = k.owner
            OR m.kind = 'group' AND EXISTS (SELECT 1 FROM person_groups g WHERE g.owner = k.owner AND g.name = m.member AND g.until > @now))));
