-- +goose Up
-- Keys with which other programs act for a person. Only a hash of each is kept.

CREATE TABLE access_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL, -- as its owner knows it
    digest     TEXT    NOT NULL UNIQUE, -- SHA-256 of the key
    anonymous  INTEGER NOT NULL, -- 1: the owner had no account
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL, -- 0: never
    expires_at INTEGER NOT NULL  -- 0: never
);
CREATE INDEX access_keys_owner ON access_keys (owner, created_at, id);
