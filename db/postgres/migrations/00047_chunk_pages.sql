-- +goose Up
-- The pages that a passage stands on, as JSON [[page, first character], …]; '' where the
-- document has no pages, or was processed before pages were kept.

ALTER TABLE chunks ADD COLUMN pages TEXT NOT NULL DEFAULT '';
