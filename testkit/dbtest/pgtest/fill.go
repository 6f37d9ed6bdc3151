package pgtest

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What Fill makes for each owner: 60 chunks, 120 messages and 180 events.
const (
	FilledDocuments = 6
	filledChunks    = 10 // of a document
	FilledThreads   = 20
	filledTurns     = 3 // of a thread
)

// FilledLibrary is the number of an owner who has only documents, with 6,000 chunks: more
// than a search compares one by one.
const (
	FilledLibrary = 0
	libraryBooks  = 600
)

// FilledDimensions is the length of the vectors.
const FilledDimensions = 4

// FilledOwner, FilledThread, FilledTurn and FilledDocument return ids of rows that Fill
// makes. Numbers count from 1.
func FilledOwner(n int) string               { return fmt.Sprintf("owner-%d", n) }
func FilledThread(owner, n int) string       { return fmt.Sprintf("thread-%d-%d", owner, n) }
func FilledTurn(owner, thread, n int) string { return fmt.Sprintf("turn-%d-%d-%d", owner, thread, n) }
func FilledDocument(owner, n int) string     { return fmt.Sprintf("doc-%d-%d", owner, n) }

// Fill stores conversations and documents of many owners in a migrated database, only by
// SQL, and has Postgres analyze them. Passages have the size of real ones, which decides
// about plans, but not their words.
func Fill(ctx context.Context, conn *pgx.Conn, owners int) error {
	for _, s := range []string{
		fmt.Sprintf(`INSERT INTO conversations (id, owner, title, title_folded, listed, created_at, last_message_at, places)
			SELECT 'thread-' || o || '-' || c, 'owner-' || o, 'About ' || c, 'about ' || c, true, o * 1000 + c, o * 1000 + c, %[3]d
			FROM generate_series(1, %[1]d) o, generate_series(1, %[2]d) c`, owners, FilledThreads, filledTurns),
		fmt.Sprintf(`INSERT INTO turns (id, owner, thread_id, parent, place, status, created_at, settled_at, client_turn_id, stream_run_id, content_hash, content)
			SELECT 'turn-' || o || '-' || c || '-' || t, 'owner-' || o, 'thread-' || o || '-' || c,
				CASE t WHEN 1 THEN 'root' ELSE 'turn-' || o || '-' || c || '-' || t - 1 END, t, 'completed', o * 1000 + c, o * 1000 + c + 1,
				'client-' || o || '-' || c || '-' || t, 'run-' || o || '-' || c || '-' || t, '', '{}'
			FROM generate_series(1, %d) o, generate_series(1, %d) c, generate_series(1, %d) t ORDER BY t, c, o`, owners, FilledThreads, filledTurns),
		`INSERT INTO messages (turn_id, n, role, created_at, content, metadata)
			SELECT t.id, n, CASE n WHEN 0 THEN 'user' ELSE 'assistant' END, t.created_at + n, 'What is the ratio of ' || t.id || '?', ''
			FROM turns t, generate_series(0, 1) n`,
		`INSERT INTO turn_events (turn_id, n, event) SELECT t.id, n, '{"type":"status","node":"inquire"}' FROM turns t, generate_series(1, 3) n`,
		`INSERT INTO stream_runs (owner, run_id, turn_id) SELECT t.owner, t.stream_run_id, t.id FROM turns t`,
		fmt.Sprintf(`INSERT INTO documents (id, owner, title, status, source_type, external_id, bytes, chunks, words, created_at, format)
			SELECT 'doc-' || o || '-' || d, 'owner-' || o, 'Circular ' || d, 'ready', 'upload', '', 1000, %[3]d, %[3]d * 8, o * 1000 + d, 'txt'
			FROM (SELECT o, generate_series(1, %[2]d) AS d FROM generate_series(1, %[1]d) o UNION ALL SELECT %[4]d, generate_series(1, %[5]d)) n
			ORDER BY d, o`, owners, FilledDocuments, filledChunks, FilledLibrary, libraryBooks),
		`INSERT INTO document_texts (doc_id, text) SELECT d.id, 'A text.' FROM documents d`,
		fmt.Sprintf(`INSERT INTO chunks (doc_id, ordinal, start_char, end_char, heading, text, words, search, frequencies)
			SELECT d.id, n, n * 10, n * 10 + 9, '', repeat('A bank must hold enough. ', 32), 128,
				array_to_tsvector(ARRAY['bank', 'word' || n, 'in' || md5(d.id)] || common.words),
				common.frequencies || jsonb_build_object('bank', 1, 'word' || n, 1, 'in' || md5(d.id), 1)
			FROM documents d, generate_series(0, %d) n,
				(SELECT array_agg('common' || w) AS words, jsonb_object_agg('common' || w, 1) AS frequencies FROM generate_series(1, 24) w) common
			ORDER BY n, d.id`, filledChunks-1),
		// Four numbers of four bytes, the lowest first: from 0.5 to 2, positive or negative.
		`INSERT INTO chunk_vectors (id, vector)
			SELECT c.id, set_byte(set_byte(set_byte(set_byte(c.b, 3, get_byte(c.b, 3) & 128 | 63), 7, get_byte(c.b, 7) & 128 | 63), 11, get_byte(c.b, 11) & 128 | 63), 15, get_byte(c.b, 15) & 128 | 63)
			FROM (SELECT id, decode(md5(id::text), 'hex') AS b FROM chunks) c`,
		fmt.Sprintf(`INSERT INTO document_sets (id, owner, name) SELECT 'set-' || o, 'owner-' || o, 'Rules' FROM generate_series(1, %d) o`, owners),
		`INSERT INTO set_documents (set_id, position, doc_id) SELECT s.id, n, 'doc-' || split_part(s.id, '-', 2) || '-' || n FROM document_sets s, generate_series(1, 3) n`,
		`ANALYZE`,
	} {
		if _, err := conn.Exec(ctx, s, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("fill the database: %w: %.80s", err, s)
		}
	}
	return nil
}
