-- +goose Up
-- What is stored without an account is counted by address; what an owner's turns
-- have used is counted by day.

-- The rate-limit key of the address, a digest; '': the owner has an account.
ALTER TABLE conversations ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE turns         ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE documents     ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE document_sets ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE attachments   ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE repos         ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE repos         ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of gzipped
UPDATE repos SET bytes = length(gzipped);

-- Counts and sums are read from these indexes alone.
CREATE INDEX conversations_owner ON conversations (owner);
CREATE INDEX conversations_address ON conversations (address) WHERE address <> '';
CREATE INDEX documents_stored ON documents (owner, bytes);
CREATE INDEX documents_address ON documents (address, bytes) WHERE address <> '';
CREATE INDEX document_sets_address ON document_sets (address) WHERE address <> '';
DROP INDEX attachments_owner;
CREATE INDEX attachments_stored ON attachments (owner, bytes);
CREATE INDEX attachments_address ON attachments (address, bytes) WHERE address <> '';
CREATE INDEX repos_stored ON repos (owner, bytes);
CREATE INDEX repos_address ON repos (address, bytes) WHERE address <> '';

-- Owners without an account. What they leave unused is removed.
CREATE TABLE anonymous_owners (
    owner   TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL -- of their last request; written once a day
) WITHOUT ROWID;
CREATE INDEX anonymous_owners_seen ON anonymous_owners (seen_at, owner);

CREATE TABLE spending (
    subject    TEXT    NOT NULL, -- 'owner:' and an id, or 'address:' and its key
    day        INTEGER NOT NULL, -- days since 1970 in UTC
    tokens     INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL, -- billionths of a US dollar
    PRIMARY KEY (subject, day)
) WITHOUT ROWID;
CREATE INDEX spending_day ON spending (day);
