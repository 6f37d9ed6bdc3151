package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/db/internal/vector"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// A vector is stored as bytes, which every Postgres can read, and scores are computed
// from these. With pgvector, the column meaning also has it, at half the precision, for an
// HNSW index that finds candidates. The column and its indexes are not part of the
// migrations: pgvector may be missing, and may be installed later.

const (
	// indexFrom is the number of passages of one owner from which on an index is made and
	// used. Fewer are compared one by one: that is faster than the index of all owners.
	indexFrom = 5000
	// maxIndexed is the most dimensions that pgvector indexes in half precision.
	maxIndexed = 4000
	// The search reads the index until it has this many candidates that the owner may see.
	// These are then compared exactly.
	candidatesPerHit, minCandidates, maxCandidates = 8, 160, 1000
	// indexLock is the number of the advisory lock under which indexes are made.
	indexLock = migrationLock + 1
)

// meanings says whether the column meaning is used, and why not.
type meanings struct {
	used bool
	why  string // for operators
}

// VectorSearch says how vectors are searched.
func (s *Store) VectorSearch() string {
	if s.meanings.used {
		return fmt.Sprintf("hnsw: %s, from %d passages of a caller on", s.meanings.why, s.indexedFrom)
	}
	return fmt.Sprintf("exact: %s; at most %d passages are compared", s.meanings.why, s.compared)
}

// prepareMeanings adds the column if pgvector is installed or can be. The store works
// without it, too.
func prepareMeanings(ctx context.Context, pool *sql.DB) (m meanings, err error) {
	var version string
	var installed, suits bool
	err = pool.QueryRowContext(ctx, `SELECT coalesce(e.extversion, a.default_version), e.extversion IS NOT NULL,
			string_to_array(substring(coalesce(e.extversion, a.default_version) FROM '^[0-9.]*[0-9]'), '.')::int[] >= '{0,8}'
		FROM (SELECT 'vector' AS name) v LEFT JOIN pg_extension e ON e.extname = v.name LEFT JOIN pg_available_extensions a USING (name)
		WHERE coalesce(e.extversion, a.default_version) IS NOT NULL`).Scan(&version, &installed, &suits)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return meanings{why: "the server has no pgvector"}, nil
	case err != nil:
		return m, err
	case !suits:
		return meanings{why: "pgvector " + version + " is older than 0.8"}, nil
	}
	if !installed {
		var refused *pgconn.PgError
		if _, err := pool.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS vector`); errors.As(err, &refused) {
			return meanings{why: "creating the extension vector failed (SQLSTATE " + refused.Code + ")"}, nil
		} else if err != nil {
			return m, err
		}
	}
	var known, there bool
	err = pool.QueryRowContext(ctx, `SELECT to_regtype('halfvec') IS NOT NULL,
		EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('chunk_vectors') AND attname = 'meaning' AND NOT attisdropped)`).Scan(&known, &there)
	if err != nil {
		return m, err
	}
	if !known {
		return meanings{why: "the schema of pgvector is not in the search_path"}, nil
	}
	if !there {
		if _, err := pool.ExecContext(ctx, addMeaning); err != nil {
			return m, fmt.Errorf("prepare the index of vectors: %w", err)
		}
	}
	return meanings{used: true, why: "pgvector " + version}, nil
}

// addMeaning adds the column meaning, and an index of the rows that do not have it yet:
// those written before pgvector was installed.
var addMeaning = `ALTER TABLE chunk_vectors ADD COLUMN IF NOT EXISTS meaning halfvec;
	CREATE INDEX IF NOT EXISTS chunk_vectors_unfilled ON chunk_vectors (id) WHERE ` + unfilled

var unfilled = `meaning IS NULL AND length(vector) <= ` + strconv.Itoa(4*maxIndexed)

const insertMeanings = `-- name: InsertMeanings :exec
	INSERT INTO chunk_vectors (id, vector, meaning)
	SELECT c.id, n.vector, CAST(n.meaning AS halfvec)
	FROM (SELECT unnest($2::bigint[]) AS ordinal, unnest($3::bytea[]) AS vector, unnest($4::text[]) AS meaning) n
	JOIN chunks c ON c.doc_id = $1 AND c.ordinal = n.ordinal
	ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, meaning = excluded.meaning`

// insertVectors writes encoded vectors, which all have one length.
func (s *Store) insertVectors(ctx context.Context, tx plain, p sqlcgen.InsertVectorsParams) error {
	if len(p.Vectors) == 0 {
		return nil
	}
	if !s.meanings.used || len(p.Vectors[0]) > 4*maxIndexed {
		return sqlcgen.New(tx).InsertVectors(ctx, p)
	}
	_, err := tx.Exec(ctx, insertMeanings, p.DocID, p.Ordinals, p.Vectors, texts(p.Vectors))
	return err
}

func texts(vectors [][]byte) []string {
	list := make([]string, len(vectors))
	for i, v := range vectors {
		list[i] = vector.Text(v)
	}
	return list
}

// readVectors reads the vectors of the newest visible documents, $6 at most.
const readVectors = `WITH visible AS (SELECT d.id, sum(d.chunks) OVER (ORDER BY d.created_at DESC, d.id DESC) - d.chunks AS newer
		FROM documents d WHERE ` + isVisible + `)
	SELECT v.id, v.vector FROM visible d JOIN chunks c ON c.doc_id = d.id JOIN chunk_vectors v ON v.id = c.id
	WHERE d.newer < $6 AND length(v.vector) = $5 LIMIT $6`

// countVisible counts the visible chunks, and says whether the index $5 can be used.
const countVisible = `SELECT coalesce(sum(d.chunks), 0),
		coalesce((SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass($5)), false)
	FROM documents d WHERE ` + isVisible

// searchSettings are settings of one transaction. With the first, the index is read on until
// there are enough visible rows; without it, the nearest rows of all owners would be all
// that it returns. The second limits how many rows are read. The last two make the planner
// prefer the index to sorting everything.
const searchSettings = `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '40000', true),
	set_config('hnsw.ef_search', '200', true), set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true)`

// readNearest reads candidates from the index of that many dimensions. OFFSET 0 keeps the
// condition from becoming a join, for which the planner might not use the index. IS TRUE: readLarge.
func readNearest(dimensions int) string {
	return fmt.Sprintf(`SELECT v.id, v.vector FROM chunk_vectors v
		WHERE vector_dims(v.meaning) = %[1]d AND EXISTS (SELECT FROM chunks c
			WHERE c.id = v.id AND (c.doc_id IN (SELECT d.id FROM documents d WHERE `+isVisible+`)) IS TRUE OFFSET 0)
		ORDER BY (v.meaning::halfvec(%[1]d)) <#> $5::text::halfvec(%[1]d) LIMIT $6`, dimensions)
}

func indexName(dimensions int) string { return "chunk_vectors_hnsw_" + strconv.Itoa(dimensions) }

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
	best, err := s.nearest(ctx, see, query, docIDs, k)
	if err == nil && len(best) < k {
		best, err = s.compare(ctx, see, query, docIDs, k)
	}
	if err != nil {
		return nil, err
	}
	return s.Ranked(ctx, queries{s.q}, see, best)
}

// compare computes the scores of all visible vectors, or of the newest.
func (s *Store) compare(ctx context.Context, see rules.Visible, query []float32, docIDs []string, k int) ([]vector.Scored, error) {
	rows, err := s.query(ctx, readVectors, see.Owners(), docIDs, see.Threads(), see.Authors(), 4*len(query), s.compared)
	if err != nil {
		return nil, err
	}
	return rank(rows, query, k)
}

// nearest searches the index. It returns fewer than k when there is no index, when there are
// too few passages for it, or when too few of the nearest passages are visible.
func (s *Store) nearest(ctx context.Context, see rules.Visible, query []float32, docIDs []string, k int) (best []vector.Scored, err error) {
	if !s.meanings.used || len(query) > maxIndexed || k > maxCandidates {
		return nil, nil
	}
	var visible int64
	var indexed bool
	row := plain{s.pool}.QueryRow(ctx, countVisible, see.Owners(), docIDs, see.Threads(), see.Authors(), indexName(len(query)))
	if err := row.Scan(&visible, &indexed); err != nil || !indexed || visible < int64(s.indexedFrom) {
		return nil, err
	}
	candidates := min(max(candidatesPerHit*k, minCandidates), maxCandidates)
	err = s.inTx(ctx, beginView, func(tx plain) error {
		if _, err := tx.Exec(ctx, searchSettings); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, readNearest(len(query)), see.Owners(), docIDs, see.Threads(), see.Authors(), vector.Text(vector.Encode(query)), candidates)
		if err == nil {
			best, err = rank(rows, query, k)
		}
		return err
	})
	return best, err
}

// rank reads ids with their vectors and returns the k best, with their scores.
func rank(rows pgx.Rows, query []float32, k int) ([]vector.Scored, error) {
	best := vector.Best{Most: k}
	var id int64
	var encoded pgtype.DriverBytes // valid until the next row
	_, err := pgx.ForEachRow(rows, []any{&id, &encoded}, func() error {
		best.Offer(vector.Scored{ID: id, Score: vector.Dot(query, encoded)})
		return nil
	})
	return best.Ranking(), err
}

// IndexVectors adds missing rows to the index, and makes the indexes that are needed, one
// for each number of dimensions. It does nothing while another process does this.
func (s *Store) IndexVectors(ctx context.Context) (err error) {
	defer s.wrap(ctx, "index vectors", &err) // no timeout: it may take long
	if !s.meanings.used {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var locked bool
	// The simple protocol leaves no portal, whose snapshot CREATE INDEX CONCURRENTLY would
	// wait for.
	err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", pgx.QueryExecModeSimpleProtocol, int64(indexLock)).Scan(&locked)
	if err != nil || !locked {
		return err
	}
	if err := s.fillMeanings(ctx); err != nil {
		return err
	}
	return s.makeIndexes(ctx)
}

var readUnfilled = `SELECT id, vector FROM chunk_vectors WHERE ` + unfilled + ` AND id > $1 ORDER BY id LIMIT $2`

// A vector that was replaced after it was read has its meaning already.
const fillMeanings = `UPDATE chunk_vectors v SET meaning = CAST(n.meaning AS halfvec)
	FROM (SELECT unnest($1::bigint[]) AS id, unnest($2::bytea[]) AS vector, unnest($3::text[]) AS meaning) n
	WHERE v.id = n.id AND v.vector = n.vector AND v.meaning IS NULL`

func (s *Store) fillMeanings(ctx context.Context) error {
	for after := int64(0); ; {
		rows, err := s.pool.Query(ctx, readUnfilled, after, storeBatch)
		if err != nil {
			return err
		}
		type row struct {
			ID     int64
			Vector []byte
		}
		batch, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil || len(batch) == 0 {
			return err
		}
		var ids []int64
		var vectors [][]byte
		for _, r := range batch {
			ids, vectors, after = append(ids, r.ID), append(vectors, r.Vector), r.ID
		}
		if _, err := s.pool.Exec(ctx, fillMeanings, ids, vectors, texts(vectors)); err != nil {
			return err
		}
	}
}

// dimensionsInUse lists the dimensions of the vectors of owners with many passages, and
// whether an index is needed. It reads the vector of each document's first passage only. An
// index is made above $1 passages, and kept above half of that.
const dimensionsInUse = `SELECT dimensions, max(passages) > $1 FROM (
		SELECT length(v.vector) / 4 AS dimensions, sum(d.chunks) AS passages
		FROM documents d JOIN chunks c ON c.doc_id = d.id AND c.ordinal = 0 JOIN chunk_vectors v ON v.id = c.id
		WHERE d.status = 'ready' AND length(v.vector) <= 4 * $2 GROUP BY d.owner, 1) o
	GROUP BY dimensions HAVING max(passages) > $1 / 2`

// makeIndexes makes the missing indexes. It drops those that are no longer needed, and
// those whose creation was interrupted.
func (s *Store) makeIndexes(ctx context.Context) error {
	keep, err := s.pool.Query(ctx, dimensionsInUse, s.indexedFrom, maxIndexed)
	if err != nil {
		return err
	}
	wanted := map[int]bool{} // dimensions, whether an index is made
	var dimensions int
	var many bool
	_, err = pgx.ForEachRow(keep, []any{&dimensions, &many}, func() error {
		wanted[dimensions] = many
		return nil
	})
	if err != nil {
		return err
	}
	rows, err := s.pool.Query(ctx, `SELECT c.relname::text, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = to_regclass('chunk_vectors') AND c.relname LIKE 'chunk\_vectors\_hnsw\_%'`)
	if err != nil {
		return err
	}
	var statements []string
	var name string
	var valid bool
	_, err = pgx.ForEachRow(rows, []any{&name, &valid}, func() error {
		n, _ := strconv.Atoi(name[len(indexName(0))-1:])
		if _, used := wanted[n]; !used || !valid {
			statements = append(statements, "DROP INDEX CONCURRENTLY IF EXISTS "+pgx.Identifier{name}.Sanitize())
		} else {
			delete(wanted, n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n, many := range wanted {
		if many {
			statements = append(statements, fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON chunk_vectors
				USING hnsw ((meaning::halfvec(%[2]d)) halfvec_ip_ops) WHERE vector_dims(meaning) = %[2]d`, indexName(n), n))
		}
	}
	for _, statement := range statements {
		if _, err := s.pool.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
