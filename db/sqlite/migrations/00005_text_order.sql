-- +goose Up
-- A text that a later attempt has written is not overwritten by an earlier one.

ALTER TABLE turn_texts ADD COLUMN written_by INTEGER NOT NULL DEFAULT 0; -- the writer's order; 0: it had none
