-- +goose Up
-- What a turn leaves once it is over: its messages and its log. What takes long
-- comes first, before anything that others would wait for.

DELETE FROM turn_texts x USING turns t WHERE t.id = x.turn_id AND t.settled_at > 0;

-- Messages are searched as they are. The column stays, empty, for processes of the
-- release before, which go on writing it during an upgrade.
UPDATE messages SET folded = '' WHERE folded <> '';

-- Lower case by Unicode, letter by letter, whatever the database's locale is.
-- +goose StatementBegin
DO $$
DECLARE
    unicode TEXT := (SELECT 'COLLATE pg_catalog."und-x-icu"' FROM pg_catalog.pg_collation
        WHERE collname = 'und-x-icu' AND collnamespace = 'pg_catalog'::regnamespace);
BEGIN
    EXECUTE format('CREATE FUNCTION palaver_fold(said TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE AS %L',
        'SELECT pg_catalog.lower(pg_catalog.replace(pg_catalog.replace(said, ''İ'', ''i''), ''Σ'', ''σ'') ' || coalesce(unicode, '') || ')');
END
$$;
-- +goose StatementEnd

ALTER TABLE turns ADD COLUMN sent_at BIGINT NOT NULL DEFAULT 0; -- of one that no thread has taken: the last try; 0: given up
CREATE INDEX turns_untaken ON turns (created_at) WHERE status = 'new';
