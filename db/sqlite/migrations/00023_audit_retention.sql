-- +goose Up
-- Entries older than 30 days (db.AuditKept) may be removed: AUDIT_RETENTION.

DROP TRIGGER audit_log_deleted;
-- +goose StatementBegin
CREATE TRIGGER audit_log_deleted BEFORE DELETE ON audit_log
WHEN OLD.at > (CAST(strftime('%s', 'now') AS INTEGER) - 2592000) * 1000000 BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only for 30 days');
END;
-- +goose StatementEnd
