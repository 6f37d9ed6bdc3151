-- +goose Up
-- Times are microseconds since 1970 in UTC; 0 is "not yet".

CREATE TABLE profiles (
    owner    TEXT PRIMARY KEY,
    industry TEXT NOT NULL,
    location TEXT NOT NULL
);

CREATE TABLE conversations (
    id              TEXT PRIMARY KEY,
    owner           TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    title_folded    TEXT    NOT NULL,           -- lower case, for searching
    listed          INTEGER NOT NULL,           -- 0: made by a turn that was never accepted
    created_at      INTEGER NOT NULL,
    last_message_at INTEGER NOT NULL
);
CREATE INDEX conversations_listed ON conversations (owner, last_message_at, id) WHERE listed = 1;

-- Ids under which nothing may be inserted any more.
CREATE TABLE deleted_conversations (
    id         TEXT PRIMARY KEY,
    deleted_at INTEGER NOT NULL
);

CREATE TABLE turns (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT, -- order of arrival
    id             TEXT    NOT NULL UNIQUE,
    owner          TEXT    NOT NULL,
    thread_id      TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent         TEXT    NOT NULL,            -- turn id or 'root'; '' until the turn starts
    place          INTEGER NOT NULL DEFAULT 0,  -- order within the thread's tree, from 1; 0: not in it
    status         TEXT    NOT NULL,
    hidden         INTEGER NOT NULL DEFAULT 0,  -- rolled back
    created_at     INTEGER NOT NULL,
    settled_at     INTEGER NOT NULL DEFAULT 0,
    client_turn_id TEXT    NOT NULL,
    stream_run_id  TEXT    NOT NULL,            -- of the first try
    content_hash   TEXT    NOT NULL,
    registry       TEXT    NOT NULL DEFAULT '[]', -- JSON list of document ids known to the branch at this turn's end
    content        TEXT    NOT NULL,            -- JSON of chat.Content
    UNIQUE (owner, thread_id, client_turn_id)
);
CREATE INDEX turns_tree ON turns (owner, thread_id, place, parent, id, hidden) WHERE place > 0;
CREATE INDEX turns_open ON turns (owner, thread_id, place, seq, status) WHERE settled_at = 0;
CREATE INDEX turns_client ON turns (owner, client_turn_id);
CREATE INDEX turns_thread ON turns (thread_id);

-- Every stream run id under which a turn was sent; retries may bring others.
CREATE TABLE stream_runs (
    owner   TEXT NOT NULL,
    run_id  TEXT NOT NULL,
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    PRIMARY KEY (owner, run_id, turn_id)
) WITHOUT ROWID;
CREATE INDEX stream_runs_turn ON stream_runs (turn_id);

-- Cancels that may come before their turn.
CREATE TABLE cancels (
    owner      TEXT    NOT NULL,
    kind       TEXT    NOT NULL, -- turn, client or run
    thread_id  TEXT    NOT NULL, -- narrows kind client; '' otherwise
    ref        TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, kind, ref, thread_id)
) WITHOUT ROWID;
CREATE INDEX cancels_age ON cancels (created_at);
CREATE INDEX cancels_thread ON cancels (thread_id) WHERE thread_id <> '';

CREATE TABLE messages (
    turn_id    TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    n          INTEGER NOT NULL, -- 0 is the user's message
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    content    TEXT    NOT NULL,
    folded     TEXT    NOT NULL, -- lower case, for searching
    metadata   TEXT    NOT NULL, -- JSON object, or '' for none
    PRIMARY KEY (turn_id, n)
);

CREATE TABLE turn_events (
    turn_id TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    n       INTEGER NOT NULL,
    event   TEXT    NOT NULL, -- JSON of chat.Event
    PRIMARY KEY (turn_id, n)
);

CREATE TABLE turn_texts (
    turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    key     TEXT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (turn_id, key)
);

CREATE TABLE drafts (
    turn_id TEXT    NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    piece   INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (turn_id, piece)
);

CREATE TABLE documents (
    id          TEXT PRIMARY KEY,
    owner       TEXT    NOT NULL, -- '*': everybody's
    title       TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    source_type TEXT    NOT NULL,
    external_id TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    chunks      INTEGER NOT NULL DEFAULT 0,
    progress    INTEGER NOT NULL DEFAULT 0,
    error       TEXT    NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    edition     INTEGER NOT NULL DEFAULT 0 -- the one that readers see; 0: none
);
CREATE INDEX documents_owner ON documents (owner, created_at, id);

CREATE TABLE raw_documents (
    doc_id TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    raw    BLOB NOT NULL
);

-- A text as stored once. A new one is written in pieces beside the old and then
-- takes its place at one stroke, so that a long text never holds up other writers.
CREATE TABLE editions (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    text   TEXT NOT NULL
);
CREATE INDEX editions_doc ON editions (doc_id);

-- id is edition << 20 | ordinal: an edition's chunks, their index entries and
-- vectors are one range of ids.
CREATE TABLE chunks (
    id         INTEGER PRIMARY KEY,
    edition    INTEGER NOT NULL REFERENCES editions (id) ON DELETE CASCADE,
    start_char INTEGER NOT NULL,
    end_char   INTEGER NOT NULL,
    heading    TEXT    NOT NULL,
    text       TEXT    NOT NULL
);
CREATE INDEX chunks_edition ON chunks (edition);

CREATE TABLE chunk_vectors (
    id     INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL -- float32, little endian, of length 1
);

CREATE VIRTUAL TABLE chunk_index USING fts5 (
    text, heading,
    content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- +goose StatementBegin
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM chunk_index WHERE rowid = old.id;
END;
-- +goose StatementEnd

CREATE TABLE document_sets (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    id    TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    name  TEXT NOT NULL
);
CREATE INDEX document_sets_owner ON document_sets (owner, seq);

CREATE TABLE set_documents (
    set_id   TEXT    NOT NULL REFERENCES document_sets (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    doc_id   TEXT    NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    PRIMARY KEY (set_id, position)
) WITHOUT ROWID;
CREATE INDEX set_documents_doc ON set_documents (doc_id);
