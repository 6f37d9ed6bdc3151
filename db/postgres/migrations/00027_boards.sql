-- +goose Up
-- Discovery boards.

CREATE TABLE boards (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    items      BIGINT NOT NULL, -- how many there are
    revision   BIGINT NOT NULL, -- grows by one with every write
    bytes      BIGINT NOT NULL, -- of content
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL DEFAULT 0, -- 0: it is not; else it can be restored for a day
    address    TEXT   NOT NULL DEFAULT '', -- as that of conversations
    content    BYTEA  NOT NULL  -- JSON
);
CREATE INDEX boards_listed ON boards (owner, updated_at, id);
CREATE INDEX boards_stored ON boards (owner, bytes);
CREATE INDEX boards_address ON boards (address, bytes) WHERE address <> '';
CREATE INDEX boards_deleted ON boards (deleted_at) WHERE deleted_at > 0;

ALTER TABLE boards ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON boards FOR SELECT USING (owner = (SELECT palaver_subject()) AND deleted_at = 0);
