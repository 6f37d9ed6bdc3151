package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// The repair of a lost workflow task relies on it.
func TestWorkersAreIdleWhenTheyPollAndNoTaskWaits(t *testing.T) {
	s := start(t, embedded.Options{Dir: t.TempDir()})
	c := dial(t, s)
	threads := &workflows.Client{Temporal: c, Namespace: embedded.Namespace}
	idle := func() bool { return must.Have(threads.Idle(t.Context()))(t) }
	require.False(t, idle(), "no worker polls")
	for _, id := range []string{"one", "two", "three"} {
		must.Have(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue}, waits, "open"))(t)
	}
	require.False(t, idle(), "tasks wait")
	w := worker.New(c, workflows.TaskQueue, worker.Options{})
	w.RegisterWorkflow(waits)
	require.NoError(t, w.Start())
	defer w.Stop()
	require.Eventually(t, idle, time.Minute, 50*time.Millisecond)
}
