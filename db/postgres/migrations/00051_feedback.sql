-- +goose Up
-- What people think of answers.

CREATE TABLE feedback (
    turn_id    TEXT   NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    owner      TEXT   NOT NULL,
    good       BOOLEAN NOT NULL, -- thumbs up
    reason     TEXT   NOT NULL, -- in the person's words; may be empty
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX feedback_owner ON feedback (owner);
CREATE INDEX feedback_updated ON feedback (updated_at, turn_id);
ALTER TABLE feedback ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON feedback FOR SELECT USING (owner = (SELECT palaver_subject()));
