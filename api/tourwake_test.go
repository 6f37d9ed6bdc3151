package api

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAPageThatRestsLooksForNewTurnsOncePerHalfMinute says when a page that stays
// in a thread looks for turns that nothing told it of.
func TestAPageThatRestsLooksForNewTurnsOncePerHalfMinute(t *testing.T) {
	for name, c := range map[string]struct {
		down, deaf, unsubscribed bool
		want                     time.Duration
	}{
		"the bus delivers":             {want: threadRest},
		"the bus is not connected":     {down: true, want: threadPoll},
		"the worker has no bus":        {deaf: true, want: threadPoll},
		"the thread is not subscribed": {unsubscribed: true, want: threadPoll},
		"nothing delivers, and no bus": {down: true, deaf: true, unsubscribed: true, want: threadPoll},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus()
				b.down = c.down
				tour := &tour{s: &server{Deps: Deps{Bus: b}}, deaf: c.deaf}
				if !c.unsubscribed {
					tour.news = make(chan string)
				}
				began := time.Now()
				<-tour.wake(t.Context())
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
	t.Run("it is told of a turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			news := make(chan string, 1)
			tour := &tour{s: &server{Deps: Deps{Bus: newBus()}}, deaf: true, news: news}
			news <- "turn"
			began := time.Now()
			<-tour.wake(t.Context())
			require.Zero(t, time.Since(began))
			require.False(t, tour.deaf, "the bus delivers again")
		})
	})
}
