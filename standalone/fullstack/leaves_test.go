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

	"github.com/palaver-chat/palaver/db/dbtest/pgtest"
	"github.com/palaver-chat/palaver/llm/llmtest"
	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/workflows"
)

// mostLeft is how many bytes a turn of 40 tokens and 3 citations may leave for
// good, in all databases together.
const mostLeft = 10_000

func TestATurnLeavesFewBytes(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel() // both wait for Temporal
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

// fewLeft has conversations run turns and compares the sizes of Palaver's database
// and Temporal's before and after, when Temporal has deleted what is closed.
func fewLeft(t *testing.T, s *stacktest.Stack, model *llmtest.Server, c *talk, size func() int64) {
	doc := c.upload("Rules for banks", rulesForBanks)
	model.On(answerCall, llmtest.Text(fortyTokens...))
	const threads, turns = 8, 8
	temporal := func() int64 { return packed(t, filepath.Join(s.Dir, "temporal.db")) }
	palaverBefore, temporalBefore := size(), temporal()
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
	unforgotten := temporal()
	forgetThreads(t, s)
	per := func(bytes int64) int64 { return bytes / (threads * turns) }
	here, there := per(size()-palaverBefore), per(temporal()-temporalBefore)
	t.Logf("a turn leaves %d bytes with Palaver and %d with Temporal, where it takes %d until its retention ends", here, there, per(unforgotten-temporalBefore))
	require.LessOrEqual(t, here+there, int64(mostLeft))
}

// forgetThreads waits until the threads' workflows have closed and Temporal has
// deleted them, as it does by itself when their retention ends. It takes Temporal up
// to half a minute to know that it may.
func forgetThreads(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	asked := map[string]bool{}
	require.Eventually(t, func() bool {
		list, err := s.Temporal().ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			PageSize: 1000, Query: fmt.Sprintf("WorkflowType = '%s'", workflows.ThreadType)})
		if err != nil {
			return false
		}
		for _, e := range list.Executions {
			if e.CloseTime == nil || asked[e.Execution.RunId] {
				continue
			}
			_, err := s.Temporal().WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
				Namespace: embedded.Namespace, WorkflowExecution: e.Execution})
			asked[e.Execution.RunId] = err == nil
		}
		return len(list.Executions) == 0
	}, 3*patience, 100*time.Millisecond)
}

// packed is the size of a SQLite file without the room that is free in it.
func packed(t *testing.T, path string) int64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(30000)")
	require.NoError(t, err)
	defer db.Close()
	copied := filepath.Join(t.TempDir(), "copy.db")
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", copied)
	require.NoError(t, err)
	info, err := os.Stat(copied)
	require.NoError(t, err)
	return info.Size()
}

// packedPostgres is the size of Palaver's tables with their indexes, once the room
// that is free in them is gone.
func packedPostgres(t *testing.T, url string) (size int64) {
	t.Helper()
	pgtest.Exec(t, url, "VACUUM FULL")
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`).Scan(&size))
	return size
}

// rulesForBanks has three rules, each long enough to be a passage of its own.
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
