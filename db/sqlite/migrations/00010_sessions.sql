-- +goose Up
-- Cookies of an anonymous user of an earlier generation are refused.

ALTER TABLE profiles ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;
