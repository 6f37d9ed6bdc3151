package workflows_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// busyTemporal fails every call and records its time.
type busyTemporal struct {
	client.Client
	refusal error
	calls   []time.Time
}

func (b *busyTemporal) refuse() error {
	b.calls = append(b.calls, time.Now())
	return b.refusal
}

func (b *busyTemporal) NewWithStartWorkflowOperation(client.StartWorkflowOptions, any, ...any) client.WithStartWorkflowOperation {
	return nil
}

func (b *busyTemporal) UpdateWithStartWorkflow(context.Context, client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return nil, b.refuse()
}

func (b *busyTemporal) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return nil, b.refuse()
}

func (b *busyTemporal) QueryWorkflowWithOptions(context.Context, *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	return nil, b.refuse()
}

// retriedCalls are the client's calls that are retried.
var retriedCalls = map[string]func(context.Context, *workflows.Client) error{
	"Submit": func(ctx context.Context, c *workflows.Client) error {
		_, err := c.Submit(ctx, chat.Submit{ThreadID: "th", TurnID: "t1"})
		return err
	},
	"Resume": func(ctx context.Context, c *workflows.Client) error {
		return c.Resume(ctx, chat.Resume{ThreadID: "th"})
	},
	"ChangeOwner": func(ctx context.Context, c *workflows.Client) error { return c.ChangeOwner(ctx, "th", "ann") },
	"State":       func(ctx context.Context, c *workflows.Client) error { _, err := c.State(ctx, "th"); return err },
	"Progress": func(ctx context.Context, c *workflows.Client) error {
		_, err := c.Progress(ctx, "th", "t1", 0)
		return err
	},
}

func TestClientRetriesWithBackOffAndJitterUntilTheDeadline(t *testing.T) {
	for name, call := range retriedCalls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var schedules [][]time.Duration
				for range 2 {
					busy := &busyTemporal{refusal: serviceerror.NewUnavailable("busy")}
					began := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second)
					err := call(ctx, &workflows.Client{Temporal: busy})
					cancel()
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.ErrorAs(t, err, new(*serviceerror.Unavailable), "the last error")
					require.Equal(t, 14*time.Second, time.Since(began))
					var pauses []time.Duration
					for i := range busy.calls[1:] {
						pauses = append(pauses, busy.calls[i+1].Sub(busy.calls[i]))
					}
					require.LessOrEqual(t, pauses[0], 40*time.Millisecond, "a run that was closing is replaced at once")
					require.LessOrEqual(t, slices.Max(pauses), 750*time.Millisecond)
					require.Less(t, len(pauses), 70, "a busy server gets few retries")
					schedules = append(schedules, pauses)
				}
				require.NotEqual(t, schedules[0], schedules[1], "two clients do not retry at the same times")
			})
		})
	}
}

func TestClientDoesNotRetryPermanentErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &busyTemporal{refusal: serviceerror.NewInvalidArgument("no")}
		c := &workflows.Client{Temporal: busy}
		ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second)
		defer cancel()
		require.ErrorAs(t, retriedCalls["Submit"](ctx, c), new(*serviceerror.InvalidArgument))
		require.ErrorAs(t, retriedCalls["Resume"](ctx, c), new(*serviceerror.InvalidArgument))
		require.Len(t, busy.calls, 2)
	})
}

// A server that has no time left for one call, or stops, ends it although the caller has time.
func TestUpdateThatTheServerEndsIsRetried(t *testing.T) {
	for _, name := range []string{"Submit", "Resume", "ChangeOwner"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				busy := &busyTemporal{refusal: client.NewWorkflowUpdateServiceTimeoutOrCanceledError(serviceerror.NewDeadlineExceeded("busy"))}
				ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second)
				defer cancel()
				require.ErrorIs(t, retriedCalls[name](ctx, &workflows.Client{Temporal: busy}), context.DeadlineExceeded)
				require.Greater(t, len(busy.calls), 10)
			})
		})
	}
}

// silentTemporal does not answer the first calls before their time is up.
type silentTemporal struct {
	busyTemporal
	silent int
}

func (s *silentTemporal) update(ctx context.Context) (client.WorkflowUpdateHandle, error) {
	err := s.refuse()
	if len(s.calls) <= s.silent {
		<-ctx.Done()
		return nil, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(ctx.Err())
	}
	return nil, err
}

func (s *silentTemporal) UpdateWithStartWorkflow(ctx context.Context, _ client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return s.update(ctx)
}

func (s *silentTemporal) UpdateWorkflow(ctx context.Context, _ client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return s.update(ctx)
}

// A busy server can drop an update that it has admitted, and not tell who waits for it.
func TestUpdateWithoutAnAnswerIsSentAgain(t *testing.T) {
	for _, name := range []string{"Submit", "Resume", "ChangeOwner"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silent := &silentTemporal{busyTemporal{refusal: serviceerror.NewInvalidArgument("an answer")}, 2}
				ctx, cancel := context.WithTimeout(t.Context(), 14*time.Second)
				defer cancel()
				require.ErrorAs(t, retriedCalls[name](ctx, &workflows.Client{Temporal: silent}), new(*serviceerror.InvalidArgument))
				require.Len(t, silent.calls, 3)
			})
		})
	}
}

// recoveringTemporal answers a query after some failures.
type recoveringTemporal struct {
	busyTemporal
	failures int
}

func (l *recoveringTemporal) QueryWorkflowWithOptions(ctx context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	if len(l.calls) < l.failures {
		return nil, l.refuse()
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(chat.ThreadState{TurnID: "t1"})
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: client.NewValue(payloads)}, err
}

func TestQuerySucceedsOnceAWorkerIsAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := &recoveringTemporal{busyTemporal{refusal: serviceerror.NewUnavailable("no worker")}, 3}
		state := must.Have((&workflows.Client{Temporal: later}).State(t.Context(), "th"))(t)
		require.Equal(t, "t1", state.TurnID)
	})
}

// A worker that was frozen reads an old query against a newer history.
func TestQueryThatCannotBeReplayedIsRetriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stale := serviceerror.NewQueryFailed("[TMPRL1100] During replay, a matching Activity command was expected")
		once := &recoveringTemporal{busyTemporal{refusal: stale}, 1}
		state := must.Have((&workflows.Client{Temporal: once}).State(t.Context(), "th"))(t)
		require.Equal(t, "t1", state.TurnID)
		always := &busyTemporal{refusal: stale}
		_, err := (&workflows.Client{Temporal: always}).State(t.Context(), "th")
		require.ErrorIs(t, err, chat.ErrCannotReplay)
		require.Len(t, always.calls, 2)
	})
}
