package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/internal/language"
)

// The SQL below is not in queries/ because sqlc does not support the hidden rowid
// column and rank function of an FTS5 table, and because its methods read all rows
// into memory, which is too much for the vectors of many documents.

// visibleEditions are the editions of rules.Visible (Owners, ?1, with Authors, ?4, and Threads, ?3), all (?2 NULL), but for hidden
// samples and what belongs to other conversations, or those of the documents listed
// in ?2.
const visibleEditions = `(SELECT d.edition FROM documents d WHERE d.owner IN (SELECT w.value FROM json_each(?1) w) AND (d.owner NOT IN (SELECT w.value FROM json_each(?4) w) OR d.thread_id IN (SELECT w.value FROM json_each(?3) w)) AND d.status = 'ready' AND d.edition > 0
	AND (?2 IS NOT NULL OR d.owner <> '*' OR NOT EXISTS (SELECT 1 FROM profiles p WHERE p.owner = json_extract(?1, '$[0]') AND p.hide_samples))
	AND (?2 IS NOT NULL OR d.thread_id = '' OR d.thread_id IN (SELECT w.value FROM json_each(?3) w))
	AND (?2 IS NULL OR d.id IN (SELECT j.value FROM json_each(?2) j)))`

const (
	indexChunk = `INSERT OR REPLACE INTO chunk_index (rowid, text, heading) VALUES (?1, ?2, ?3)`

	// countIndexed counts the words of the chunks with ids from ?1 up to, but without, ?2.
	countIndexed = `SELECT coalesce(sum(palaver_words(z.sz)), 0) FROM chunk_index_docsize z WHERE z.id >= ?1 AND z.id < ?2`

	// readCorpus counts the visible chunks, their words and their documents, and lists the
	// languages of the documents.
	readCorpus = `SELECT coalesce(sum(d.chunks), 0), coalesce(sum(d.words), 0), count(*), json_group_array(DISTINCT d.language)
		FROM documents d WHERE d.edition IN ` + visibleEditions

	// readOccurrences reads the occurrences of the terms ?5 in visible chunks, by term and chunk.
	readOccurrences = `SELECT t.key, o.doc, o.col = 'heading', z.sz
		FROM json_each(?5) t CROSS JOIN chunk_words o CROSS JOIN chunk_index_docsize z
		WHERE o.term = t.value AND (o.doc >> 20) IN ` + visibleEditions + ` AND z.id = o.doc`

	// readNames reads which of the terms ?5 stand in the names of visible documents.
	readNames = `SELECT t.key, n.doc, min(n.col = 'further')
		FROM json_each(?5) t CROSS JOIN name_words n
		WHERE n.term = t.value AND n.doc IN ` + visibleEditions + ` GROUP BY t.key, n.doc`

	countWords = `SELECT (SELECT count(*) FROM chunk_index
			WHERE chunk_index MATCH w.value AND (rowid >> 20) IN ` + visibleEditions + `)
		FROM json_each(?5) w ORDER BY w.key`

	// readVectors reads the vectors of the newest visible documents, ?6 at most.
	readVectors = `SELECT v.id, v.vector FROM (
			SELECT d.edition, sum(d.chunks) OVER (ORDER BY d.created_at DESC, d.id DESC) - d.chunks AS newer
			FROM documents d WHERE d.edition IN ` + visibleEditions + `) d
		CROSS JOIN chunk_vectors v ON v.id >= d.edition << 20 AND v.id < (d.edition + 1) << 20
		WHERE d.newer < ?6 AND length(v.vector) = ?5 LIMIT CAST(?6 AS INTEGER)`
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
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, nil
	}
	var best []vector.Scored
	err = inTx(ctx, s.reader, func(tx *sql.Tx) error { // all numbers are of one state of the database
		langs, found, err := s.readCorpus(ctx, tx, see, docIDs)
		if err != nil || found.chunks == 0 {
			return err
		}
		groups := record.Groups(words, langs)
		if len(groups) == 0 {
			return nil
		}
		if err := s.readMatches(ctx, tx, see, docIDs, termsOf(groups), &found); err != nil {
			return err
		}
		best = found.rank(groups, k)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.Ranked(ctx, queries{Queries: s.read}, see, best)
}

// readCorpus reads the languages and the statistics of the documents that the owner may see.
func (s *Store) readCorpus(ctx context.Context, tx *sql.Tx, see rules.Visible, docIDs []string) (langs []string, m matches, err error) {
	var words float64
	var listed string
	err = tx.StmtContext(ctx, s.search.corpus).QueryRowContext(ctx, record.Strings(see.Owners()), nullableList(docIDs), record.Strings(see.Threads()), record.Strings(see.Authors())).Scan(&m.chunks, &words, &m.documents, &listed)
	if err == nil {
		err = json.Unmarshal([]byte(listed), &langs)
	}
	m.average = max(words, 1) / max(m.chunks, 1) // 0 words: all chunks consist of punctuation
	return langs, m, err
}

// termsOf returns all terms of the groups, each once.
func termsOf(groups []record.Group) []string {
	var terms []string
	for _, g := range groups {
		terms = append(terms, g.Term)
		for _, a := range g.Alike {
			terms = append(terms, a.Term)
		}
	}
	return language.Distinct(terms)
}

// readMatches reads the occurrences of the terms in the chunks that the owner may see.
func (s *Store) readMatches(ctx context.Context, tx *sql.Tx, see rules.Visible, docIDs, terms []string, m *matches) error {
	visible := nullableList(docIDs)
	rows, err := tx.StmtContext(ctx, s.search.occurrences).QueryContext(ctx, record.Strings(see.Owners()), visible, record.Strings(see.Threads()), record.Strings(see.Authors()), record.Strings(terms))
	if err != nil {
		return err
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
			return err
		}
		m.add(term, chunk, inHeading, sizes)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.readNames(ctx, tx, see, visible, m)
}

// readNames reads the names that have the terms of m.
func (s *Store) readNames(ctx context.Context, tx *sql.Tx, see rules.Visible, visible any, m *matches) error {
	rows, err := tx.StmtContext(ctx, s.search.names).QueryContext(ctx, record.Strings(see.Owners()), visible, record.Strings(see.Threads()), record.Strings(see.Authors()), record.Strings(m.terms))
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
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	counts := make(map[string]int, len(words))
	err = inTx(ctx, s.reader, func(tx *sql.Tx) error {
		langs, m, err := s.readCorpus(ctx, tx, see, nil)
		if err != nil {
			return err
		}
		total = int(m.chunks)
		return s.countWords(ctx, tx, see, record.Words(words), langs, counts)
	})
	return counts, total, err
}

// countWords sets in how many visible chunks each of the words occurs.
func (s *Store) countWords(ctx context.Context, tx *sql.Tx, see rules.Visible, words, langs []string, counts map[string]int) error {
	asked := make([]string, len(words))
	for i, w := range words {
		if asked[i] = record.Match(w, langs, " AND ", " OR ", quote); asked[i] == "" {
			asked[i] = `""` // matches nothing
		}
	}
	rows, err := tx.StmtContext(ctx, s.search.counts).QueryContext(ctx, record.Strings(see.Owners()), nil, record.Strings(see.Threads()), record.Strings(see.Authors()), record.Strings(asked))
	if err != nil {
		return err
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var n int
		if err := rows.Scan(&n); err != nil {
			return err
		}
		counts[words[i]] = n
	}
	return rows.Err()
}

func (s *Store) SearchVector(ctx context.Context, owner string, meaning []float32, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.Call(ctx, "search vectors", rules.Long)
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	query := vector.Unit(meaning)
	if query == nil || k < 1 {
		return nil, nil
	}
	rows, err := s.search.vectorsOf.QueryContext(ctx, record.Strings(see.Owners()), nullableList(docIDs), record.Strings(see.Threads()), record.Strings(see.Authors()), 4*len(query), s.compared)
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
	return s.Ranked(ctx, queries{Queries: s.read}, see, best.Ranking())
}

// VectorSearch says how vectors are searched.
func (s *Store) VectorSearch() string {
	return fmt.Sprintf("exact: SQLite has no index of vectors; at most %d passages are compared", s.compared)
}

// IndexVectors does nothing.
func (s *Store) IndexVectors(context.Context) error { return nil }

// quote makes a term, which has no quotation marks, an FTS5 string.
func quote(term string) string { return `"` + term + `"` }

// nullableList returns NULL for nil, and JSON for a list, also for an empty one.
func nullableList(ids []string) any {
	if ids == nil {
		return nil
	}
	return record.Strings(ids)
}
