package fair_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/fair"
)

func TestACallerWithManyRequestsDelaysOthersByThoseThatRunOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fair.New(2)
		var mu sync.Mutex
		var order []string
		var releases []func()
		ask := func(caller string) {
			go func() {
				release, err := s.Acquire(t.Context(), caller)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					order, releases = append(order, caller), append(releases, release)
				}
			}()
			synctest.Wait()
		}
		for range 5 {
			ask("flood")
		}
		ask("ann")
		ask("bob")
		said := func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(order) }
		require.Equal(t, []string{"flood", "flood"}, said())
		for n := range 7 {
			mu.Lock()
			release := releases[n]
			mu.Unlock()
			release()
			release() // counts once
			synctest.Wait()
		}
		require.Equal(t, []string{"flood", "flood", "ann", "bob", "flood", "flood", "flood"}, said())
	})
}

func TestACallerWhoGivesUpTakesNoSlot(t *testing.T) {
	s := fair.New(1)
	release, err := s.Acquire(t.Context(), "ann")
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Acquire(ended, "bob")
	require.ErrorIs(t, err, context.Canceled)
	release()
	_, err = s.Acquire(t.Context(), "bob")
	require.NoError(t, err)
}
