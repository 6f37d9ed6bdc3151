package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
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

	// countIndexed counts the words of the chunks with ids from ?1 up to, but without, ?2.
	countIndexed = `SELECT coalesce(sum(palaver_words(z.sz)), 0) FROM chunk_index_docsize z WHERE z.id >= ?1 AND z.id < ?2`

	// readCorpus counts the visible chunks, their words and their documents.
	readCorpus = `SELECT coalesce(sum(d.chunks), 0), coalesce(sum(d.words), 0), count(*)
		FROM documents d WHERE d.edition IN ` + visibleEditions

	// readOccurrences reads the occurrences of the terms ?3 in visible chunks, by term and chunk.
	readOccurrences = `SELECT t.key, o.doc, o.col = 'heading', z.sz
		FROM json_each(?3) t CROSS JOIN chunk_words o CROSS JOIN chunk_index_docsize z
		WHERE o.term = t.value AND (o.doc >> 20) IN ` + visibleEditions + ` AND z.id = o.doc`

	// readNames reads which of the terms ?3 stand in the names of visible documents.
	readNames = `SELECT t.key, n.doc, min(n.col = 'further')
		FROM json_each(?3) t CROSS JOIN name_words n
		WHERE n.term = t.value AND n.doc IN ` + visibleEditions + ` GROUP BY t.key, n.doc`

	countWords = `SELECT (SELECT count(*) FROM chunk_index
			WHERE chunk_index MATCH w.value AND (rowid >> 20) IN ` + visibleEditions + `)
		FROM json_each(?3) w ORDER BY w.key`

	// readVectors reads the vectors of the newest visible documents, ?4 at most.
	readVectors = `SELECT v.id, v.vector FROM (
			SELECT d.edition, sum(d.chunks) OVER (ORDER BY d.created_at DESC, d.id DESC) - d.chunks AS newer
			FROM documents d WHERE d.edition IN ` + visibleEditions + `) d
		CROSS JOIN chunk_vectors v ON v.id >= d.edition << 20 AND v.id < (d.edition + 1) << 20
		WHERE d.newer < ?4 AND length(v.vector) = ?3 LIMIT CAST(?4 AS INTEGER)`
)

type searchStatements struct {
	index, words                                  *sql.Stmt // on the writer
	corpus, occurrences, names, counts, vectorsOf *sql.Stmt
}

func (p *searchStatements) prepare(ctx context.Context, writer, reader *sql.DB) (err error) {
	for _, s := range []struct {
		into **sql.Stmt
		pool *sql.DB
		text string
	}{
		{&p.index, writer, indexChunk}, {&p.words, writer, countIndexed},
		{&p.corpus, reader, readCorpus}, {&p.occurrences, reader, readOccurrences}, {&p.names, reader, readNames},
		{&p.counts, reader, countWords}, {&p.vectorsOf, reader, readVectors},
	} {
		if *s.into, err = s.pool.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.Call(ctx, "search text", rules.Long)
	defer end(&err)
	if k < 1 {
		return nil, nil
	}
	flat := record.Alike(words)
	for i, text := range flat.Texts {
		flat.Texts[i] = record.Indexed(text)
	}
	terms, err := s.tokenizer.terms(ctx, flat.Texts)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	var best []vector.Scored
	err = inTx(ctx, s.reader, func(tx *sql.Tx) error { // all numbers are of one state of the database
		found, err := s.readMatches(ctx, tx, owner, docIDs, distinct(terms))
		if err == nil && found.found != nil {
			best = found.rank(groups(flat, terms), k)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Hits(ctx, queries{Queries: s.read}, owner, best)
}

// readMatches reads the occurrences of the terms in the chunks that the owner may see.
func (s *Store) readMatches(ctx context.Context, tx *sql.Tx, owner string, docIDs, terms []string) (m matches, err error) {
	visible := nullableList(docIDs)
	var words float64
	err = tx.StmtContext(ctx, s.search.corpus).QueryRowContext(ctx, owner, visible).Scan(&m.chunks, &words, &m.documents)
	if err != nil || m.chunks == 0 {
		return m, err
	}
	m.average = max(words, 1) / m.chunks // 0 words: all chunks consist of punctuation
	rows, err := tx.StmtContext(ctx, s.search.occurrences).QueryContext(ctx, owner, visible, record.Strings(terms))
	if err != nil {
		return m, err
	}
	defer rows.Close()
	m.terms, m.found = terms, make([][]match, len(terms))
	for rows.Next() {
		var (
			term      int
			chunk     int64
			inHeading bool
			sizes     sql.RawBytes
		)
		if err := rows.Scan(&term, &chunk, &inHeading, &sizes); err != nil {
			return m, err
		}
		m.add(term, chunk, inHeading, sizes)
	}
	if err := rows.Err(); err != nil {
		return m, err
	}
	return m, s.readNames(ctx, tx, owner, visible, &m)
}

// readNames reads the names that have the terms of m.
func (s *Store) readNames(ctx context.Context, tx *sql.Tx, owner string, visible any, m *matches) error {
	rows, err := tx.StmtContext(ctx, s.search.names).QueryContext(ctx, owner, visible, record.Strings(m.terms))
	if err != nil {
		return err
	}
	defer rows.Close()
	m.named = make([][]nameMatch, len(m.terms))
	for rows.Next() {
		var term int
		var n nameMatch
		if err := rows.Scan(&term, &n.edition, &n.other); err != nil {
			return err
		}
		m.named[term] = append(m.named[term], n)
	}
	return rows.Err()
}

func (s *Store) WordCounts(ctx context.Context, owner string, words []string) (_ map[string]int, total int, err error) {
	ctx, end := s.Call(ctx, "count words", rules.Long)
	defer end(&err)
	chunks, err := s.read.VisibleChunks(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	words = record.Words(words)
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(norm.NFC.String(w))
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
	ctx, end := s.Call(ctx, "search vectors", rules.Long)
	defer end(&err)
	query := vector.Unit(meaning)
	if query == nil || k < 1 {
		return nil, nil
	}
	rows, err := s.search.vectorsOf.QueryContext(ctx, owner, nullableList(docIDs), 4*len(query), s.compared)
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
	return s.Hits(ctx, queries{Queries: s.read}, owner, best.Ranking())
}

// VectorSearch says how vectors are searched.
func (s *Store) VectorSearch() string {
	return fmt.Sprintf("exact: SQLite has no index of vectors; at most %d passages are compared", s.compared)
}

// IndexVectors does nothing.
func (s *Store) IndexVectors(context.Context) error { return nil }

// quote makes a word an FTS5 string, which has no operators. A NUL would end the
// query.
func quote(word string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "\x00", " ").Replace(word) + `"`
}

// nullableList returns NULL for nil, and JSON for a list, also for an empty one.
func nullableList(ids []string) any {
	if ids == nil {
		return nil
	}
	return record.Strings(ids)
}
