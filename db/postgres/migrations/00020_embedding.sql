-- +goose Up
-- The embedding model that a document's vectors are from; '': it has none, or they are
-- from before this was known. The worker embeds such documents again.

ALTER TABLE documents ADD COLUMN embedding TEXT NOT NULL DEFAULT '';
