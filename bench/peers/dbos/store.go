package main

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// store keeps documents and messages in Postgres.
type store struct{ pool *pgxpool.Pool }

const schema = `
	CREATE TABLE IF NOT EXISTS documents (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text NOT NULL);
	CREATE TABLE IF NOT EXISTS chunks (
		doc_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
		ordinal int NOT NULL, start_char int NOT NULL, end_char int NOT NULL, heading text NOT NULL, body text NOT NULL,
		search tsvector GENERATED ALWAYS AS (to_tsvector('english', heading || ' ' || body)) STORED,
		PRIMARY KEY (doc_id, ordinal));
	CREATE INDEX IF NOT EXISTS chunks_search ON chunks USING gin (search);
	CREATE TABLE IF NOT EXISTS messages (
		id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		thread_id text NOT NULL, turn_id text NOT NULL, role text NOT NULL, content text NOT NULL, citations jsonb,
		UNIQUE (turn_id, role));
	CREATE INDEX IF NOT EXISTS messages_thread ON messages (thread_id, id);`

func openStore(ctx context.Context, pool *pgxpool.Pool) (*store, error) {
	_, err := pool.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol)
	return &store{pool}, err
}

type upload struct {
	Title  string
	Chunks []struct {
		Ordinal       int
		Start, End    int
		Heading, Text string
	}
}

func (s *store) add(ctx context.Context, d upload) (id string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `INSERT INTO documents (title) VALUES ($1) RETURNING id::text`, d.Title).Scan(&id); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for _, c := range d.Chunks {
			batch.Queue(`INSERT INTO chunks (doc_id, ordinal, start_char, end_char, heading, body) VALUES ($1, $2, $3, $4, $5, $6)`,
				id, c.Ordinal, c.Start, c.End, c.Heading, c.Text)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	return id, err
}

type document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (s *store) titles(ctx context.Context, ids []string) ([]document, error) {
	rows, err := s.pool.Query(ctx, `SELECT id::text, title FROM documents WHERE id = ANY($1::uuid[])`, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[document])
}

type passage struct {
	DocID               string
	Ordinal, Start, End int
	Text, Title         string
}

const maxPassages = 20

func (s *store) search(ctx context.Context, question string, ids []string) ([]passage, error) {
	rows, err := s.pool.Query(ctx, `
		WITH asked AS (SELECT replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery AS query)
		SELECT c.doc_id::text, c.ordinal, c.start_char, c.end_char, c.body, d.title
		FROM chunks c JOIN documents d ON d.id = c.doc_id, asked
		WHERE c.doc_id = ANY($2::uuid[]) AND c.search @@ asked.query
		ORDER BY ts_rank_cd(c.search, asked.query) DESC, c.ordinal LIMIT $3`, question, ids, maxPassages)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[passage])
}

type said struct{ Role, Content string }

// recent returns the last n messages of a thread, oldest first.
func (s *store) recent(ctx context.Context, thread string, n int) ([]said, error) {
	rows, err := s.pool.Query(ctx, `SELECT role, content FROM messages WHERE thread_id = $1 ORDER BY id DESC LIMIT $2`, thread, n)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[said])
	slices.Reverse(list)
	return list, err
}

// save writes both messages of a turn; it is idempotent, because a step may run
// again.
func (s *store) save(ctx context.Context, m message, a answered) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO messages (thread_id, turn_id, role, content, citations)
		VALUES ($1, $2, 'user', $3, NULL), ($1, $2, 'assistant', $4, $5) ON CONFLICT DO NOTHING`,
		m.Thread, m.Turn, m.Message, a.Response, a.Citations)
	return err
}
