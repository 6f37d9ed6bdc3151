-- +goose Up
-- What was said up to the end of a turn on its branch, in short.

CREATE TABLE summaries (
    turn_id    TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    text       TEXT   NOT NULL, -- '': left out, because there was no model to write it
    created_at BIGINT NOT NULL
);
ALTER TABLE summaries ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_turn ON summaries FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
