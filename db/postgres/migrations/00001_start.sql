-- +goose Up
-- The tables of db/sqlite in Postgres's own terms. Times are microseconds since 1970 in UTC;
-- 0 is "not yet". A column address is the rate-limit key, a digest, of the address from
-- which somebody without an account inserted the row; '': the owner has an account.

CREATE TABLE profiles (
    owner    TEXT PRIMARY KEY,
    industry TEXT NOT NULL,
    location TEXT NOT NULL,
    hide_samples BOOLEAN NOT NULL DEFAULT FALSE, -- lists and searches leave out public documents
    instructions TEXT NOT NULL DEFAULT '', -- how the person wants answers
    sessions BIGINT NOT NULL DEFAULT 0, -- generation; cookies of an earlier one are refused. After a deletion it is kept under a digest of the owner
    seen_at BIGINT NOT NULL DEFAULT 0, -- of the last request of an owner with an account; written once an hour at most. 0: none
    known_as TEXT NOT NULL DEFAULT '' -- the address or name that the owner's token gives; '': none
);
CREATE INDEX profiles_seen ON profiles (seen_at, owner) WHERE seen_at > 0;

-- Owners without an account. What they leave unused is removed.
CREATE TABLE anonymous_owners (
    owner   TEXT COLLATE "C" PRIMARY KEY,
    seen_at BIGINT NOT NULL -- of their last request; written once a day
);
CREATE INDEX anonymous_owners_seen ON anonymous_owners (seen_at, owner);

-- Claims that have begun: an account gets all that an anonymous owner has stored. The repair
-- sweep finishes them, and deletes the row when nothing more can be stored for the owner.
CREATE TABLE claims (
    owner    TEXT COLLATE "C" PRIMARY KEY,
    account  TEXT    NOT NULL,
    began_at BIGINT NOT NULL
);
CREATE INDEX claims_account ON claims (account);

-- Keys with which other programs act for a person. Only a hash of each is kept.
CREATE TABLE access_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    name       TEXT    NOT NULL, -- as its owner knows it
    digest     TEXT    NOT NULL UNIQUE, -- SHA-256 of the key
    anonymous  BOOLEAN NOT NULL, -- the owner had no account
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL, -- 0: never
    expires_at BIGINT NOT NULL, -- 0: never
    space_id   TEXT    NOT NULL DEFAULT '' -- it works in this space only; '': in no space by itself, and in each that is named
);
CREATE INDEX access_keys_owner ON access_keys (owner, created_at, id);
CREATE INDEX access_keys_space ON access_keys (space_id) WHERE space_id <> '';

-- Accounts of other services that a person has connected.
CREATE TABLE connections (
    owner      TEXT    NOT NULL,
    provider   TEXT    NOT NULL, -- google
    account    TEXT    NOT NULL, -- as its owner knows it, such as an address
    scope      TEXT    NOT NULL, -- what the service has permitted
    token      TEXT    NOT NULL, -- encrypted; '': the service has taken it back
    version    BIGINT NOT NULL, -- one more with each token
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (owner, provider)
);

-- Pinned conversations come first in the list, archived ones are in a list of their own.
CREATE TABLE conversations (
    id              TEXT PRIMARY KEY,
    owner           TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    title_folded    TEXT    NOT NULL,            -- lower case, for searching
    named           BOOLEAN NOT NULL DEFAULT false,  -- its owner chose the title, which is not replaced
    listed          BOOLEAN NOT NULL,            -- false: made by a turn that was never accepted
    pinned          BOOLEAN NOT NULL DEFAULT false,  -- at the top
    archived        BOOLEAN NOT NULL DEFAULT false,  -- found by searches, and in the list of archived ones
    kind            TEXT    NOT NULL DEFAULT '', -- '', or not in the list: 'board' (the chat of the board of this id), 'once' (throw-away), 'temporary'
    space_id        TEXT    NOT NULL DEFAULT '', -- in which it was begun; '': in none
    scope           TEXT    NOT NULL DEFAULT '', -- of one in none: '+<id>' for each space whose documents its next turn reads, too, then '~<id>' for each that its owner had left
    shared          BOOLEAN NOT NULL DEFAULT false, -- with those who read the space
    created_at      BIGINT NOT NULL,
    last_message_at BIGINT NOT NULL,
    generation      BIGINT NOT NULL DEFAULT 1,  -- how many conversations have had this id
    places          BIGINT NOT NULL DEFAULT 0,  -- the highest place given so far
    address         TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX conversations_listed ON conversations (owner, last_message_at, id) WHERE listed;
CREATE INDEX conversations_marked ON conversations (owner, archived, pinned, last_message_at, id) WHERE listed;
CREATE INDEX conversations_kind ON conversations (kind, id) WHERE kind <> '';
CREATE INDEX conversations_space ON conversations (space_id, owner) WHERE space_id <> '';
CREATE INDEX conversations_owner ON conversations (owner, id);
CREATE INDEX conversations_address ON conversations (address) WHERE address <> '';

-- The owner of a deleted conversation may use its id again, others may not.
CREATE TABLE deleted_conversations (
    id         TEXT PRIMARY KEY,
    deleted_at BIGINT NOT NULL,
    owner      TEXT    NOT NULL DEFAULT '', -- '': nobody may use the id again
    generation BIGINT NOT NULL DEFAULT 1,  -- of the deleted conversation
    places     BIGINT NOT NULL DEFAULT 0   -- where its places ended
);
CREATE INDEX deleted_conversations_owner ON deleted_conversations (owner) WHERE owner <> '';

-- Messages of deleted conversations, kept for a day: one that is sent again must
-- not begin the next conversation of that id.
CREATE TABLE deleted_turns (
    digest     TEXT PRIMARY KEY, -- of thread, client_turn_id and content
    deleted_at BIGINT NOT NULL
);
CREATE INDEX deleted_turns_age ON deleted_turns (deleted_at);

-- Links with which anybody can read a conversation as it was when the link was made. Only
-- a hash of each token is kept.
CREATE TABLE shares (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    digest     TEXT    NOT NULL UNIQUE, -- SHA-256 of the token
    title      TEXT    NOT NULL,
    created_at BIGINT NOT NULL,
    content    TEXT    NOT NULL -- JSON: the messages
);
CREATE INDEX shares_owner ON shares (owner, created_at, id);
CREATE INDEX shares_thread ON shares (thread_id);

CREATE TABLE turns (
    seq            BIGINT  NOT NULL GENERATED BY DEFAULT AS IDENTITY, -- order of arrival
    id             TEXT    PRIMARY KEY,
    owner          TEXT    NOT NULL,
    thread_id      TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    generation     BIGINT NOT NULL DEFAULT 1,    -- of its conversation
    space_id       TEXT    NOT NULL DEFAULT '',  -- of its conversation, or the scope with which it has read
    author         TEXT    NOT NULL DEFAULT '',  -- of a turn that was copied: who wrote the message; '-': deleted since
    parent         TEXT    NOT NULL,              -- turn id or 'root'; '' until the turn starts
    place          BIGINT NOT NULL DEFAULT 0,    -- order within the thread's tree, from 1; 0: not in it. Given to one turn only
    status         TEXT    NOT NULL,
    asks           TEXT    NOT NULL DEFAULT '',   -- of an interrupted one: the type of its question
    hidden         BOOLEAN NOT NULL DEFAULT false,    -- rolled back
    created_at     BIGINT NOT NULL,
    sent_at        BIGINT NOT NULL DEFAULT 0,    -- of one that no thread has taken: the last try; 0: given up
    settled_at     BIGINT NOT NULL DEFAULT 0,
    client_turn_id TEXT    NOT NULL,
    stream_run_id  TEXT    NOT NULL,              -- of the first try
    content_hash   TEXT    NOT NULL,
    address        TEXT    NOT NULL DEFAULT '',
    registry       TEXT    NOT NULL DEFAULT '[]', -- JSON list of document ids known to the branch at this turn's end
    approvals      TEXT    NOT NULL DEFAULT '[]', -- JSON list of tools approved for good on the branch, as of this turn's end
    content        TEXT    NOT NULL,              -- JSON of chat.Content
    UNIQUE (thread_id, client_turn_id)
);
CREATE INDEX turns_tree ON turns (thread_id, place) WHERE place > 0;
CREATE INDEX turns_open ON turns (owner, thread_id, id) WHERE settled_at = 0;
CREATE INDEX turns_client ON turns (client_turn_id);
CREATE INDEX turns_author ON turns (author) WHERE author <> '';
CREATE INDEX turns_untaken ON turns (created_at) WHERE status = 'new';

-- Every stream run id under which a turn was sent; retries may bring others.
CREATE TABLE stream_runs (
    owner   TEXT NOT NULL,
    run_id  TEXT NOT NULL,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    PRIMARY KEY (owner, run_id, turn_id)
);
CREATE INDEX stream_runs_turn ON stream_runs (turn_id);

-- Cancels that may come before their turn.
CREATE TABLE cancels (
    owner      TEXT    NOT NULL,
    kind       TEXT    NOT NULL, -- turn, client or run
    thread_id  TEXT    NOT NULL, -- narrows kind client; '' otherwise
    ref        TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner, kind, ref, thread_id)
);
CREATE INDEX cancels_age ON cancels (created_at);

CREATE TABLE messages (
    turn_id    TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    n          BIGINT NOT NULL, -- 0 is the user's message
    role       TEXT    NOT NULL,
    created_at BIGINT NOT NULL,
    content    TEXT    NOT NULL,
    metadata   TEXT    NOT NULL, -- JSON object, or '' for none
    PRIMARY KEY (turn_id, n)
);

CREATE TABLE turn_events (
    turn_id TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    n       BIGINT NOT NULL,
    event   TEXT    NOT NULL, -- JSON of chat.Event
    PRIMARY KEY (turn_id, n)
);

-- Texts of open turns. One that a later attempt has written is not overwritten by an
-- earlier one.
CREATE TABLE turn_texts (
    turn_id    TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    key        TEXT NOT NULL,
    text       TEXT NOT NULL,
    written_by BIGINT NOT NULL DEFAULT 0, -- the writer's order; 0: it had none
    PRIMARY KEY (turn_id, key)
);

CREATE TABLE drafts (
    turn_id TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    piece   BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (turn_id, piece)
);

-- What was said up to the end of a turn on its branch, in short.
CREATE TABLE summaries (
    turn_id    TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    text       TEXT    NOT NULL, -- '': left out, because there was no model to write it
    created_at BIGINT NOT NULL
);

-- What people think of answers.
CREATE TABLE feedback (
    turn_id    TEXT    NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    good       BOOLEAN NOT NULL, -- true: thumbs up
    reason     TEXT    NOT NULL, -- in the person's words; may be empty
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    shared     BOOLEAN NOT NULL DEFAULT FALSE -- administrators may read the question and the answer
);
CREATE INDEX feedback_owner ON feedback (owner);
CREATE INDEX feedback_updated ON feedback (updated_at, turn_id);

-- Pictures.
CREATE TABLE attachments (
    id         TEXT PRIMARY KEY,
    owner      TEXT    NOT NULL,
    thread_id  TEXT REFERENCES conversations (id) ON DELETE CASCADE, -- NULL: no message uses it yet
    mime       TEXT    NOT NULL,
    bytes      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    address    TEXT    NOT NULL DEFAULT '',
    space_id   TEXT    NOT NULL DEFAULT '', -- in which it was uploaded
    data       BYTEA   NOT NULL
);
ALTER TABLE attachments ALTER COLUMN data SET STORAGE EXTERNAL; -- pictures are compressed already
CREATE INDEX attachments_thread ON attachments (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX attachments_unused ON attachments (created_at) WHERE thread_id IS NULL;
CREATE INDEX attachments_stored ON attachments (owner, id, bytes);
CREATE INDEX attachments_address ON attachments (address, bytes) WHERE address <> '';

-- The clients' own message repositories.
CREATE TABLE repos (
    thread_id  TEXT PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    version    BIGINT NOT NULL, -- from 1
    sha256     TEXT    NOT NULL, -- of the JSON before compression
    updated_at BIGINT NOT NULL,
    address    TEXT    NOT NULL DEFAULT '',
    bytes      BIGINT NOT NULL DEFAULT 0, -- of gzipped
    gzipped    BYTEA   NOT NULL
);
ALTER TABLE repos ALTER COLUMN gzipped SET STORAGE EXTERNAL;
CREATE INDEX repos_stored ON repos (owner, thread_id, bytes);
CREATE INDEX repos_address ON repos (address, bytes) WHERE address <> '';

-- Discovery boards.
CREATE TABLE boards (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    items      BIGINT NOT NULL, -- how many there are
    revision   BIGINT NOT NULL, -- grows by one with every write
    bytes      BIGINT NOT NULL, -- of content
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL DEFAULT 0, -- 0: it is not; else it can be restored for a day
    address    TEXT    NOT NULL DEFAULT '',
    content    BYTEA    NOT NULL -- JSON
);
CREATE INDEX boards_listed ON boards (owner, updated_at, id);
CREATE INDEX boards_stored ON boards (owner, id, bytes);
CREATE INDEX boards_address ON boards (address, bytes) WHERE address <> '';
CREATE INDEX boards_deleted ON boards (deleted_at) WHERE deleted_at > 0;

-- Spaces. Their documents have the owner 'space:<id>'; those that were deleted there, and can
-- be restored, 'space:<id>:deleted'.
CREATE TABLE spaces (
    id           TEXT   NOT NULL PRIMARY KEY,
    name         TEXT   NOT NULL,
    everybody    BOOLEAN NOT NULL DEFAULT TRUE , -- searches use public documents, too
    links        BOOLEAN NOT NULL DEFAULT FALSE, -- people may share their conversations by public links
    instructions TEXT   NOT NULL DEFAULT '', -- for models, as the operator's
    agent        TEXT   NOT NULL DEFAULT '', -- of new conversations; '': the usual one
    effort       TEXT   NOT NULL DEFAULT '',
    tool_servers TEXT   NOT NULL DEFAULT '["*"]', -- MCP servers whose tools may be called, as a JSON list; *: all
    created_at   BIGINT NOT NULL,
    deleted_at   BIGINT NOT NULL DEFAULT 0 -- 0: it is not; else it can be restored for 30 days
);
CREATE INDEX spaces_deleted ON spaces (deleted_at) WHERE deleted_at > 0;

CREATE TABLE space_members (
    space_id TEXT   NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind     TEXT   NOT NULL, -- person, or group
    member   TEXT   NOT NULL, -- a person's id, or the value of a group claim
    role     BIGINT NOT NULL, -- 1: reads; 2: contributes; 3: manages
    added_by TEXT   NOT NULL, -- a person's id; '': deleted since
    added_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, kind, member)
);
CREATE INDEX space_members_member ON space_members (kind, member);
CREATE INDEX space_members_added ON space_members (added_by);

-- The groups of the newest token of a person.
CREATE TABLE person_groups (
    owner   TEXT   NOT NULL,
    name    TEXT   NOT NULL,
    until   BIGINT NOT NULL, -- the group does not count after it
    PRIMARY KEY (owner, name)
);

CREATE TABLE documents (
    id             TEXT PRIMARY KEY,
    owner          TEXT    NOT NULL, -- '*': everybody's; 'space:<id>': a space's
    title          TEXT    NOT NULL,
    title_folded   TEXT    NOT NULL DEFAULT '', -- equal for titles that people take for the same
    named          BOOLEAN NOT NULL DEFAULT FALSE, -- a person gave the title, which nothing else replaces
    name           TEXT    NOT NULL DEFAULT '', -- of its file, with the extension; '': there was none
    other_names    TEXT    NOT NULL DEFAULT '[]', -- JSON: what else it is called, best first
    title_words    TEXT    NOT NULL DEFAULT '', -- what the search finds it by: the words of the title and the file's name
    other_words    TEXT    NOT NULL DEFAULT '', -- and those of the other names
    status         TEXT    NOT NULL,
    source_type    TEXT    NOT NULL,            -- where it came from
    external_id    TEXT    NOT NULL,
    format         TEXT    NOT NULL DEFAULT '', -- what it is: txt, md, html, pdf…
    source_url     TEXT    NOT NULL DEFAULT '', -- leads back to it; '' for uploads
    source_version TEXT    NOT NULL DEFAULT '', -- another one: it has changed at its source
    bytes          BIGINT NOT NULL,
    chunks         BIGINT NOT NULL DEFAULT 0,
    words          BIGINT NOT NULL DEFAULT 0,  -- of all chunks, headings included
    progress       BIGINT NOT NULL DEFAULT 0,
    error          TEXT    NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    embedding      TEXT    NOT NULL DEFAULT '', -- the embedding model that its vectors are from; '': it has none
    pages          BIGINT NOT NULL DEFAULT 0,  -- of its file; 0: not known
    unread_pages   BIGINT NOT NULL DEFAULT 0,  -- those of them that could not be read
    language       TEXT    NOT NULL DEFAULT '', -- of its text, as ISO 639-1; '': not detected
    terms_version  BIGINT NOT NULL DEFAULT 0,  -- of the rules by which its text and names are indexed
    thread_id      TEXT    NOT NULL DEFAULT '', -- the conversation that it belongs to, which may have no message yet; '': the library
    added_by       TEXT    NOT NULL DEFAULT '', -- in a space: who put it there
    deleted_at     BIGINT NOT NULL DEFAULT 0,  -- in a space: when it was deleted there; it can be restored for 30 days
    address        TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX documents_owner ON documents (owner, created_at, id);
CREATE INDEX documents_titled ON documents (owner, title_folded);
CREATE INDEX documents_thread ON documents (thread_id) WHERE thread_id <> '';
CREATE INDEX documents_added ON documents (added_by) WHERE added_by <> '';
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at > 0;
CREATE INDEX documents_stored ON documents (owner, id, bytes);
CREATE INDEX documents_address ON documents (address, bytes) WHERE address <> '';
CREATE INDEX documents_failed ON documents (created_at, id) WHERE status = 'failed';
-- An owner has what was imported once, however often and at once it is asked for.
CREATE UNIQUE INDEX documents_imported ON documents (owner, source_type, external_id) WHERE external_id <> '';

CREATE TABLE raw_documents (
    doc_id TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    raw    BYTEA NOT NULL
);

-- Pages of processing documents that OCR has read; a page that it could not read has no text.
CREATE TABLE scans (
    doc_id TEXT   NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    page   BIGINT NOT NULL,
    text   TEXT   NOT NULL,
    PRIMARY KEY (doc_id, page)
);

CREATE TABLE document_texts (
    doc_id TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    text   TEXT NOT NULL
);

-- The terms of the names, those of the title and the file's name with weight A.
ALTER TABLE documents ADD COLUMN names TSVECTOR NOT NULL GENERATED ALWAYS AS (
    ((CASE title_words WHEN '' THEN '' ELSE replace(title_words, ' ', ':1A ') || ':1A' END)
        || ' ' || (CASE other_words WHEN '' THEN '' ELSE replace(other_words, ' ', ':1B ') || ':1B' END))::tsvector) STORED;

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

CREATE TABLE chunks (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    doc_id      TEXT     NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    ordinal     BIGINT   NOT NULL,
    start_char  BIGINT   NOT NULL,
    end_char    BIGINT   NOT NULL,
    heading     TEXT     NOT NULL,
    pages       TEXT     NOT NULL DEFAULT '', -- the pages that the passage stands on, as JSON [[page, first character], …]; '' where the document has no pages
    text        TEXT     NOT NULL,
    words       BIGINT   NOT NULL, -- of text and heading
    search      TSVECTOR NOT NULL, -- the terms of package language that the text and the heading have
    frequencies JSONB    NOT NULL, -- how often each of them stands there; one in the heading counts half
    UNIQUE (doc_id, ordinal)
);
CREATE INDEX chunks_search ON chunks USING gin (search);

CREATE TABLE chunk_vectors (
    id     BIGINT PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BYTEA NOT NULL -- float32, little endian, of length 1
);

CREATE TABLE document_sets (
    seq     BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    id      TEXT   PRIMARY KEY,
    owner   TEXT   NOT NULL,
    name    TEXT   NOT NULL,
    address TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX document_sets_owner ON document_sets (owner, seq);
CREATE INDEX document_sets_address ON document_sets (address) WHERE address <> '';

CREATE TABLE set_documents (
    set_id   TEXT    NOT NULL REFERENCES document_sets (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    doc_id   TEXT    NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    PRIMARY KEY (set_id, position)
);
CREATE INDEX set_documents_doc ON set_documents (doc_id);

-- Imports that people asked for, in a chat or otherwise: their progress and their end.
CREATE TABLE imports (
    id           TEXT PRIMARY KEY,
    owner        TEXT    NOT NULL,
    thread_id    TEXT    REFERENCES conversations (id) ON DELETE CASCADE, -- NULL: asked for outside of a conversation
    turn_id      TEXT    NOT NULL, -- '' when no turn asked for it
    key          TEXT    NOT NULL, -- the same for all imports of one document by one owner
    source_type  TEXT    NOT NULL,
    external_id  TEXT    NOT NULL,
    resource_key TEXT    NOT NULL,
    url          TEXT    NOT NULL,
    state        TEXT    NOT NULL, -- looking, downloading, reading, ready or failed
    outcome      TEXT    NOT NULL, -- of a ready one: imported, duplicate or updated
    name         TEXT    NOT NULL, -- at its source; '' until it is known
    remote       TEXT    NOT NULL, -- JSON of what its source says about it
    doc_id       TEXT    NOT NULL,
    chunks       BIGINT NOT NULL,
    code         TEXT    NOT NULL, -- of a failed one
    message      TEXT    NOT NULL, -- of a failed one: what the person reads
    announce     BIGINT NOT NULL, -- 1: the conversation is to be told of the end
    address      TEXT    NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX imports_owner ON imports (owner, created_at);
CREATE INDEX imports_thread ON imports (thread_id, created_at) WHERE thread_id IS NOT NULL;
CREATE INDEX imports_turn ON imports (turn_id) WHERE turn_id <> '';
CREATE INDEX imports_open ON imports (key) WHERE state NOT IN ('ready', 'failed');
CREATE INDEX imports_ended ON imports (updated_at) WHERE state IN ('ready', 'failed') AND doc_id <> '';

-- Work that only one process does at a time. The holder changes beat every few seconds.
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT   NOT NULL,
    beat   BIGINT NOT NULL
);

-- What workers report of the MCP servers, for processes that do not connect to them.
CREATE TABLE tool_servers (
    name   TEXT PRIMARY KEY,
    report TEXT   NOT NULL, -- JSON of db.ToolServer
    at     BIGINT NOT NULL
);

-- Counters of what callers do. Keys are digests: no address stands here.
CREATE TABLE limits (
    key      TEXT PRIMARY KEY,
    count    BIGINT NOT NULL,
    begun_at BIGINT NOT NULL, -- when the window began
    reset_at BIGINT NOT NULL  -- when the window is over
);
CREATE INDEX limits_reset ON limits (reset_at);

-- What an owner's turns have used, by day.
CREATE TABLE spending (
    subject    TEXT    NOT NULL, -- 'owner:' and an id, or 'address:' and its key
    day        BIGINT NOT NULL, -- days since 1970 in UTC
    tokens     BIGINT NOT NULL,
    cost_nanos BIGINT NOT NULL, -- billionths of a US dollar
    PRIMARY KEY (subject, day)
);
CREATE INDEX spending_day ON spending (day);

-- What models, web searches and paid tools have used in this installation, by day. It names
-- nobody.
CREATE TABLE model_usage (
    day        BIGINT NOT NULL, -- days since 1970 in UTC
    model      TEXT   NOT NULL, -- or the name of a tool, or web_search
    calls      BIGINT NOT NULL, -- that were answered
    unpriced   BIGINT NOT NULL, -- of them, those without a known price
    tokens_in  BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    cost_nanos BIGINT NOT NULL, -- billionths of a US dollar
    PRIMARY KEY (day, model)
);

-- What those who answer for an installation may be asked about. Rows are only added.
-- Entries older than 30 days (db.AuditKept) may be removed: AUDIT_RETENTION.
CREATE TABLE audit_log (
    id         BIGINT  NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at         BIGINT NOT NULL,
    kind       TEXT    NOT NULL,
    owner      TEXT    NOT NULL, -- whom it is about; '' when not known
    channel    TEXT    NOT NULL, -- how it came: page, api, mcp, signal, command; '' when not known
    address    TEXT    NOT NULL, -- of the client; '' when not known
    request_id TEXT    NOT NULL,
    times      BIGINT NOT NULL, -- how often, for what is counted
    detail     TEXT    NOT NULL  -- JSON object of names, ids and numbers
);
CREATE INDEX audit_log_owner ON audit_log (owner, id) WHERE owner <> '';

-- +goose StatementBegin
CREATE FUNCTION palaver_append_only() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION palaver_append_only();
CREATE TRIGGER audit_log_deleted BEFORE DELETE ON audit_log
    FOR EACH ROW WHEN (OLD.at > (extract(epoch FROM now())::bigint - 2592000) * 1000000)
    EXECUTE FUNCTION palaver_append_only();

-- Row-level security. Supabase lets a browser read tables as a role of its own, with the
-- caller's token in request.jwt.claims. Such a role sees its own and public rows and
-- changes none: there are policies for reading only. Palaver's role owns the tables and is
-- not bound by them. Tables without a policy are read by Palaver only.

-- +goose StatementBegin
CREATE FUNCTION palaver_subject() RETURNS TEXT LANGUAGE SQL STABLE SET search_path = '' AS $$
    SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
$$;
-- +goose StatementEnd

-- The owners of the documents of the spaces that the subject reads: the rule of the query
-- SpaceOf. It reads tables that a browser's role does not.
-- +goose StatementBegin
CREATE FUNCTION palaver_libraries() RETURNS TEXT[] LANGUAGE SQL STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg('space:' || s.id), '{}') FROM spaces s
    WHERE s.deleted_at = 0
        AND coalesce(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'is_anonymous', '') <> 'true'
        AND EXISTS (SELECT 1 FROM space_members m WHERE m.space_id = s.id
            AND (m.kind = 'person' AND m.member = palaver_subject()
                OR m.kind = 'group' AND EXISTS (SELECT 1 FROM person_groups g
                    WHERE g.owner = palaver_subject() AND g.name = m.member AND g.until > extract(epoch FROM now()) * 1000000)))
$$;
-- +goose StatementEnd

ALTER TABLE goose_db_version      ENABLE ROW LEVEL SECURITY;
ALTER TABLE profiles              ENABLE ROW LEVEL SECURITY;
ALTER TABLE anonymous_owners      ENABLE ROW LEVEL SECURITY;
ALTER TABLE claims                ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_keys           ENABLE ROW LEVEL SECURITY;
ALTER TABLE connections           ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversations         ENABLE ROW LEVEL SECURITY;
ALTER TABLE deleted_conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE deleted_turns         ENABLE ROW LEVEL SECURITY;
ALTER TABLE shares                ENABLE ROW LEVEL SECURITY;
ALTER TABLE turns                 ENABLE ROW LEVEL SECURITY;
ALTER TABLE stream_runs           ENABLE ROW LEVEL SECURITY;
ALTER TABLE cancels               ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages              ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_events           ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_texts            ENABLE ROW LEVEL SECURITY;
ALTER TABLE drafts                ENABLE ROW LEVEL SECURITY;
ALTER TABLE summaries             ENABLE ROW LEVEL SECURITY;
ALTER TABLE feedback              ENABLE ROW LEVEL SECURITY;
ALTER TABLE attachments           ENABLE ROW LEVEL SECURITY;
ALTER TABLE repos                 ENABLE ROW LEVEL SECURITY;
ALTER TABLE boards                ENABLE ROW LEVEL SECURITY;
ALTER TABLE spaces                ENABLE ROW LEVEL SECURITY;
ALTER TABLE space_members         ENABLE ROW LEVEL SECURITY;
ALTER TABLE person_groups         ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents             ENABLE ROW LEVEL SECURITY;
ALTER TABLE raw_documents         ENABLE ROW LEVEL SECURITY;
ALTER TABLE scans                 ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_texts        ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunks                ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunk_vectors         ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_sets         ENABLE ROW LEVEL SECURITY;
ALTER TABLE set_documents         ENABLE ROW LEVEL SECURITY;
ALTER TABLE imports               ENABLE ROW LEVEL SECURITY;
ALTER TABLE leases                ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_servers          ENABLE ROW LEVEL SECURITY;
ALTER TABLE limits                ENABLE ROW LEVEL SECURITY;
ALTER TABLE spending              ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_usage           ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log             ENABLE ROW LEVEL SECURITY;

-- Supabase grants its roles everything on new tables. Row-level security does not bind
-- TRUNCATE, REFERENCES and TRIGGER. Without these roles nothing is done.
-- +goose StatementBegin
DO $$
DECLARE
    reader TEXT;
BEGIN
    FOR reader IN SELECT rolname FROM pg_roles WHERE rolname IN ('anon', 'authenticated') LOOP
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', current_schema(), reader);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), reader);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- The subject in a query of its own is asked for once, not once a row.
CREATE POLICY own ON profiles      FOR SELECT USING (owner = (SELECT palaver_subject()));
-- What a turn took from a space's documents is seen by who reads the space.
CREATE POLICY own ON conversations FOR SELECT USING (owner = (SELECT palaver_subject()) AND (space_id = '' OR 'space:' || space_id = ANY ((SELECT palaver_libraries())::text[])));
CREATE POLICY own ON turns         FOR SELECT USING (owner = (SELECT palaver_subject()) AND (space_id = '' OR string_to_array('space:' || replace(ltrim(space_id, '+'), '+', '+space:'), '+') <@ (SELECT palaver_libraries())::text[]));
CREATE POLICY shared ON conversations FOR SELECT USING (shared AND 'space:' || space_id = ANY ((SELECT palaver_libraries())::text[]));
CREATE POLICY shared ON turns         FOR SELECT USING (NOT hidden AND status <> 'new' AND 'space:' || space_id = ANY ((SELECT palaver_libraries())::text[]) AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = thread_id AND c.shared));
CREATE POLICY own ON stream_runs   FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON cancels       FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON feedback      FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON attachments   FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY shared ON attachments FOR SELECT USING (EXISTS (SELECT 1 FROM conversations c WHERE c.id = thread_id AND c.shared AND 'space:' || c.space_id = ANY ((SELECT palaver_libraries())::text[])));
CREATE POLICY copied ON attachments FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.author = attachments.owner AND t.author <> '' AND t.owner = (SELECT palaver_subject()) AND t.content LIKE '%"' || attachments.id || '"%'));
CREATE POLICY own ON repos         FOR SELECT USING (owner = (SELECT palaver_subject()) AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = thread_id AND (split_part(c.scope, '~', 1) = '' OR string_to_array('space:' || replace(ltrim(split_part(c.scope, '~', 1), '+'), '+', '+space:'), '+') <@ (SELECT palaver_libraries())::text[])));
CREATE POLICY own ON imports       FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON document_sets FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON boards        FOR SELECT USING (owner = (SELECT palaver_subject()) AND deleted_at = 0);
CREATE POLICY own_or_public ON documents FOR SELECT USING (owner IN ((SELECT palaver_subject()), '*'));
CREATE POLICY of_space ON documents     FOR SELECT USING (owner = ANY ((SELECT palaver_libraries())::text[]));
CREATE POLICY shared ON documents       FOR SELECT USING (EXISTS (SELECT 1 FROM conversations c WHERE c.id = documents.thread_id AND c.owner = documents.owner AND c.shared AND 'space:' || c.space_id = ANY ((SELECT palaver_libraries())::text[])));
CREATE POLICY of_space ON spaces        FOR SELECT USING ('space:' || id = ANY ((SELECT palaver_libraries())::text[]));
CREATE POLICY of_space ON boards        FOR SELECT USING (owner = ANY ((SELECT palaver_libraries())::text[]) AND deleted_at = 0);
CREATE POLICY of_space ON document_sets FOR SELECT USING (owner = ANY ((SELECT palaver_libraries())::text[]));

-- What belongs to a row is seen with it.
CREATE POLICY of_turn ON messages    FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_turn ON turn_events FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_own_turn ON turn_texts FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id AND t.owner = (SELECT palaver_subject())));
CREATE POLICY of_own_turn ON drafts FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id AND t.owner = (SELECT palaver_subject())));
CREATE POLICY of_own_turn ON summaries FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id AND t.owner = (SELECT palaver_subject())));
CREATE POLICY of_document ON raw_documents  FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON scans          FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON document_texts FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON chunks         FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_chunk ON chunk_vectors FOR SELECT USING (EXISTS (SELECT 1 FROM chunks c WHERE c.id = chunk_vectors.id));
CREATE POLICY of_set ON set_documents   FOR SELECT USING (EXISTS (SELECT 1 FROM document_sets s WHERE s.id = set_id));
