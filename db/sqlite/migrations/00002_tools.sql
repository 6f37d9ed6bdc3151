-- +goose Up
-- Pictures, the clients' own message repositories, tools that need not ask any
-- more, and counters of what callers do.

ALTER TABLE turns ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]'; -- JSON list of tools approved for good on the branch, as of this turn's end

CREATE TABLE attachments (
    id         TEXT PRIMARY KEY,
    owner      TEXT    NOT NULL,
    thread_id  TEXT REFERENCES conversations (id) ON DELETE CASCADE, -- NULL: no message uses it yet
    mime       TEXT    NOT NULL,
    bytes      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    data       BLOB    NOT NULL -- last, so that the rest is read without it
);
CREATE INDEX attachments_thread ON attachments (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX attachments_owner ON attachments (owner);
CREATE INDEX attachments_unused ON attachments (created_at) WHERE thread_id IS NULL;

CREATE TABLE repos (
    thread_id  TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    version    INTEGER NOT NULL, -- from 1
    sha256     TEXT    NOT NULL, -- of the JSON before compression
    updated_at INTEGER NOT NULL,
    gzipped    BLOB    NOT NULL
);

-- Keys are digests: no address stands here.
CREATE TABLE limits (
    key      TEXT PRIMARY KEY,
    count    INTEGER NOT NULL,
    begun_at INTEGER NOT NULL, -- when the window began
    reset_at INTEGER NOT NULL -- when the window is over
) WITHOUT ROWID;
CREATE INDEX limits_reset ON limits (reset_at);
