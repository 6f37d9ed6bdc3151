package embedded_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/workflows"
)

// An earlier implementation terminated the workflows and then deleted them: after a minute
// 9 of 10 histories still existed.
func TestHistoriesOfManyOpenConversationsAreDeletedSoon(t *testing.T) {
	s := start(t, embedded.Options{Dir: t.TempDir()})
	c := dial(t, s)
	threads := &workflows.Client{Temporal: c, Namespace: embedded.Namespace}
	const many = 30
	var ids []string
	for range many {
		id := uuid.NewString()
		_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.ThreadWorkflowID(id), TaskQueue: "q"}, waits, "open")
		require.NoError(t, err)
		ids = append(ids, id)
	}
	listed := func() int {
		page, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
		require.NoError(t, err)
		return len(page.Executions)
	}
	kept := func() (n int) {
		for _, id := range ids {
			_, err := c.DescribeWorkflowExecution(t.Context(), workflows.ThreadWorkflowID(id), "")
			if err == nil {
				n++
			} else if !errors.As(err, new(*serviceerror.NotFound)) {
				require.NoError(t, err)
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return listed() == many }, time.Minute, 20*time.Millisecond)
	for _, id := range ids {
		require.NoError(t, threads.Delete(t.Context(), id))
		require.NoError(t, threads.ForgetThread(t.Context(), id))
	}
	require.Eventually(t, func() bool { return kept() == 0 && listed() == 0 }, time.Minute, 100*time.Millisecond)
}
