package api

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
)

// placeStore returns the place of a thread's newest turn.
type placeStore struct {
	db.Store
	mu    sync.Mutex
	place int
	err   error
	polls int
}

func (s *placeStore) LastPlace(context.Context, string, string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls++
	return s.place, s.err
}

func (s *placeStore) set(place int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place, s.err = place, err
}

func (s *placeStore) polled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls
}

// watched runs do in a synctest bubble with a server on a bus and a store.
func watched(t *testing.T, do func(t *testing.T, s *server, b *testBus, places *placeStore)) {
	synctest.Test(t, func(t *testing.T) {
		b, places := newTestBus(), &placeStore{place: 1}
		s := &server{Deps: Deps{Bus: b, Store: places, Log: slog.New(slog.DiscardHandler)}}
		s.watches = threadWatches{s: s, watches: map[threadKey]*threadWatch{}}
		do(t, s, b, places)
		synctest.Wait()
		require.Empty(t, s.watches.watches, "a watch outlives its streams")
	})
}

// With a bus that delivers, an idle thread is polled twice a minute, no matter how many
// pages show it.
func TestRestingThreadIsPolledTwiceAMinuteByAllItsPagesTogether(t *testing.T) {
	for name, c := range map[string]struct {
		down, refuses bool
		want          time.Duration
	}{
		"the bus delivers":         {want: threadBusPollInterval},
		"the bus is not connected": {down: true, want: threadPollInterval},
		"it cannot be subscribed":  {refuses: true, want: threadPollInterval},
	} {
		t.Run(name, func(t *testing.T) {
			watched(t, func(t *testing.T, s *server, b *testBus, places *placeStore) {
				b.down, b.refuses = c.down, c.refuses
				for range 100 {
					_, leave := s.watches.join("ann", "thread")
					defer leave()
				}
				synctest.Wait()
				require.Equal(t, 1, places.polled())
				time.Sleep(10*c.want + time.Second)
				require.Equal(t, 11, places.polled())
			})
		})
	}
}

func TestWatchPollsOftenWhileTheBusMissesTurns(t *testing.T) {
	watched(t, func(t *testing.T, s *server, b *testBus, places *placeStore) {
		w, leave := s.watches.join("ann", "thread")
		defer leave()
		synctest.Wait()
		polls := func(within time.Duration) int {
			before := places.polled()
			time.Sleep(within)
			return places.polled() - before
		}
		places.set(2, nil) // by a worker without a bus
		require.Equal(t, 1, polls(threadBusPollInterval+time.Second/2))
		newest, changed := w.newest()
		require.Equal(t, 2, newest)
		require.Equal(t, 10, polls(10*threadPollInterval))

		places.set(3, nil)
		b.ThreadChanged("thread", "turn")
		<-changed
		newest, changed = w.newest()
		require.Equal(t, 3, newest)
		require.Equal(t, 1, polls(threadBusPollInterval+time.Second/2), "the bus delivers again")

		places.set(4, errors.New("no database"))
		require.Equal(t, 10, polls(threadBusPollInterval+9*threadPollInterval), "a failed poll is retried soon")
		places.set(4, nil)
		<-changed
	})
}

func TestPagesOfDifferentOwnersDoNotShareAWatch(t *testing.T) {
	watched(t, func(t *testing.T, s *server, _ *testBus, _ *placeStore) {
		ann, leaveAnn := s.watches.join("ann", "thread")
		bob, leaveBob := s.watches.join("bob", "thread")
		require.NotSame(t, ann, bob)
		again, leaveAgain := s.watches.join("ann", "thread")
		require.Same(t, ann, again)
		leaveAgain()
		leaveAgain() // leaving twice counts once
		require.Len(t, s.watches.watches, 2)
		leaveAnn()
		leaveBob()
	})
}
