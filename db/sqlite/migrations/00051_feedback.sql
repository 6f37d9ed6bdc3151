-- +goose Up
-- What people think of answers.

CREATE TABLE feedback (
    turn_id    TEXT    NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    good       INTEGER NOT NULL, -- 1: thumbs up; 0: thumbs down
    reason     TEXT    NOT NULL, -- in the person's words; may be empty
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX feedback_owner ON feedback (owner);
CREATE INDEX feedback_updated ON feedback (updated_at, turn_id);
