-- +goose Up
-- A place is given to one turn only, and the owner of a deleted conversation may
-- use its id again.

ALTER TABLE conversations
    ADD COLUMN generation BIGINT NOT NULL DEFAULT 1, -- how many conversations have had this id
    ADD COLUMN places     BIGINT NOT NULL DEFAULT 0; -- the highest place given so far; 0 also where an earlier release gave some

ALTER TABLE deleted_conversations
    ADD COLUMN owner      TEXT   NOT NULL DEFAULT '', -- who may use the id again; '': nobody
    ADD COLUMN generation BIGINT NOT NULL DEFAULT 1,  -- of the deleted conversation
    ADD COLUMN places     BIGINT NOT NULL DEFAULT 0;  -- where its places ended
CREATE INDEX deleted_conversations_owner ON deleted_conversations (owner) WHERE owner <> '';

ALTER TABLE turns ADD COLUMN generation BIGINT NOT NULL DEFAULT 1; -- of its conversation

-- Messages of deleted conversations, kept for a day: one that is sent again must
-- not begin the next conversation of that id.
CREATE TABLE deleted_turns (
    digest     TEXT PRIMARY KEY, -- of thread, client_turn_id and content
    deleted_at BIGINT NOT NULL
);
CREATE INDEX deleted_turns_age ON deleted_turns (deleted_at);
ALTER TABLE deleted_turns ENABLE ROW LEVEL SECURITY;
