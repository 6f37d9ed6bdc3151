package fullstack

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
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
	doc, other := c.upload("Liquidity circular", circular), newcomer.upload("Liquidity circular", circular)
	c.client.Transport.(*http.Transport).MaxIdleConnsPerHost = flood

	ctx, cancel := context.WithTimeout(t.Context(), 2*waitTimeout)
	defer cancel()
	var answered, failed atomic.Int32
	var wg sync.WaitGroup
	for range flood {
		wg.Go(func() {
			body, err := json.Marshal(object{"message": "What is the ratio?", "thread_id": uuid.NewString(), "tagged_doc_ids": []string{doc}, "action": "inquire"})
			if err != nil {
				panic(err)
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url()+"/api/chat", bytes.NewReader(body))
			if err != nil {
				panic(err)
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := c.client.Do(req)
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if ctx.Err() != nil {
				return
			}
			if err != nil || !bytes.Contains(body, []byte(`"type":"response"`)) {
				failed.Add(1)
			}
			answered.Add(1)
		})
	}
	require.NoError(t, model.WaitCount(ctx, answerCall, 1))
	require.Equal(t, "response", last(newcomer.ask("What is the ratio?", with(tags(other), object{"action": "inquire"}))).Type)
	before := answered.Load()
	cancel() // the rest of the flood does not matter
	wg.Wait()
	require.Zero(t, failed.Load())
	require.Equal(t, []string{"user", "assistant"}, newcomer.history().roles())
	t.Logf("%d of %d turns were answered before the other's", before, flood)
	require.Less(t, before, int32(flood/2))
}
