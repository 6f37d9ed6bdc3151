package worker

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/worker"
)

// refused is a queue whose first starts fail.
type refused struct {
	worker.Worker
	errs  []error
	tries int
}

func (r *refused) Start() error {
	r.tries++
	if r.tries <= len(r.errs) {
		return r.errs[r.tries-1]
	}
	return nil
}

// A worker that had waited for Temporal exited when Temporal was slow a moment later.
func TestWorkerStartsOnceTemporalIsAvailableAgain(t *testing.T) {
	down := fmt.Errorf("failed reaching server: %w", serviceerror.NewUnavailable("down"))
	synctest.Test(t, func(t *testing.T) {
		slow := &refused{errs: []error{down, fmt.Errorf("failed reaching server: %w", context.DeadlineExceeded)}}
		require.NoError(t, (&Worker{[]worker.Worker{slow}}).Start(t.Context()))
		require.Equal(t, 3, slow.tries)
		wrong := &refused{errs: []error{serviceerror.NewInvalidArgument("no")}}
		require.ErrorAs(t, (&Worker{[]worker.Worker{wrong}}).Start(t.Context()), new(*serviceerror.InvalidArgument))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, (&Worker{[]worker.Worker{&refused{errs: []error{down}}}}).Start(ended), context.Canceled)
	})
}
