package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/record"
)

// Reasons why Import refuses.
var (
	ErrOpenTurns = errors.New("turns are open; wait for them or stop them, then stop the processes")
	ErrNotEmpty  = errors.New("the target is not empty")
)

// MovedRows is how many rows of a table Import wrote.
type MovedRows struct {
	Table string
	Rows  int64
}

// Import copies a SQLite store of the current schema, read through from, into s,
// which must be empty. It is one transaction: after an error s is still empty.
// Before it commits it compares the row counts of every table.
func (s *Store) Import(ctx context.Context, from *sql.Tx) (moved []MovedRows, err error) {
	defer s.wrap(ctx, "import", &err) // no timeout: large stores take long
	var open int64
	if err := from.QueryRowContext(ctx, "SELECT count(*) FROM turns WHERE settled_at = 0 AND status <> 'new'").Scan(&open); err != nil {
		return nil, err
	}
	if open > 0 {
		return nil, fmt.Errorf("%d %w", open, ErrOpenTurns)
	}
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if err := refuseUnlessEmpty(ctx, tx); err != nil {
			return err
		}
		for _, t := range moving {
			if err := t.copy(ctx, from, tx); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		if err := s.importChunks(ctx, from, tx); err != nil {
			return fmt.Errorf("chunks: %w", err)
		}
		moved, err = compareCounts(ctx, from, tx)
		return err
	})
	return moved, err
}

// refuseUnlessEmpty also locks all tables against writes until the transaction ends.
func refuseUnlessEmpty(ctx context.Context, tx pgx.Tx) error {
	var names []string
	for _, t := range all() {
		names = append(names, t.name)
	}
	if _, err := tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN EXCLUSIVE MODE"); err != nil {
		return err
	}
	// What deleted users leave is no data (rules.deletedOwner).
	if _, err := tx.Exec(ctx, "DELETE FROM profiles WHERE left(owner, 1) = chr(1)"); err != nil {
		return err
	}
	for _, name := range names {
		var filled bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+name+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			return fmt.Errorf("%w: there are rows in %s", ErrNotEmpty, name)
		}
	}
	return nil
}

// table is a table of Postgres and where its rows come from in SQLite.
type table struct {
	name    string
	columns string // of Postgres, in the order of source's
	source  string // what follows SELECT; columns FROM name if empty
	flags   string // columns that are 0 or 1 in SQLite and boolean here
	serial  string // column whose sequence continues after the copied rows
}

// moving are copied as they are, parents first. Rate-limit counters are not
// copied: they start at zero. The audit log stays in the SQLite file: it says what
// happened to that one.
var moving = []table{
	{name: "profiles", columns: "owner, industry, location, hide_samples, instructions, sessions, seen_at, known_as", flags: "hide_samples"},
	{name: "connections", columns: "owner, provider, account, scope, token, version, created_at, updated_at"},
	{name: "claims", columns: "owner, account, began_at"},
	{name: "access_keys", columns: "id, owner, name, digest, anonymous, space_id, created_at, used_at, expires_at", flags: "anonymous"},
	{name: "anonymous_owners", columns: "owner, seen_at"},
	{name: "model_usage", columns: "day, model, calls, unpriced, tokens_in, tokens_out, cost_nanos"},
	{name: "spending", columns: "subject, day, tokens, cost_nanos"},
	{name: "conversations", columns: "id, owner, title, title_folded, listed, created_at, last_message_at, generation, places, address, kind, pinned, archived, named, space_id, scope, shared", flags: "listed pinned archived named shared"},
	{name: "deleted_conversations", columns: "id, deleted_at, owner, generation, places"},
	{name: "deleted_turns", columns: "digest, deleted_at"},
	{name: "turns", columns: "seq, id, owner, thread_id, parent, place, status, asks, hidden, created_at, settled_at, client_turn_id, stream_run_id, content_hash, registry, approvals, content, generation, sent_at, address, space_id, author",
		flags: "hidden", serial: "seq"},
	{name: "stream_runs", columns: "owner, run_id, turn_id"},
	{name: "cancels", columns: "owner, kind, thread_id, ref, reason, created_at"},
	{name: "messages", columns: "turn_id, n, role, created_at, content, metadata"},
	{name: "turn_events", columns: "turn_id, n, event"},
	{name: "turn_texts", columns: "turn_id, key, text, written_by"},
	{name: "drafts", columns: "turn_id, piece, attempt, text"},
	{name: "summaries", columns: "turn_id, text, created_at"},
	{name: "shares", columns: "id, owner, thread_id, digest, title, content, created_at"},
	{name: "feedback", columns: "turn_id, owner, good, reason, created_at, updated_at, shared", flags: "good shared"},
	{name: "attachments", columns: "id, owner, thread_id, mime, bytes, created_at, data, address, space_id"},
	{name: "repos", columns: "thread_id, owner, version, sha256, updated_at, gzipped, bytes, address"},
	{name: "boards", columns: "id, owner, title, items, revision, bytes, created_at, updated_at, deleted_at, address, content"},
	{name: "spaces", columns: "id, name, everybody, links, instructions, agent, effort, tool_servers, created_at, deleted_at", flags: "everybody links"},
	{name: "space_members", columns: "space_id, kind, member, role, added_by, added_at"},
	{name: "person_groups", columns: "owner, name, until"},
	{name: "documents", columns: "id, owner, title, title_folded, named, other_names, title_words, other_words, status, source_type, external_id, bytes, chunks, progress, error, created_at, format, source_url, source_version, address, name, pages, unread_pages, embedding, language, terms_version, thread_id, added_by, deleted_at", flags: "named"},
	{name: "imports", columns: "id, owner, thread_id, turn_id, key, source_type, external_id, resource_key, url, state, outcome, name, remote, doc_id, chunks, code, message, announce, address, created_at, updated_at"},
	{name: "raw_documents", columns: "doc_id, raw"},
	{name: "scans", columns: "doc_id, page, text"},
	{name: "document_texts", columns: "doc_id, text", source: "d.id, e.text FROM documents d JOIN editions e ON e.id = d.edition"},
	{name: "document_sets", columns: "seq, id, owner, name, address", serial: "seq"},
	{name: "set_documents", columns: "set_id, position, doc_id"},
}

// indexed are written by importChunks.
var indexed = []table{
	{name: "chunks", source: "* FROM chunks c JOIN documents d ON d.edition = c.edition"},
	{name: "chunk_vectors", source: "* FROM chunk_vectors v JOIN chunks c ON c.id = v.id JOIN documents d ON d.edition = c.edition"},
}

func all() []table { return append(moving[:len(moving):len(moving)], indexed...) }

func (t table) rows() string {
	if t.source != "" {
		return t.source
	}
	return t.columns + " FROM " + t.name
}

func (t table) copy(ctx context.Context, from *sql.Tx, to pgx.Tx) error {
	rows, err := from.QueryContext(ctx, "SELECT "+t.rows())
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns := strings.Split(t.columns, ", ")
	next := func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		return t.row(rows, columns)
	}
	if _, err := to.CopyFrom(ctx, pgx.Identifier{t.name}, columns, pgx.CopyFromFunc(next)); err != nil || t.serial == "" {
		return err
	}
	_, err = to.Exec(ctx, "SELECT setval(pg_get_serial_sequence($1, $2), max("+t.serial+")) FROM "+t.name, t.name, t.serial)
	return err
}

func (t table) row(rows *sql.Rows, columns []string) ([]any, error) {
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	for i, c := range columns {
		if slices.Contains(strings.Fields(t.flags), c) {
			row[i] = row[i] != int64(0)
		}
		if raw, _ := row[i].([]byte); c == "raw" {
			row[i] = record.Bytes(raw) // SQLite reads empty bytes as none
		}
	}
	return storable(row), nil
}

// importChunks copies the chunks and vectors of every document and indexes them
// for Postgres.
func (s *Store) importChunks(ctx context.Context, from *sql.Tx, to pgx.Tx) error {
	documents, err := from.QueryContext(ctx, "SELECT id, edition, language FROM documents WHERE edition > 0")
	if err != nil {
		return err
	}
	defer func() { _ = documents.Close() }()
	for documents.Next() {
		var id, lang string
		var edition int64
		if err := documents.Scan(&id, &edition, &lang); err != nil {
			return err
		}
		chunks, vectors, err := readChunks(ctx, from, edition)
		if err != nil {
			return err
		}
		words, err := s.insertChunks(ctx, plain{to}, id, lang, chunks, vectors)
		if err != nil {
			return err
		}
		if _, err := to.Exec(ctx, "UPDATE documents SET words = $2 WHERE id = $1", storableText(id), words); err != nil {
			return err
		}
	}
	return documents.Err()
}

func readChunks(ctx context.Context, from *sql.Tx, edition int64) (chunks []chat.Chunk, vectors [][]byte, err error) {
	rows, err := from.QueryContext(ctx, `SELECT c.text, c.heading, c.start_char, c.end_char, c.pages, v.vector
		FROM chunks c LEFT JOIN chunk_vectors v ON v.id = c.id WHERE c.edition = ? ORDER BY c.id`, edition)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c chat.Chunk
		var vector []byte
		var pages string
		if err := rows.Scan(&c.Text, &c.Heading, &c.Start, &c.End, &pages, &vector); err != nil {
			return nil, nil, err
		}
		c.Pages = record.Pages(pages)
		chunks, vectors = append(chunks, c), append(vectors, vector)
	}
	return chunks, vectors, rows.Err()
}

func compareCounts(ctx context.Context, from *sql.Tx, to pgx.Tx) ([]MovedRows, error) {
	var moved []MovedRows
	for _, t := range all() {
		var there, here int64
		if err := from.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT "+t.rows()+")").Scan(&there); err != nil {
			return nil, err
		}
		if err := to.QueryRow(ctx, "SELECT count(*) FROM "+t.name).Scan(&here); err != nil {
			return nil, err
		}
		if there != here {
			return nil, fmt.Errorf("%s: %d rows were read and %d written", t.name, there, here)
		}
		moved = append(moved, MovedRows{t.name, here})
	}
	return moved, nil
}
