package postgres

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/internal/rules"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// withPgvector is an empty store on a server that has pgvector.
func withPgvector(t *testing.T) (*Store, string) {
	t.Helper()
	url := pgtest.Database(t)
	s := openStore(t, url)
	if !s.meanings.used {
		const howTo = "no index of vectors (%s): scripts/pgvector installs it; PALAVER_TEST_POSTGRES names a server that has pgvector 0.8"
		require.Empty(t, os.Getenv("CI"), howTo, s.VectorSearch())
		t.Skipf(howTo, s.VectorSearch())
	}
	s.indexedFrom = 100
	return s, url
}

// query reads one value.
func query[T any](t *testing.T, s *Store, sql string, args ...any) (value T) {
	t.Helper()
	require.NoError(t, s.pool.QueryRow(t.Context(), sql, args...).Scan(&value))
	return value
}

func random(r *rand.Rand, dimensions int) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// store writes documents of ten passages for an owner.
func store(t *testing.T, s *Store, r *rand.Rand, owner string, documents, dimensions int) {
	t.Helper()
	for n := range documents {
		id := fmt.Sprintf("%s-%03d", owner, n)
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: id, Owner: owner, Title: id}, nil))
		vectors := make([][]float32, 10)
		for i := range vectors {
			vectors[i] = random(r, dimensions)
		}
		require.NoError(t, s.StoreText(t.Context(), owner, id, "", make([]chat.Chunk, 10), vectors))
	}
}

func TestIndexOfVectorsFindsWhatComparingAllFinds(t *testing.T) {
	t.Parallel()
	s, _ := withPgvector(t)
	r := rand.New(rand.NewPCG(1, 1))
	store(t, s, r, "ann", 40, 16)
	store(t, s, r, "bob", 80, 16)
	store(t, s, r, chat.PublicOwner, 3, 16)
	require.NoError(t, s.IndexVectors(t.Context()))
	var docs []string
	for n := range 30 {
		docs = append(docs, fmt.Sprintf("ann-%03d", n), fmt.Sprintf("bob-%03d", n))
	}
	for _, of := range [][]string{nil, docs} {
		found := 0
		for range 20 {
			question := random(r, 16)
			exact := must.Have(s.compare(t.Context(), rules.Visible{Owner: "ann"}, question, of, 10))(t)
			fast := must.Have(s.nearest(t.Context(), rules.Visible{Owner: "ann"}, question, of, 10))(t)
			require.Len(t, fast, 10, "the index was not used")
			scores := map[int64]float64{}
			for _, e := range exact {
				scores[e.ID] = e.Score
			}
			for _, f := range fast {
				if score, ok := scores[f.ID]; ok {
					require.Equal(t, score, f.Score)
					found++
				}
			}
			hits := must.Have(s.SearchVector(t.Context(), "ann", question, of, 10))(t)
			require.Len(t, hits, 10)
			for _, h := range hits {
				require.NotContains(t, h.DocID, "bob")
			}
		}
		require.GreaterOrEqual(t, found, 195, "of 200")
	}
	none := must.Have(s.nearest(t.Context(), rules.Visible{Owner: "ann"}, random(r, 16), []string{"ann-001"}, 10))(t)
	require.Empty(t, none, "ten passages are compared without the index")
	hits := must.Have(s.SearchVector(t.Context(), "ann", random(r, 16), []string{"ann-001"}, 10))(t)
	require.Len(t, hits, 10)
}

// The statistics are those of an empty table, or fresh: the planner must not prefer a sort.
func TestSearchReadsTheIndexOfVectors(t *testing.T) {
	t.Parallel()
	s, url := withPgvector(t)
	store(t, s, rand.New(rand.NewPCG(1, 1)), "ann", 20, 8)
	require.NoError(t, s.IndexVectors(t.Context()))
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	script(t, conn, "SET enable_sort = off", "SET enable_seqscan = off")
	for range 2 {
		require.Regexp(t, "Index Scan using chunk_vectors_hnsw_8 ", plan(t, conn, readNearest(8)))
		script(t, conn, "ANALYZE")
	}
}

func TestVectorsFromBeforePgvectorAreIndexed(t *testing.T) {
	t.Parallel()
	s, url := withPgvector(t)
	pgtest.Exec(t, url, "DROP EXTENSION vector CASCADE")
	s.meanings.used = false
	r := rand.New(rand.NewPCG(1, 1))
	store(t, s, r, "ann", 25, 8)
	later := openStore(t, url)
	later.indexedFrom = 100
	require.True(t, later.meanings.used)
	require.Equal(t, int64(250), query[int64](t, later, "SELECT count(*) FROM chunk_vectors WHERE meaning IS NULL"))
	require.NoError(t, later.IndexVectors(t.Context()))
	require.Zero(t, query[int64](t, later, "SELECT count(*) FROM chunk_vectors WHERE meaning IS NULL"))
	best := must.Have(later.nearest(t.Context(), rules.Visible{Owner: "ann"}, random(r, 8), nil, 10))(t)
	require.Len(t, best, 10)
}

func TestIndexesOfVectorsFollowWhatIsStored(t *testing.T) {
	t.Parallel()
	s, url := withPgvector(t)
	indexes := func() (names []string) {
		rows := must.Have(s.pool.Query(t.Context(), "SELECT indexname::text FROM pg_indexes WHERE indexname LIKE 'chunk_vectors_hnsw%' ORDER BY 1"))(t)
		names = must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
		return names
	}
	r := rand.New(rand.NewPCG(1, 1))
	store(t, s, r, "ann", 10, 8)
	require.NoError(t, s.IndexVectors(t.Context()))
	require.Empty(t, indexes(), "100 passages are not more than 100")
	store(t, s, r, "bob", 11, 8)
	store(t, s, r, "cem", 11, 12)
	store(t, s, r, "dan", 11, maxIndexed+1)
	require.NoError(t, s.IndexVectors(t.Context()))
	require.Equal(t, []string{"chunk_vectors_hnsw_12", "chunk_vectors_hnsw_8"}, indexes())

	// An index whose creation was interrupted is made again.
	pgtest.Exec(t, url, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'chunk_vectors_hnsw_8'::regclass")
	best := must.Have(s.nearest(t.Context(), rules.Visible{Owner: "bob"}, random(r, 8), nil, 10))(t)
	require.Empty(t, best)
	require.NoError(t, s.IndexVectors(t.Context()))
	best = must.Have(s.nearest(t.Context(), rules.Visible{Owner: "bob"}, random(r, 8), nil, 10))(t)
	require.Len(t, best, 10)

	for n := range 8 {
		require.NoError(t, s.DeleteDocument(t.Context(), "cem", fmt.Sprintf("cem-%03d", n)))
	}
	require.NoError(t, s.IndexVectors(t.Context()))
	require.Equal(t, []string{"chunk_vectors_hnsw_8"}, indexes())
}

func TestStoreWorksWhereTheRoleMayNotCreateTheExtension(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	role := fmt.Sprintf("palaver_bound_%d", time.Now().UnixNano())
	pgtest.Exec(t, direct, "CREATE ROLE "+role+" LOGIN", "GRANT CREATE ON SCHEMA public TO "+role)
	t.Cleanup(func() { pgtest.Exec(t, direct, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	s := openStore(t, pgtest.With(direct, func(u *url.URL) { u.User = url.User(role) }))
	t.Cleanup(func() { _ = s.Close() }) // before the role is dropped
	require.Regexp(t, "^exact: (creating the extension vector failed .SQLSTATE 42501.|the server has no pgvector); at most 50000", s.VectorSearch())
	require.NoError(t, s.IndexVectors(t.Context()))
	store(t, s, rand.New(rand.NewPCG(1, 1)), "ann", 2, 8)
	hits := must.Have(s.SearchVector(t.Context(), "ann", []float32{1, 0, 0, 0, 0, 0, 0, 0}, nil, 15))(t)
	require.Len(t, hits, 15)
}

func TestComparingVectorsLeavesOutTheOldestBeyondTheBound(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	s.compared = 5
	for n, id := range []string{"old", "middle", "new"} {
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: id, Owner: "ann", Title: id, CreatedAt: time.Unix(int64(1000+n), 0)}, nil))
		require.NoError(t, s.StoreText(t.Context(), "ann", id, "", make([]chat.Chunk, 3), [][]float32{{1, 0}, {1, 0}, {1, 0}}))
	}
	compared := map[string]int{}
	hits := must.Have(s.SearchVector(t.Context(), "ann", []float32{1, 0}, nil, 10))(t)
	for _, h := range hits {
		compared[h.DocID]++
	}
	require.Equal(t, map[string]int{"new": 3, "middle": 2}, compared)
	hits = must.Have(s.SearchVector(t.Context(), "ann", []float32{1, 0}, []string{"old"}, 10))(t)
	require.Len(t, hits, 3, "documents that are named are compared")
}
