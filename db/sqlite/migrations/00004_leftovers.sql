-- +goose Up
-- What a turn leaves once it is over: its messages and its log.

DELETE FROM turn_texts WHERE turn_id IN (SELECT t.id FROM turns t WHERE t.settled_at > 0);

ALTER TABLE turns ADD COLUMN sent_at INTEGER NOT NULL DEFAULT 0; -- of one that no thread has taken: the last try; 0: given up
CREATE INDEX turns_untaken ON turns (created_at) WHERE status = 'new';

-- Messages are searched as they are. The column stays, empty, for the release
-- before, which may come back.
UPDATE messages SET folded = '' WHERE folded <> '';
