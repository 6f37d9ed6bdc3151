package api

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// With a bus that delivers, an idle page reads for unannounced turns twice a minute.
func TestIdlePageReadsForNewTurnsTwiceAMinute(t *testing.T) {
	for name, c := range map[string]struct {
		down, busMissed, unsubscribed bool
		want                          time.Duration
	}{
		"the bus delivers":             {want: threadBusPollInterval},
		"the bus is not connected":     {down: true, want: threadPollInterval},
		"the worker has no bus":        {busMissed: true, want: threadPollInterval},
		"the thread is not subscribed": {unsubscribed: true, want: threadPollInterval},
		"nothing delivers, and no bus": {down: true, busMissed: true, unsubscribed: true, want: threadPollInterval},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus()
				b.down = c.down
				ts := &threadStream{s: &server{Deps: Deps{Bus: b}}, busMissed: c.busMissed}
				if !c.unsubscribed {
					ts.newTurns = make(chan string)
				}
				began := time.Now()
				<-ts.wake(t.Context())
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
	t.Run("it is told of a turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			news := make(chan string, 1)
			ts := &threadStream{s: &server{Deps: Deps{Bus: newBus()}}, busMissed: true, newTurns: news}
			news <- "turn"
			began := time.Now()
			<-ts.wake(t.Context())
			require.Zero(t, time.Since(began))
			require.False(t, ts.busMissed, "the bus delivers again")
		})
	})
}
