-- name: AppendAudit :exec
INSERT INTO audit_log (at, kind, owner, channel, address, request_id, times, detail)
VALUES (@at, @kind, @owner, @channel, @address, @request_id, @times, @detail);

-- name: AuditEntries :many
SELECT id, at, kind, owner, channel, address, request_id, times, detail FROM audit_log
WHERE id > @after AND at >= @since
    AND (@owner::text = '' OR owner = @owner::text) AND (@kind::text = '' OR kind = @kind::text)
ORDER BY id LIMIT @max_rows::bigint;

-- name: PruneAudit :execrows
DELETE FROM audit_log WHERE id IN (
    SELECT a.id FROM audit_log a WHERE a.at < @before_at ORDER BY a.id LIMIT @max_rows::bigint);

-- name: OldAudit :one
SELECT count(*) FROM audit_log a WHERE a.at < @before_at::bigint;
