//go:build long

package fullstack

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// mostLeft is how many bytes a turn of 40 tokens and 3 citations may leave
// permanently in all databases together. The promise is at most 10,000.
const mostLeft = 9_000

func TestLongTurnLeavesFewBytes(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		s, model, c := scripted(t, stacktest.Flag("thread-idle-timeout", "1s"))
		fewLeft(t, s, model, c, func() int64 { return packed(t, filepath.Join(s.Dir, "palaver.db")) })
	})
	t.Run("Postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Database(t)
		s, model, c := scripted(t, stacktest.Flag("thread-idle-timeout", "1s"), stacktest.Flag("database-url", url))
		fewLeft(t, s, model, c, func() int64 { return packedPostgres(t, url) })
	})
}

// fewLeft runs turns and requires that Palaver's and Temporal's databases grow by at most
// mostLeft bytes a turn.
func fewLeft(t *testing.T, s *stacktest.Stack, model *llmtest.Server, c *talk, size func() int64) {
	doc := c.upload("Rules for banks", rulesForBanks)
	model.On(answerCall, llmtest.Text(fortyTokens...))
	const warm, threads, turns = 2, 8, 8
	run := func(threads int) {
		var all sync.WaitGroup
		for range threads {
			one := *c
			one.thread = uuid.NewString()
			all.Go(func() {
				for range turns {
					end := last(one.ask("What must a bank hold, test and report?", object{"action": "inquire", "tagged_doc_ids": []string{doc}}))
					assert.Equal(t, "response", end.Type, "%+v", end)
					assert.Len(t, end.Citations, 3)
				}
			})
		}
		all.Wait()
	}
	keptBefore, afterwardsBefore := ofTemporal(t, s)
	run(warm) // allocates the first pages of tables and indexes
	palaverBefore := size()
	run(threads)
	here := (size() - palaverBefore) / (threads * turns)
	kept, afterwards := ofTemporal(t, s)
	kept = (kept - keptBefore) / ((warm + threads) * turns)
	there := (afterwards - afterwardsBefore) / ((warm + threads) * turns)
	t.Logf("a turn leaves %d bytes with Palaver and %d with Temporal, which has %d more until its retention ends", here, there, kept-there)
	require.LessOrEqual(t, here+there, int64(mostLeft))
}

// ofTemporal returns the size of Temporal's database after all workflows have
// closed: now, and without the rows that Temporal deletes later (of runs when their
// retention ends, of queues after half a minute).
func ofTemporal(t *testing.T, s *stacktest.Stack) (now, afterwards int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		open, err := s.Temporal().CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: "ExecutionStatus = 'Running'"})
		return err == nil && open.Count == 0
	}, waitTimeout, 50*time.Millisecond)
	copied := packedCopy(t, filepath.Join(s.Dir, "temporal.db"))
	db := openFile(t, copied)
	for _, key := range []string{"run_id", "tree_id", "task_id"} {
		for _, table := range tablesWith(t, db, key) {
			must.Have(db.ExecContext(t.Context(), "DELETE FROM "+table))(t)
		}
	}
	return fileSize(t, copied), packed(t, copied)
}

func tablesWith(t *testing.T, db *sql.DB, column string) (names []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT l.name FROM pragma_table_list l JOIN pragma_table_info(l.name) c
		WHERE l.type = 'table' AND c.name = ?`, column)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, names)
	return names
}

// packed returns the size of a SQLite file without its free pages.
func packed(t *testing.T, path string) int64 { return fileSize(t, packedCopy(t, path)) }

func packedCopy(t *testing.T, path string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	must.Have(openFile(t, path).ExecContext(t.Context(), "VACUUM INTO ?", copied))(t)
	return copied
}

func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db := must.Have(sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(30000)"))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info := must.Have(os.Stat(path))(t)
	return info.Size()
}

// packedPostgres returns the size of Palaver's tables and indexes without free
// space.
func packedPostgres(t *testing.T, url string) (size int64) {
	t.Helper()
	pgtest.Exec(t, url, "VACUUM FULL")
	conn := must.Have(pgx.Connect(t.Context(), url))(t)
	defer conn.Close(context.Background())
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`).Scan(&size))
	return size
}

// rulesForBanks has three rules, each long enough for its own passage.
var rulesForBanks = func() string {
	rule := func(n int, title, text string) string {
		return fmt.Sprintf("## %d. %s\n\n%s\n\n%s\n\n", n, title, text, strings.Repeat("This rule was published by the authority and is explained in its annex. ", 12))
	}
	return "# Rules for banks\n\n" +
		rule(1, "Holding", "A bank must hold a liquidity coverage ratio of at least 100 percent at the end of every business day.") +
		rule(2, "Testing", "A bank must run a stress test of its funding at least once a quarter with an adverse scenario.") +
		rule(3, "Reporting", "A bank must report its large exposures to the authority within five days after the end of a month.")
}()

// fortyTokens is an answer with three citations.
var fortyTokens = strings.SplitAfter("A bank must hold a liquidity coverage ratio of at least 100 percent every business day [1], "+
	"run a stress test of its funding once a quarter [2], and report its large exposures within five days [3].", " ")
