-- +goose Up
-- Discovery boards.

CREATE TABLE boards (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    title      TEXT   NOT NULL,
    items      INTEGER NOT NULL, -- how many there are
    revision   INTEGER NOT NULL, -- grows by one with every write
    bytes      INTEGER NOT NULL, -- of content
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL DEFAULT 0, -- 0: it is not; else it can be restored for a day
    address    TEXT   NOT NULL DEFAULT '', -- as that of conversations
    content    BLOB  NOT NULL  -- JSON
);
CREATE INDEX boards_listed ON boards (owner, updated_at, id);
CREATE INDEX boards_stored ON boards (owner, bytes);
CREATE INDEX boards_address ON boards (address, bytes) WHERE address <> '';
CREATE INDEX boards_deleted ON boards (deleted_at) WHERE deleted_at > 0;
