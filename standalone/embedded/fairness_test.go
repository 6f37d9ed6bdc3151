package embedded_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/workflows"
)

// The tasks of all threads wait before a worker takes the first, so that the order does not depend
// on the machine. Without fairness the newcomer's would be among the last.
func TestFloodOfOneUserDoesNotDelayAnother(t *testing.T) {
	const flood = 100
	c := dial(t, start(t, embedded.Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	var submits sync.WaitGroup
	defer submits.Wait()
	defer cancel()
	threads := &workflows.Client{Temporal: c, Namespace: embedded.Namespace}
	begin := func(owner string) (thread string) {
		thread = uuid.NewString()
		submits.Go(func() {
			_, _ = threads.Submit(ctx, chat.Submit{Owner: owner, ThreadID: thread, TurnID: uuid.NewString()})
		})
		until(t, func() bool {
			_, err := c.DescribeWorkflowExecution(t.Context(), workflows.ThreadWorkflowID(thread), "")
			return err == nil
		})
		return thread
	}
	var of []string
	for range flood {
		of = append(of, begin("mallory"))
	}
	newcomer := begin("ann")
	of = append(of, newcomer)

	var tasks, activities order
	w := worker.New(c, workflows.TaskQueue, worker.Options{LocalActivityWorkerOnly: true, MaxConcurrentWorkflowTaskPollers: 2, MaxConcurrentWorkflowTaskExecutionSize: 2})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, in workflows.ThreadInput) error {
		tasks.add(in.ThreadID)
		return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour}), "step", in.ThreadID).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: workflows.ThreadType})
	require.NoError(t, w.Start())
	defer w.Stop()
	for _, thread := range of {
		until(t, func() bool {
			d, err := c.DescribeWorkflowExecution(t.Context(), workflows.ThreadWorkflowID(thread), "")
			require.NoError(t, err)
			return len(d.PendingActivities) > 0
		})
	}
	a := worker.New(c, workflows.TaskQueue, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: 1, MaxConcurrentActivityExecutionSize: 1})
	a.RegisterActivityWithOptions(func(_ context.Context, thread string) error { activities.add(thread); return nil }, activity.RegisterOptions{Name: "step"})
	require.NoError(t, a.Start())
	defer a.Stop()
	until(t, func() bool { return len(activities.list()) == flood+1 })

	for what, got := range map[string][]string{"workflow tasks": tasks.list(), "activities": activities.list()} {
		require.Less(t, slices.Index(got, newcomer), flood/2, what)
	}
}

// until waits for what another process does. The test's own timeout ends it.
func until(t *testing.T, done func() bool) {
	for !done() {
		select {
		case <-t.Context().Done():
			t.FailNow()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// order is the order in which threads came.
type order struct {
	mu      sync.Mutex
	threads []string
}

func (o *order) add(thread string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.threads, thread) {
		o.threads = append(o.threads, thread)
	}
}

func (o *order) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.threads)
}
