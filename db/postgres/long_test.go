package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// statements records what a store sends.
type statements struct {
	mu   sync.Mutex
	sent []pgx.TraceQueryStartData
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, data)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (s *statements) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.SQL != fmt.Sprintf(limits, 1, 2) { // which touches no rows
		s.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: data.SQL, Args: data.Args})
	}
}

func (s *statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *statements) take() []pgx.TraceQueryStartData {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	return sent
}

// work counts the rows that a query touches, also those that it filters out.
func work(t *testing.T, conn *pgx.Conn, q pgx.TraceQueryStartData) (rows int, plan string) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+q.SQL, q.Args...).Scan(&plan))
	var explained []struct{ Plan node }
	require.NoError(t, json.Unmarshal([]byte(plan), &explained))
	return int(explained[0].Plan.work()), plan
}

type node struct {
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Joined  float64 `json:"Rows Removed by Join Filter"`
	Loops   float64 `json:"Actual Loops"`
	Plans   []node
}

func (n node) work() float64 {
	sum := (n.Rows + n.Removed + n.Joined) * n.Loops
	for _, below := range n.Plans {
		sum += below.work()
	}
	return sum
}

func TestQueriesOfALongThreadReadNoMoreRows(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	filler := openStore(t, url)
	const turns = 2000
	short, long := dbtest.LongThread(t, filler, 20), dbtest.LongThread(t, filler, turns)
	pgtest.Exec(t, url, "VACUUM ANALYZE") // dead rows are read, too, as long as they are in the indexes

	config := must.Have(parse(url))(t)
	seen := &statements{}
	config.ConnConfig.Tracer = seen
	pool := must.Have(pgxpool.NewWithConfig(t.Context(), config))(t)
	t.Cleanup(pool.Close)
	s := newStore(pool, db.OpenOptions{})
	conn := must.Have(pgx.Connect(t.Context(), url+"&default_query_exec_mode=exec"))(t)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	queries := 0
	plans := map[string]string{} // of the thread that was measured last
	measure := func(thread dbtest.Thread) map[string]int {
		rows := map[string]int{}
		clear(plans)
		for _, use := range thread.Uses(t, s) {
			seen.take()
			require.NoError(t, use.Call(), use.Name)
			for _, q := range seen.take() {
				text := q.SQL[strings.Index(q.SQL, "\n")+1:]
				if !strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "WITH") || strings.Contains(text, "INSERT INTO") || strings.Contains(text, "UPDATE turns") {
					continue // writes find their rows by their keys
				}
				queries++
				n, plan := work(t, conn, q)
				if strings.Contains(q.SQL, "name: Tree ") { // reads all branches
					require.LessOrEqual(t, n, 4*len(thread.Turns), plan)
					continue
				}
				rows[use.Name] += n
				plans[use.Name] += plan + "\n"
			}
		}
		return rows
	}
	base, many := measure(short), measure(long)
	require.Greater(t, queries, 50)
	for name, n := range many {
		require.LessOrEqual(t, n, base[name]+300, "%s reads of the whole thread: %s", name, plans[name])
	}
}
