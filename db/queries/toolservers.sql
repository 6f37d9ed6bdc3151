-- name: PutToolServer :exec
INSERT INTO tool_servers (name, report, at) VALUES (@name, @report, @at)
ON CONFLICT (name) DO UPDATE SET report = excluded.report, at = excluded.at;

-- name: ToolServers :many
SELECT * FROM tool_servers WHERE at > @since ORDER BY name;
