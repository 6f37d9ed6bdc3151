-- name: AppendAudit :exec
INSERT INTO audit_log (at, kind, owner, channel, address, request_id, times, detail)
VALUES (@at, @kind, @owner, @channel, @address, @request_id, @times, @detail);

-- name: AuditEntries :many
SELECT id, at, kind, owner, channel, address, request_id, times, detail FROM audit_log
WHERE id > @after AND at >= @since
    AND (CAST(@owner AS TEXT) = '' OR owner = CAST(@owner AS TEXT)) AND (CAST(@kind AS TEXT) = '' OR kind = CAST(@kind AS TEXT))
ORDER BY id LIMIT CAST(@max_rows AS BIGINT);

-- name: PruneAudit :execrows
DELETE FROM audit_log WHERE id IN (
    SELECT a.id FROM audit_log a WHERE a.at < @before_at ORDER BY a.id LIMIT CAST(@max_rows AS BIGINT));

-- name: OldAudit :one
SELECT count(*) FROM audit_log a WHERE a.at < CAST(@before_at AS BIGINT);
