-- +goose Up
-- Imports that people asked for, in a chat or otherwise: their progress and their end.

CREATE TABLE imports (
    id           TEXT PRIMARY KEY,
    owner        TEXT    NOT NULL,
    thread_id    TEXT    REFERENCES conversations (id) ON DELETE CASCADE, -- NULL: asked for outside of a conversation
    turn_id      TEXT    NOT NULL, -- '' when no turn asked for it
    key          TEXT    NOT NULL, -- the same for all imports of one document by one owner
    source_type  TEXT    NOT NULL,
    external_id  TEXT    NOT NULL,
    resource_key TEXT    NOT NULL,
    url          TEXT    NOT NULL,
    state        TEXT    NOT NULL, -- looking, downloading, reading, ready or failed
    outcome      TEXT    NOT NULL, -- of a ready one: imported, duplicate or updated
    name         TEXT    NOT NULL, -- at its source; '' until it is known
    remote       TEXT    NOT NULL, -- JSON of what its source says about it
    doc_id       TEXT    NOT NULL,
    chunks       INTEGER NOT NULL,
    code         TEXT    NOT NULL, -- of a failed one
    message      TEXT    NOT NULL, -- of a failed one: what the person reads
    announce     INTEGER NOT NULL, -- 1: the conversation is to be told of the end
    address      TEXT    NOT NULL, -- as in documents
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
CREATE INDEX imports_owner ON imports (owner, created_at);
CREATE INDEX imports_thread ON imports (thread_id, created_at) WHERE thread_id IS NOT NULL;
CREATE INDEX imports_turn ON imports (turn_id) WHERE turn_id <> '';
CREATE INDEX imports_open ON imports (key) WHERE state NOT IN ('ready', 'failed');
