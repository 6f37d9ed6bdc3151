-- name: PutConnection :exec
INSERT INTO connections (owner, provider, account, scope, token, version, created_at, updated_at)
VALUES (@owner, @provider, @account, @scope, @token, 1, @at, @at)
ON CONFLICT (owner, provider) DO UPDATE SET account = excluded.account, scope = excluded.scope, token = excluded.token,
    version = connections.version + 1, created_at = excluded.created_at, updated_at = excluded.updated_at;

-- name: Connection :one
SELECT * FROM connections WHERE owner = @owner AND provider = @provider;

-- name: Connections :many
SELECT * FROM connections WHERE owner = @owner ORDER BY provider;

-- name: RenewConnection :execrows
UPDATE connections SET token = @token, version = version + 1, updated_at = @at
WHERE owner = @owner AND provider = @provider AND version = @version;

-- name: DeleteConnection :execrows
DELETE FROM connections WHERE owner = @owner AND provider = @provider;

-- name: DeleteUserConnections :exec
DELETE FROM connections WHERE owner = @owner;

-- name: ConnectedOwners :many
SELECT DISTINCT owner FROM connections WHERE owner > @after_owner AND token <> ''
ORDER BY owner LIMIT CAST(@max_rows AS BIGINT);
