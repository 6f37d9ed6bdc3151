-- +goose Up
-- Threads that are no conversations of a list: the chat of a discovery board, whose id
-- is the board's, and throw-away ones.

ALTER TABLE conversations ADD COLUMN kind TEXT NOT NULL DEFAULT ''; -- '', 'board' or 'once'
CREATE INDEX conversations_kind ON conversations (kind, id) WHERE kind <> '';
