package postgres

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// The SQL below is not in queries/ because sqlc does not know the columns of
// unnest(tsvector), and because its methods read all rows into memory, which
// the vectors of many documents should not be.

// visible are the ready documents that $1 may see, all ($2 NULL) or those listed
// in $2.
const (
	visible = `visible AS (SELECT d.id, d.chunks, d.words, d.names FROM documents d WHERE ` + isVisible + `)`

	isVisible = `d.owner IN ($1, '*') AND d.status = 'ready' AND ($2::text[] IS NULL OR d.id = ANY($2::text[]))`
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
	// readSmall returns nothing if there are more chunks than smallCorpus. setweight
	// changes nothing here: its result is decompressed once, c.search once per word.
	readSmall = `visible v
		CROSS JOIN LATERAL (SELECT c.id, c.doc_id, c.words, c.frequencies, setweight(c.search, 'A', '{}') AS search
			FROM chunks c WHERE c.doc_id = v.id OFFSET 0) c
		CROSS JOIN LATERAL (SELECT a.* FROM asked a WHERE c.search @@ a.query OFFSET 0) a
		WHERE (SELECT sum(chunks) FROM visible) <= ` + strconv.Itoa(smallCorpus)

	readLarge = `asked a
		CROSS JOIN LATERAL (SELECT c.id, c.words, c.frequencies, c.doc_id FROM chunks c WHERE c.search @@ a.query OFFSET 0) c
		CROSS JOIN LATERAL (SELECT FROM documents d WHERE d.id = c.doc_id AND ` + isVisible + ` OFFSET 0) d`
)

// rankText returns the SQL of a search. Its first row has the number of visible chunks as
// its score; the hits follow.
//
// ts_rank does not know how rare a word is and recalls less (bench/recall: .907
// against .926), so this is BM25 with k1 = 1.2 and b = 0.75 (0.3 and 0.9 are
// k1 * (1 - b) and k1 * b), with the statistics of the visible chunks. Ties: older text
// first, then by place in it. Scores are rounded, because a sum depends on its order. $3 to
// $6 are the words and those similar to them (record.Flat); for each word, the best score
// of the word and its similar words counts. Names score as in db/sqlite: $7 and $8 are
// record.NameWeight and record.OtherNameShare.
func rankText(read string) string {
	return `WITH ` + visible + `,
		corpus AS (SELECT coalesce(sum(chunks), 0)::float8 AS chunks, count(*)::float8 AS documents, (sum(words) / greatest(sum(chunks), 1))::float8 AS average FROM visible),
		said AS MATERIALIZED (
			SELECT s.n, s.word, s.weight, t.lexeme FROM unnest($3::text[], $5::int[], $6::float8[]) WITH ORDINALITY AS s (text, word, weight, n)
			CROSS JOIN LATERAL unnest(to_tsvector('palaver', s.text)) t),
		pairs AS (SELECT o.lexeme AS term, s.lexeme, max(s.weight) AS weight FROM said o JOIN said s ON s.word = o.n
			WHERE o.word = o.n AND (s.word <> s.n OR s.lexeme = o.lexeme) GROUP BY 1, 2),
		asked AS MATERIALIZED (SELECT s.lexeme, quote_literal(s.lexeme)::tsquery AS query FROM said s GROUP BY s.lexeme),
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
			SELECT v.id AS doc_id, a.lexeme, CASE WHEN v.names @@ (a.query::text || ':A')::tsquery THEN 1 ELSE $8::float8 END AS share
			FROM visible v JOIN asked a ON v.names @@ a.query),
		rarities AS (
			SELECT a.lexeme, ln(1 + (max(corpus.documents) - count(n.lexeme) + 0.5) / (count(n.lexeme) + 0.5)) AS weight
			FROM asked a LEFT JOIN named n ON n.lexeme = a.lexeme CROSS JOIN corpus GROUP BY a.lexeme),
		names AS (SELECT n.doc_id, sum(n.score) AS score FROM (
			SELECT n.doc_id, p.term, max($7::float8 * p.weight * least(r.weight, t.weight) * n.share) AS score
			FROM named n JOIN pairs p ON p.lexeme = n.lexeme JOIN rarities r ON r.lexeme = n.lexeme JOIN rarities t ON t.lexeme = p.term
			GROUP BY n.doc_id, p.term) n GROUP BY n.doc_id),
		ranked AS (SELECT f.id, round(sum(f.score)::numeric, 9)::float8 AS score FROM (
			SELECT s.id, s.score FROM scored s
			UNION ALL SELECT f.id, n.score FROM (SELECT DISTINCT id, doc_id FROM found) f JOIN names n ON n.doc_id = f.doc_id
			UNION ALL SELECT c.id, n.score FROM names n JOIN chunks c ON c.doc_id = n.doc_id AND c.ordinal = 0
				WHERE NOT EXISTS (SELECT FROM found f WHERE f.doc_id = n.doc_id)) f
		GROUP BY f.id ORDER BY score DESC, f.id LIMIT $4)
		SELECT '', '', 0, '', 0, 0, '', 0, '', corpus.chunks FROM corpus
		UNION ALL (
		SELECT d.id, d.title, c.ordinal, c.text, c.start_char, c.end_char, c.heading, c.id, c.pages, r.score
		FROM ranked r JOIN chunks c ON c.id = r.id JOIN documents d ON d.id = c.doc_id
		ORDER BY r.score DESC, r.id)`
}

// countWords returns the SQL that counts the visible chunks, and then, for each word, those
// that have it.
func countWords(read string) string {
	return `WITH ` + visible + `,
		asked AS MATERIALIZED (SELECT w.n, phraseto_tsquery('palaver', w.word) AS query FROM unnest($3::text[]) WITH ORDINALITY AS w (word, n)),
		found AS MATERIALIZED (SELECT a.n FROM ` + read + `)
		SELECT coalesce(sum(v.chunks), 0)::bigint FROM visible v
		UNION ALL (SELECT count(f.n) FROM asked a LEFT JOIN found f ON f.n = a.n GROUP BY a.n ORDER BY a.n)`
}

var (
	rankSmall, rankLarge   = rankText(readSmall), rankText(readLarge)
	countSmall, countLarge = countWords(readSmall), countWords(readLarge)
)

func (s *Store) SearchText(ctx context.Context, owner string, words []db.Word, docIDs []string, k int) (_ []chat.Hit, err error) {
	ctx, end := s.Call(ctx, "search text", rules.Long)
	defer end(&err)
	flat := record.Alike(words)
	n := 0
	for i, text := range flat.Texts {
		var inText int
		flat.Texts[i], inText = terms(text)
		flat.Word[i]++ // Postgres counts from 1
		n += inText
	}
	if n == 0 || k < 1 {
		return nil, nil
	}
	hits, err := s.rank(ctx, rankSmall, owner, docIDs, flat.Texts, k, flat.Word, flat.Weights, record.NameWeight, record.OtherNameShare)
	if err == nil && hits[0].Score > smallCorpus {
		hits, err = s.rank(ctx, rankLarge, owner, docIDs, flat.Texts, k, flat.Word, flat.Weights, record.NameWeight, record.OtherNameShare)
	}
	if err != nil {
		return nil, err
	}
	return hits[1:], s.LabelHits(ctx, owner, hits[1:])
}

func (s *Store) rank(ctx context.Context, sql string, args ...any) ([]chat.Hit, error) {
	rows, err := s.query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (chat.Hit, error) {
		var r sqlcgen.ChunksByKeyRow
		var score float64
		err := row.Scan(&r.DocID, &r.Title, &r.Ordinal, &r.Text, &r.StartChar, &r.EndChar, &r.Heading, &r.ID, &r.Pages, &score)
		return rules.Hit(r, score), err
	})
}

func (s *Store) WordCounts(ctx context.Context, owner string, words []string) (_ map[string]int, total int, err error) {
	ctx, end := s.Call(ctx, "count words", rules.Long)
	defer end(&err)
	words = record.Words(words)
	asked := make([]string, len(words))
	for i, w := range words {
		asked[i], _ = terms(w)
	}
	list, err := s.count(ctx, countSmall, owner, []string(nil), asked)
	if err == nil && list[0] > smallCorpus {
		list, err = s.count(ctx, countLarge, owner, []string(nil), asked)
	}
	if err != nil {
		return nil, 0, err
	}
	counts := make(map[string]int, len(words))
	for i, n := range list[1:] { // after the number of chunks
		counts[words[i]] = n
	}
	return counts, list[0], nil
}

func (s *Store) count(ctx context.Context, sql string, args ...any) ([]int, error) {
	rows, err := s.query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

func (s *Store) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return plain{s.pool}.Query(ctx, sql, args...)
}
