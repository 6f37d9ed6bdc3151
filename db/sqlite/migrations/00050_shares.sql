-- +goose Up
-- Links with which anybody can read a conversation as it was when the link was made. Only
-- a hash of each token is kept.

CREATE TABLE shares (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    digest     TEXT    NOT NULL UNIQUE, -- SHA-256 of the token
    title      TEXT    NOT NULL,
    content    TEXT    NOT NULL, -- JSON: the messages
    created_at INTEGER NOT NULL
);
CREATE INDEX shares_owner ON shares (owner, created_at, id);
CREATE INDEX shares_thread ON shares (thread_id);
