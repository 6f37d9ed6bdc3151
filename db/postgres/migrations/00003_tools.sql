-- +goose Up
-- Pictures, the clients' own message repositories, tools that need not ask any
-- more, and counters of what callers do.

ALTER TABLE turns ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]'; -- JSON list of tools approved for good on the branch, as of this turn's end
CREATE INDEX turns_owner_open ON turns (owner) WHERE settled_at = 0;

CREATE TABLE attachments (
    id         TEXT PRIMARY KEY,
    owner      TEXT   NOT NULL,
    thread_id  TEXT REFERENCES conversations (id) ON DELETE CASCADE, -- NULL: no message uses it yet
    mime       TEXT   NOT NULL,
    bytes      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    data       BYTEA  NOT NULL
);
ALTER TABLE attachments ALTER COLUMN data SET STORAGE EXTERNAL; -- pictures are compressed already
CREATE INDEX attachments_thread ON attachments (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX attachments_owner ON attachments (owner);
CREATE INDEX attachments_unused ON attachments (created_at) WHERE thread_id IS NULL;

CREATE TABLE repos (
    thread_id  TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner      TEXT   NOT NULL,
    version    BIGINT NOT NULL, -- from 1
    sha256     TEXT   NOT NULL, -- of the JSON before compression
    updated_at BIGINT NOT NULL,
    gzipped    BYTEA  NOT NULL
);
ALTER TABLE repos ALTER COLUMN gzipped SET STORAGE EXTERNAL;

-- Keys are digests: no address stands here.
CREATE TABLE limits (
    key      TEXT PRIMARY KEY,
    count    BIGINT NOT NULL,
    begun_at BIGINT NOT NULL, -- when the window began
    reset_at BIGINT NOT NULL -- when the window is over
);
CREATE INDEX limits_reset ON limits (reset_at);

ALTER TABLE attachments ENABLE ROW LEVEL SECURITY;
ALTER TABLE repos       ENABLE ROW LEVEL SECURITY;
ALTER TABLE limits      ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON attachments FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON repos       FOR SELECT USING (owner = (SELECT palaver_subject()));
