-- +goose Up
-- Cookies of an anonymous user of an earlier generation are refused.

ALTER TABLE profiles ADD COLUMN sessions BIGINT NOT NULL DEFAULT 0;
