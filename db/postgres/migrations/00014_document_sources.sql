-- +goose Up
-- Where a document came from (source_type), and what it is (format), are two things.
-- A process of the release before writes the format as source_type, and no format.

ALTER TABLE documents ADD COLUMN format TEXT NOT NULL DEFAULT '';         -- txt, md, html, pdf…
ALTER TABLE documents ADD COLUMN source_url TEXT NOT NULL DEFAULT '';     -- leads back to it; '' for uploads
ALTER TABLE documents ADD COLUMN source_version TEXT NOT NULL DEFAULT ''; -- another one: it has changed at its source
UPDATE documents SET format = source_type, source_type = 'upload';
