-- +goose Up
-- Keys with which other programs act for a person. Only a hash of each is kept.

CREATE TABLE access_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL, -- as its owner knows it
    digest     TEXT    NOT NULL UNIQUE, -- SHA-256 of the key
    anonymous  BOOLEAN NOT NULL, -- the owner had no account
    created_at BIGINT  NOT NULL,
    used_at    BIGINT  NOT NULL, -- 0: never
    expires_at BIGINT  NOT NULL  -- 0: never
);
CREATE INDEX access_keys_owner ON access_keys (owner, created_at, id);
ALTER TABLE access_keys ENABLE ROW LEVEL SECURITY; -- no policy: only Palaver reads it
