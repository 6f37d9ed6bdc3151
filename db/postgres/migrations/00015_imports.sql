-- +goose Up
-- An owner has what was imported once, however often and at once it is asked for.

CREATE UNIQUE INDEX documents_imported ON documents (owner, source_type, external_id) WHERE external_id <> '';
