-- +goose Up
-- Pinned conversations come first in the list, archived ones are in a list of their own.
-- A title that a person has chosen is not replaced.

ALTER TABLE conversations ADD COLUMN pinned   BOOLEAN NOT NULL DEFAULT false; -- at the top
ALTER TABLE conversations ADD COLUMN archived BOOLEAN NOT NULL DEFAULT false; -- found by searches, and in the list of archived ones
ALTER TABLE conversations ADD COLUMN named    BOOLEAN NOT NULL DEFAULT false; -- its owner chose the title
CREATE INDEX conversations_marked ON conversations (owner, archived, pinned, last_message_at, id) WHERE listed;
