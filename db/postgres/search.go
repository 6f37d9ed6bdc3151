package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
)

// The SQL below is not in queries/ because sqlc does not know the columns of
// unnest(tsvector), and because its methods read all rows into memory, which
// the vectors of many documents should not be.

// visible are the ready documents of rules.Visible (Owners, $1, with Authors, $4, and Threads, $3), all ($2 NULL), but for hidden
// samples and what belongs to other conversations, or those listed in $2.
const (
	visible = `visible AS (SELECT d.id, d.chunks, d.words, d.names, d.language FROM documents d WHERE ` + isVisible + `)`

	isVisible = `d.owner = ANY($1::text[]) AND (d.owner <> ALL($4::text[]) OR d.thread_id = ANY($3::text[])) AND d.status = 'ready' AND ($2::text[] IS NULL OR d.id = ANY($2::text[]))
		AND ($2::text[] IS NOT NULL OR d.owner <> '*' OR NOT EXISTS (SELECT 1 FROM profiles p WHERE p.owner = ($1::text[])[1] AND p.hide_samples))
		AND ($2::text[] IS NOT NULL OR d.thread_id = '' OR d.thread_id = ANY($3::text[]))`
)

// smallCorpus is the most visible chunks that a search reads one by one. If there
// are more, it asks the index for those with a word. The index knows words, not
// owners: it returns the chunks of all owners that have the word.
const smallCorpus = 5000

// readSmall and readLarge pair the visible chunks c with the words a of asked that
// they have. OFFSET 0 keeps the joins in the order in which they are written. The
// planner would order them by statistics, which are out of date after many uploads,
// and could scan the index once per document (TestSearchScansTheIndexOncePerWord).
var (
	// readSmall returns nothing if there are more chunks than smallCorpus. setweight changes
	// nothing here: its result is decompressed once, c.search once per word.
	readSmall = `visible v
		CROSS JOIN LATERAL (SELECT c.id, c.doc_id, c.words, c.frequencies, setweight(c.search, 'A', '{}') AS search
			FROM chunks c WHERE c.doc_id = v.id OFFSET 0) c
		CROSS JOIN LATERAL (SELECT a.* FROM asked a WHERE c.search @@ a.query OFFSET 0) a
		WHERE (SELECT sum(chunks) FROM visible) <= ` + strconv.Itoa(smallCorpus)

	// IS TRUE makes the planner look up documents in a hash table. As a join, with statistics out of
	// date, it could read all documents of the owner for each chunk.
	readLarge = `asked a
		CROSS JOIN LATERAL (SELECT c.id, c.words, c.frequencies, c.doc_id FROM chunks c
			WHERE c.search @@ a.query AND (c.doc_id IN (SELECT v.id FROM visible v)) IS TRUE OFFSET 0) c`
)

// readCorpus counts the visible chunks, and lists the languages of their documents.
const readCorpus = `(SELECT coalesce(sum(v.chunks), 0)::bigint AS chunks, coalesce(array_agg(DISTINCT v.language), '{}') AS languages FROM visible v) k`

// rankText returns the SQL of a search. Each row has the corpus; without a hit, one row has only that.
//
// ts_rank does not know how rare a word is and recalls less (bench/recall: .907
// against .926), so this is BM25 with k1 = 1.2 and b = 0.75 (0.3 and 0.9 are
// k1 * (1 - b) and k1 * b), with the statistics of the visible chunks. Ties: older text
// first, then by place in it. Scores are rounded, because a sum depends on its order. $5, $7
// and $8 are the terms of the groups (record.Group), the terms that count as them, and their
// weights; for each group, the best score counts. Names score as in db/sqlite: $9 and $10 are
// record.NameWeight and record.OtherNameShare.
func rankText(read string) string {
	return `WITH ` + visible + `,
		corpus AS (SELECT coalesce(sum(chunks), 0)::float8 AS chunks, count(*)::float8 AS documents, (sum(words) / greatest(sum(chunks), 1))::float8 AS average FROM visible),
		pairs AS MATERIALIZED (SELECT p.term, p.lexeme, p.weight FROM unnest($5::text[], $7::text[], $8::float8[]) AS p (term, lexeme, weight)),
		asked AS MATERIALIZED (SELECT p.lexeme, quote_literal(p.lexeme)::tsquery AS query FROM pairs p GROUP BY p.lexeme),
		found AS MATERIALIZED (
			SELECT c.id, c.doc_id, c.words::float8 AS words, a.lexeme, (c.frequencies -> a.lexeme)::float8 AS frequency FROM ` + read + `),
		weights AS (
			SELECT f.lexeme, ln(1 + (max(corpus.chunks) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
			FROM found f CROSS JOIN corpus GROUP BY f.lexeme),
		scored AS (SELECT f.id, max(p.weight * least(w.weight, t.weight) * f.frequency * 2.2::float8
			/ (f.frequency + 0.3::float8 + 0.9::float8 * f.words / corpus.average)) AS score
		FROM found f JOIN weights w ON w.lexeme = f.lexeme JOIN pairs p ON p.lexeme = f.lexeme
			LEFT JOIN weights t ON t.lexeme = p.term CROSS JOIN corpus
		GROUP BY f.id, p.term),
		named AS MATERIALIZED (
			SELECT v.id AS doc_id, a.lexeme, CASE WHEN v.names @@ (a.query::text || ':A')::tsquery THEN 1 ELSE $10::float8 END AS share
			FROM visible v JOIN asked a ON v.names @@ a.query),
		rarities AS (
			SELECT a.lexeme, ln(1 + (max(corpus.documents) - count(n.lexeme) + 0.5) / (count(n.lexeme) + 0.5)) AS weight
			FROM asked a LEFT JOIN named n ON n.lexeme = a.lexeme CROSS JOIN corpus GROUP BY a.lexeme),
		names AS (SELECT n.doc_id, sum(n.score) AS score FROM (
			SELECT n.doc_id, p.term, max($9::float8 * p.weight * least(r.weight, t.weight) * n.share) AS score
			FROM named n JOIN pairs p ON p.lexeme = n.lexeme JOIN rarities r ON r.lexeme = n.lexeme JOIN rarities t ON t.lexeme = p.term
			GROUP BY n.doc_id, p.term) n GROUP BY n.doc_id),
		ranked AS (SELECT f.id, round(sum(f.score)::numeric, 9)::float8 AS score FROM (
			SELECT s.id, s.score FROM scored s
			UNION ALL SELECT f.id, n.score FROM (SELECT DISTINCT id, doc_id FROM found) f JOIN names n ON n.doc_id = f.doc_id
			UNION ALL SELECT c.id, n.score FROM names n JOIN chunks c ON c.doc_id = n.doc_id AND c.ordinal = 0
				WHERE NOT EXISTS (SELECT FROM found f WHERE f.doc_id = n.doc_id)) f
		GROUP BY f.id ORDER BY score DESC, f.id LIMIT $6)
		SELECT k.chunks, k.languages, coalesce(d.id, ''), coalesce(d.title, ''), coalesce(c.ordinal, 0), coalesce(c.text, ''), coalesce(c.start_char, 0),
			coalesce(c.end_char, 0), coalesce(c.heading, ''), coalesce(c.id, 0), coalesce(c.pages, ''), coalesce(d.owner, ''), coalesce(d.language, ''),
			(SELECT count(*) FROM documents o WHERE o.owner = ANY($1::text[]) AND (o.owner <> ALL($4::text[]) OR o.thread_id = ANY($3::text[])) AND o.title_folded = d.title_folded AND o.id <> d.id) > 0, coalesce(r.score, 0)
		FROM ` + readCorpus + ` LEFT JOIN (ranked r JOIN chunks c ON c.id = r.id JOIN documents d ON d.id = c.doc_id) ON true
		ORDER BY r.score DESC, r.id`
}

// countWords returns the SQL that returns the corpus and, for each query, how many of its chunks it
// matches.
func countWords(read string) string {
	return `WITH ` + visible + `,
		asked AS MATERIALIZED (SELECT w.n, w.word::tsquery AS query FROM unnest($5::text[]) WITH ORDINALITY AS w (word, n)),
		found AS MATERIALIZED (SELECT a.n FROM ` + read + `)
		SELECT k.chunks, k.languages, ARRAY(SELECT count(f.n) FROM asked a LEFT JOIN found f ON f.n = a.n GROUP BY a.n ORDER BY a.n) FROM ` + readCorpus
}

var (
	rankSmall, rankLarge   = rankText(readSmall), rankText(readLarge)
	countSmall, countLarge = countWords(readSmall), countWords(readLarge)
)

func (s *Store) SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.Call(ctx, "search text", rules.Long)
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, err
	}
	if k < 1 || len(words) == 0 {
		return nil, nil
	}
	hits, err := search(s, see, docIDs, rankSmall, rankLarge, func(statement string, known corpus) ([]rules.HitRow, corpus, error) {
		own, alike, weights := pairs(record.Groups(words, known.languages))
		return s.rank(ctx, statement, see.Owners(), docIDs, see.Threads(), see.Authors(), own, k, alike, weights, record.NameWeight, record.OtherNameShare)
	})
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	return s.Hits(ctx, queries{s.q}, see, hits)
}

// corpus is what a search must know of the visible documents.
type corpus struct {
	chunks    int
	languages []string
}

// corpora remembers the corpora of the last searches, by owner, conversation and documents.
type corpora struct {
	mu     sync.Mutex
	last   map[string]corpus
	latest []string // languages
}

const (
	maxCorpora   = 1000
	maxCorpusTry = 3 // statements of one search, while documents arrive
)

// search runs the statement that suits the corpus. It assumes that the corpus is the one of the last
// search; the statement says what it really is, and runs again if that makes a difference.
func search[R any](s *Store, see rules.Visible, docIDs []string, small, large string, run func(statement string, known corpus) (R, corpus, error)) (R, error) {
	key := record.Digest(strings.Join(slices.Concat(see.Owners(), see.Threads()), "\x00") + "\x00" + strings.Join(docIDs, "\x00"))
	s.corpora.mu.Lock()
	known, searched := s.corpora.last[key]
	if !searched {
		// Most libraries of an installation have the same languages. The statement for few chunks
		// ends at once if there are many.
		known.languages = s.corpora.latest
	}
	s.corpora.mu.Unlock()
	for try := 1; ; try++ {
		statement := small
		if known.chunks > smallCorpus {
			statement = large
		}
		out, is, err := run(statement, known)
		if err != nil {
			return out, err
		}
		if slices.Equal(is.languages, known.languages) && (is.chunks > smallCorpus) == (known.chunks > smallCorpus) || try == maxCorpusTry {
			s.corpora.mu.Lock()
			defer s.corpora.mu.Unlock()
			if s.corpora.last == nil || len(s.corpora.last) >= maxCorpora {
				s.corpora.last = map[string]corpus{}
			}
			s.corpora.last[key], s.corpora.latest = is, is.languages
			return out, nil
		}
		known = is
	}
}

// pairs lists the terms of groups, beside the terms that count as them with their weights.
func pairs(groups []record.Group) (own, alike []string, weights []float64) {
	for _, g := range groups {
		for _, a := range append([]record.Alike{{Term: g.Term, Weight: 1}}, g.Alike...) {
			own, alike, weights = append(own, g.Term), append(alike, a.Term), append(weights, a.Weight)
		}
	}
	return own, alike, weights
}

func (s *Store) rank(ctx context.Context, sql string, args ...any) (hits []rules.HitRow, is corpus, err error) {
	rows, err := s.query(ctx, sql, args...)
	if err != nil {
		return nil, is, err
	}
	hits, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r rules.HitRow, err error) {
		err = row.Scan(&is.chunks, &is.languages, &r.DocID, &r.Title, &r.Ordinal, &r.Text, &r.StartChar, &r.EndChar, &r.Heading, &r.ID, &r.Pages, &r.Owner, &r.Language, &r.Twin, &r.Score)
		return r, err
	})
	if len(hits) == 1 && hits[0].DocID == "" {
		hits = nil
	}
	return hits, is, err
}

func (s *Store) WordCounts(ctx context.Context, owner string, words []string) (_ map[string]int, total int, err error) {
	ctx, end := s.Call(ctx, "count words", rules.Long)
	defer end(&err)
	see, err := s.Visible(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	words = record.Words(words)
	list, err := search(s, see, nil, countSmall, countLarge, func(statement string, known corpus) (list []int, is corpus, err error) {
		asked := make([]string, len(words))
		for i, w := range words {
			asked[i] = record.Match(w, known.languages, " & ", " | ", quote)
		}
		list, is, err = s.count(ctx, statement, see.Owners(), []string(nil), see.Threads(), see.Authors(), asked)
		total = is.chunks
		return list, is, err
	})
	if err != nil {
		return nil, 0, err
	}
	counts := make(map[string]int, len(words))
	for i, n := range list {
		counts[words[i]] = n
	}
	return counts, total, nil
}

// quote quotes a term, which has no quotation marks, for a tsquery.
func quote(term string) string { return "'" + term + "'" }

func (s *Store) count(ctx context.Context, sql string, args ...any) (list []int, is corpus, err error) {
	rows, err := s.query(ctx, sql, args...)
	if err != nil {
		return nil, is, err
	}
	_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, row.Scan(&is.chunks, &is.languages, &list)
	})
	return list, is, err
}

func (s *Store) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return plain{s.pool}.Query(ctx, sql, args...)
}
