-- +goose Up
-- What was said up to the end of a turn on its branch, in short.

CREATE TABLE summaries (
    turn_id    TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    text       TEXT    NOT NULL, -- '': left out, because there was no model to write it
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
