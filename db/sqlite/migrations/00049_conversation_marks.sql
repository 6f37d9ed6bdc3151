-- +goose Up
-- Pinned conversations come first in the list, archived ones are in a list of their own.
-- A title that a person has chosen is not replaced.

ALTER TABLE conversations ADD COLUMN pinned   INTEGER NOT NULL DEFAULT 0; -- 1: at the top
ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0; -- 1: found by searches, and in the list of archived ones
ALTER TABLE conversations ADD COLUMN named    INTEGER NOT NULL DEFAULT 0; -- 1: its owner chose the title
CREATE INDEX conversations_marked ON conversations (owner, archived, pinned, last_message_at, id) WHERE listed = 1;
