-- +goose Up
-- Entries older than 30 days (db.AuditKept) may be removed: AUDIT_RETENTION.

DROP TRIGGER audit_log_append_only ON audit_log;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION palaver_append_only();
CREATE TRIGGER audit_log_deleted BEFORE DELETE ON audit_log
    FOR EACH ROW WHEN (OLD.at > (extract(epoch FROM now())::bigint - 2592000) * 1000000)
    EXECUTE FUNCTION palaver_append_only();
