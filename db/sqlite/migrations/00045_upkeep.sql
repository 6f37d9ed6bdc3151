-- +goose Up
-- What ended long ago is looked for once a day.

CREATE INDEX imports_ended ON imports (updated_at) WHERE state IN ('ready', 'failed') AND doc_id <> '';
