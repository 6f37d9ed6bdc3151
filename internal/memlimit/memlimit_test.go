package memlimit_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/memlimit"
)

func TestConcurrentWorkStaysWithinTheLimit(t *testing.T) {
	l := memlimit.New(100)
	var now, most atomic.Int64
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			release, err := l.Acquire(t.Context(), 40)
			if err != nil {
				t.Error(err)
				return
			}
			n := now.Add(40)
			for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
			}
			now.Add(-40)
			release()
		})
	}
	all.Wait()
	require.LessOrEqual(t, most.Load(), int64(100))
}

func TestWorkThatNeedsMoreThanThereIsRunsAlone(t *testing.T) {
	l := memlimit.New(100)
	release, err := l.Acquire(t.Context(), 1000)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Acquire(ended, 1)
	require.ErrorIs(t, err, context.Canceled)
	release()
	_, err = l.Acquire(t.Context(), 100)
	require.NoError(t, err)
}

func TestNoLimitNeverWaits(t *testing.T) {
	l := memlimit.New(0)
	for range 3 {
		_, err := l.Acquire(t.Context(), 1<<40)
		require.NoError(t, err)
	}
}
