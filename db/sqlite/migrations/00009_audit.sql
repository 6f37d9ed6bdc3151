-- +goose Up
-- What those who answer for an installation may be asked about. Rows are only added.

CREATE TABLE audit_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    owner      TEXT    NOT NULL, -- whom it is about; '' when not known
    channel    TEXT    NOT NULL, -- how it came: page, api, mcp, signal, command; '' when not known
    address    TEXT    NOT NULL, -- of the client; '' when not known
    request_id TEXT    NOT NULL,
    times      INTEGER NOT NULL, -- how often, for what is counted
    detail     TEXT    NOT NULL  -- JSON object of names, ids and numbers
);
CREATE INDEX audit_log_owner ON audit_log (owner, id) WHERE owner <> '';

-- +goose StatementBegin
CREATE TRIGGER audit_log_updated BEFORE UPDATE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_log_deleted BEFORE DELETE ON audit_log BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
