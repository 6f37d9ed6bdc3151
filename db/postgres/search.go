package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// The SQL below is not in queries/ because sqlc does not know the columns of
// unnest(tsvector), and because its methods read all rows into memory, which
// the vectors of many documents should not be.

// visible are the ready documents that $1 may see, all ($2 NULL) or those listed
// in $2.
const visible = `visible AS (SELECT d.id, d.chunks, d.words FROM documents d
	WHERE d.owner IN ($1, '*') AND d.status = 'ready' AND ($2::text[] IS NULL OR d.id = ANY($2::text[])))`

// few are the chunks of visible documents, where these are few; else none, for
// then the index is faster. The index knows words, not owners: it finds the chunks
// of all owners that have a word.
const few = `few AS MATERIALIZED (SELECT c.id, c.words, c.search, c.frequencies
	FROM visible v JOIN chunks c ON c.doc_id = v.id WHERE (SELECT sum(chunks) FROM visible) <= 5000)`

const (
	// ts_rank does not know how rare a word is and recalls less (bench/recall: .907
	// against .926), so this is BM25 with k1 = 1.2 and b = 0.75 (0.3 and 0.9 are
	// k1 * (1 - b) and k1 * b), its statistics those of what is visible. Ties: older
	// text first, then by place in it; rounded, because a sum depends on its order.
	rankText = `WITH ` + visible + `,
		corpus AS (SELECT sum(chunks)::float8 AS chunks, (sum(words) / greatest(sum(chunks), 1))::float8 AS average FROM visible),
		asked AS (SELECT t.lexeme, quote_literal(t.lexeme)::tsquery AS query FROM unnest(to_tsvector('palaver', $3)) t),
		` + few + `,
		found AS MATERIALIZED (
			SELECT f.id, f.words::float8 AS words, a.lexeme, (f.frequencies -> a.lexeme)::float8 AS frequency
			FROM few f JOIN asked a ON f.search @@ a.query
			UNION ALL
			SELECT c.id, c.words::float8, a.lexeme, (c.frequencies -> a.lexeme)::float8
			FROM asked a JOIN chunks c ON c.search @@ a.query JOIN visible v ON v.id = c.doc_id
			WHERE (SELECT sum(chunks) FROM visible) > 5000),
		weights AS (
			SELECT f.lexeme, ln(1 + (max(corpus.chunks) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
			FROM found f CROSS JOIN corpus GROUP BY f.lexeme)
		, ranked AS (SELECT f.id, round(sum(w.weight * f.frequency * 2.2::float8
			/ (f.frequency + 0.3::float8 + 0.9::float8 * f.words / corpus.average))::numeric, 9)::float8 AS score
		FROM found f JOIN weights w ON w.lexeme = f.lexeme CROSS JOIN corpus
		GROUP BY f.id ORDER BY score DESC, f.id LIMIT $4)
		SELECT d.id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, r.score
		FROM ranked r JOIN chunks c ON c.id = r.id JOIN documents d ON d.id = c.doc_id
		ORDER BY r.score DESC, r.id`

	countWords = `WITH ` + visible + `, ` + few + `
		SELECT coalesce(sum(v.chunks), 0)::bigint FROM visible v
		UNION ALL (
		SELECT (SELECT count(*) FROM few f WHERE f.search @@ phraseto_tsquery('palaver', w.word))
			+ (SELECT count(*) FROM chunks c JOIN visible v ON v.id = c.doc_id
				WHERE c.search @@ phraseto_tsquery('palaver', w.word) AND (SELECT sum(chunks) FROM visible) > 5000)
		FROM unnest($3::text[]) WITH ORDINALITY AS w (word, n) ORDER BY w.n)`

	readVectors = `WITH ` + visible + `
		SELECT v.id, v.vector FROM visible d JOIN chunks c ON c.doc_id = d.id JOIN chunk_vectors v ON v.id = c.id
		WHERE length(v.vector) = $3`
)

func (s *Store) SearchText(ctx context.Context, owner string, words []string, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.large(ctx, "search text")
	defer end(&err)
	query, n := terms(strings.Join(record.Words(words), " "))
	if n == 0 || k < 1 {
		return nil, nil
	}
	rows, err := s.query(ctx, rankText, owner, docIDs, query, k)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h chat.Hit, err error) {
		var r sqlcgen.ChunksByKeyRow
		var score float64
		err = row.Scan(&r.DocID, &r.Title, &r.Ordinal, &r.Text, &r.StartChar, &r.EndChar, &r.Heading, &r.ID, &score)
		h = hit(r)
		h.Score = score
		return h, err
	})
}

func (s *Store) WordCounts(ctx context.Context, owner string, words []string) (_ map[string]int, total int, err error) {
	ctx, end := s.large(ctx, "count words")
	defer end(&err)
	words = record.Words(words)
	asked := make([]string, len(words))
	for i, w := range words {
		asked[i], _ = terms(w)
	}
	rows, err := s.query(ctx, countWords, owner, []string(nil), asked)
	if err != nil {
		return nil, 0, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, 0, err
	}
	counts := make(map[string]int, len(words))
	for i, n := range list[1:] { // after the number of chunks
		counts[words[i]] = n
	}
	return counts, list[0], nil
}

func (s *Store) SearchVector(ctx context.Context, owner string, meaning []float32, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.large(ctx, "search vectors")
	defer end(&err)
	query := vector.Unit(meaning)
	if query == nil || k < 1 {
		return nil, nil
	}
	rows, err := s.query(ctx, readVectors, owner, docIDs, 4*len(query))
	if err != nil {
		return nil, err
	}
	best := vector.Best{Most: k}
	var id int64
	var encoded pgtype.DriverBytes // valid until the next row
	_, err = pgx.ForEachRow(rows, []any{&id, &encoded}, func() error {
		best.Offer(vector.Scored{ID: id, Score: vector.Dot(query, encoded)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.hits(ctx, owner, best.Ranking())
}

func (s *Store) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return plain{s.pool}.Query(ctx, sql, args...)
}

// hits reads the chunks of a ranking. One deleted since is left out.
func (s *Store) hits(ctx context.Context, owner string, ranking []vector.Scored) ([]chat.Hit, error) {
	ids := make([]int64, len(ranking))
	scores := make(map[int64]float64, len(ranking))
	for i, r := range ranking {
		ids[i] = r.ID
		scores[r.ID] = r.Score
	}
	rows, err := s.q.ChunksByInternalID(ctx, sqlcgen.ChunksByInternalIDParams{Owner: owner, Ids: ids})
	return inOrder(ids, rows, func(r sqlcgen.ChunksByInternalIDRow) int64 { return r.ID },
		func(r sqlcgen.ChunksByInternalIDRow) chat.Hit {
			h := hit(sqlcgen.ChunksByKeyRow(r))
			h.Score = scores[r.ID]
			return h
		}), err
}
