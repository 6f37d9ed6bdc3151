package fullstack

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The test checks the order, which does not depend on the machine's speed: without
// fairness the other user's turn would run last.
func TestFloodOfOneUserDoesNotDelayAnother(t *testing.T) {
	const flood = 200
	s, model, c := scripted(t)
	newcomer := newTalk(t, c.url, s.NewUser())
	asking := func(c *talk) func(ctx context.Context, thread string) error {
		doc := c.upload("Liquidity circular", circular)
		return func(ctx context.Context, thread string) error {
			p := &person{client: c.client, urls: []string{c.url()}, thread: thread, doc: doc}
			return p.ask(ctx, "What is the ratio?")
		}
	}
	flooder, other := asking(c), asking(newcomer)
	c.client.Transport.(*http.Transport).MaxIdleConnsPerHost = flood

	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	var answered atomic.Int32
	failed := make(chan error, flood)
	var wg sync.WaitGroup
	for range flood {
		wg.Go(func() {
			err := flooder(ctx, uuid.NewString())
			if err != nil && ctx.Err() == nil {
				failed <- err
			}
			answered.Add(1)
		})
	}
	require.NoError(t, model.WaitCount(ctx, answerCall, 1))
	require.NoError(t, other(ctx, newcomer.thread))
	before := answered.Load()
	cancel() // the rest of the flood does not matter
	wg.Wait()
	require.Empty(t, failed)
	require.Equal(t, []string{"user", "assistant"}, newcomer.history().roles())
	t.Logf("%d of %d turns were answered before the other's", before, flood)
	require.Less(t, before, int32(flood/2))
}
