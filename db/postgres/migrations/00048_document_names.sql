-- +goose Up
-- The name of the file that a document was uploaded as. Its title begins as this name and
-- becomes what the document calls itself; '' where a person or the source gave the title.

ALTER TABLE documents ADD COLUMN name TEXT NOT NULL DEFAULT '';
