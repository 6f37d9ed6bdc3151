-- name: OpenImportsForChange :many
SELECT id FROM imports WHERE owner = @owner AND key = @key AND state NOT IN ('ready', 'failed');
