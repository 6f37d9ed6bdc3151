package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/vector"
)

// The SQL below is not in queries/ because sqlc does not support the hidden rowid
// column and rank function of an FTS5 table, and because its methods read all rows
// into memory, which is too much for the vectors of many documents.

// visibleEditions are the editions that owner ?1 may see, all (?2 NULL) or those
// of the documents listed in ?2.
const visibleEditions = `(SELECT d.edition FROM documents d WHERE d.owner IN (?1, '*') AND d.status = 'ready' AND d.edition > 0
	AND (?2 IS NULL OR d.id IN (SELECT j.value FROM json_each(?2) j)))`

const (
	indexChunk = `INSERT INTO chunk_index (rowid, text, heading) VALUES (?1, ?2, ?3)`

	// A word in the heading counts half of one in the text. Ties: older text
	// first, then by place in it.
	rankText = `SELECT rowid, -bm25(chunk_index, 1.0, 0.5) AS score FROM chunk_index
		WHERE chunk_index MATCH ?3 AND (rowid >> 20) IN ` + visibleEditions + `
		ORDER BY score DESC, rowid LIMIT CAST(?4 AS INTEGER)`

	countWords = `SELECT (SELECT count(*) FROM chunk_index
			WHERE chunk_index MATCH w.value AND (rowid >> 20) IN ` + visibleEditions + `)
		FROM json_each(?3) w ORDER BY w.key`

	readVectors = `SELECT v.id, v.vector FROM documents d
		JOIN chunk_vectors v ON v.id >= d.edition << 20 AND v.id < (d.edition + 1) << 20
		WHERE d.edition IN ` + visibleEditions + ` AND length(v.vector) = ?3`
)

type searchStatements struct {
	index                       *sql.Stmt // on the writer
	rankText, counts, vectorsOf *sql.Stmt
}

func (p *searchStatements) prepare(ctx context.Context, writer, reader *sql.DB) (err error) {
	for _, s := range []struct {
		into **sql.Stmt
		pool *sql.DB
		text string
	}{
		{&p.index, writer, indexChunk}, {&p.rankText, reader, rankText},
		{&p.counts, reader, countWords}, {&p.vectorsOf, reader, readVectors},
	} {
		if *s.into, err = s.pool.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) SearchText(ctx context.Context, owner string, words []string, docIDs []string, k int) (_ []chat.Hit, err error) {
	defer s.wrap("search text", &err)
	query := anyOf(words)
	if query == "" || k < 1 {
		return nil, nil
	}
	rows, err := s.search.rankText.QueryContext(ctx, owner, nullableList(docIDs), query, k)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var best []vector.Scored
	for rows.Next() {
		var r vector.Scored
		if err := rows.Scan(&r.ID, &r.Score); err != nil {
			return nil, err
		}
		best = append(best, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return rules.Hits(ctx, queries{Queries: s.read}, owner, best)
}

func (s *Store) WordCounts(ctx context.Context, owner string, words []string) (_ map[string]int, total int, err error) {
	defer s.wrap("count words", &err)
	chunks, err := s.read.VisibleChunks(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	words = record.Words(words)
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	rows, err := s.search.counts.QueryContext(ctx, owner, nil, record.Strings(quoted))
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	counts := make(map[string]int, len(words))
	for i := 0; rows.Next(); i++ {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, 0, err
		}
		counts[words[i]] = n
	}
	return counts, int(chunks), rows.Err()
}

func (s *Store) SearchVector(ctx context.Context, owner string, meaning []float32, docIDs []string, k int) (_ []chat.Hit, err error) {
	defer s.wrap("search vectors", &err)
	query := vector.Unit(meaning)
	if query == nil || k < 1 {
		return nil, nil
	}
	rows, err := s.search.vectorsOf.QueryContext(ctx, owner, nullableList(docIDs), 4*len(query))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := vector.Best{Most: k}
	for rows.Next() {
		var id int64
		var encoded sql.RawBytes
		if err := rows.Scan(&id, &encoded); err != nil {
			return nil, err
		}
		best.Offer(vector.Scored{ID: id, Score: vector.Dot(query, encoded)})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return rules.Hits(ctx, queries{Queries: s.read}, owner, best.Ranking())
}

// anyOf is the FTS5 query for chunks with any of the words.
func anyOf(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range record.Words(words) {
		quoted = append(quoted, quote(w))
	}
	return strings.Join(quoted, " OR ")
}

// quote makes a word an FTS5 string, which has no operators. A NUL would end the
// query.
func quote(word string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "\x00", " ").Replace(word) + `"`
}

// nullableList is NULL for nil and JSON for a list, an empty one too.
func nullableList(ids []string) any {
	if ids == nil {
		return nil
	}
	return record.Strings(ids)
}
