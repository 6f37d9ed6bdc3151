package fullstack

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/workflows"
)

// acceptedOrder returns the order in which a thread's workflow accepted its turns.
func acceptedOrder(t *testing.T, tc client.Client, thread string) (turns []string) {
	t.Helper()
	for _, e := range fetchHistory(t, tc, workflows.ThreadWorkflowID(thread)).Events {
		in := e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest().GetInput()
		if in.GetName() == workflows.UpdateSubmit {
			var s workflows.SubmitRequest
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(in.Args, &s))
			turns = append(turns, s.TurnID)
		}
	}
	return turns
}

// The test runs with the limits of a production server: ten updates in flight.
func TestBurstRunsInTheOrderOfAcceptance(t *testing.T) {
	t.Parallel()
	const burst = 20
	s, model, c := scripted(t, stacktest.ServerDefaults())
	doc := c.upload("Liquidity circular", circular)
	for _, policy := range []chat.OnBusy{chat.Enqueue, chat.Supersede, chat.Rollback} {
		t.Run(string(policy), func(t *testing.T) {
			c := newTalk(t, c.url, c.client)
			calls := model.Count(answerCall)
			ends := map[string]event{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range burst {
				wg.Go(func() {
					end := last(c.ask(fmt.Sprintf("Question %d: what is the ratio?", i), object{"tagged_doc_ids": []string{doc}, "action": "inquire", "on_busy": policy}))
					mu.Lock()
					defer mu.Unlock()
					ends[end.TurnID] = end
				})
			}
			wg.Wait()
			require.Len(t, ends, burst)
			order := acceptedOrder(t, s.Temporal(), c.thread)
			require.Len(t, order, burst, "each is accepted once")

			want := order // of the history
			for i, id := range order {
				switch {
				case policy == chat.Enqueue || i == burst-1:
					require.Equal(t, "response", ends[id].Type, "turn %d of %d", i+1, burst)
				case policy == chat.Supersede && ends[id].Type != "response": // it may have finished before
					require.Equal(t, "superseded", ends[id].Reason, "turn %d of %d", i+1, burst)
				case policy == chat.Rollback && ends[id].Type != "response":
					require.Equal(t, "rolled_back", ends[id].Reason, "turn %d of %d", i+1, burst)
				}
			}
			if policy == chat.Rollback {
				want = nil
				for _, id := range order {
					if ends[id].Type == "response" {
						want = append(want, id)
					}
				}
			}
			var said []string
			for _, m := range c.history().Messages {
				if m.Role == "user" {
					said = append(said, m.TurnID)
				}
			}
			require.Equal(t, want, said)
			answered := 0
			for _, e := range ends {
				if e.Type == "response" {
					answered++
				}
			}
			if policy == chat.Enqueue {
				require.Equal(t, calls+burst, model.Count(answerCall))
			}
			t.Logf("%d of %d were answered", answered, burst)
		})
	}
}

// The test sends every message five times at once to a thread that continues as new
// often, and all of them again after a restart.
func TestDuplicateSendsMakeOneTurnAcrossRestartsAndContinueAsNew(t *testing.T) {
	t.Parallel()
	duplicateSendsMakeOneTurn(t)
}

func duplicateSendsMakeOneTurn(t *testing.T, options ...stacktest.Option) {
	const messages, sends = 6, 5
	s, model, c := scripted(t, options...)
	doc := c.upload("Liquidity circular", circular)
	startThread(t, s.Temporal(), c.me(), c.thread, 30)
	first := run(t, s.Temporal(), c.thread)
	fiveTimes := func(i int) event {
		ends := make([]event, sends)
		var wg sync.WaitGroup
		for n := range sends {
			wg.Go(func() {
				ends[n] = last(c.ask(fmt.Sprintf("Question %d: what is the ratio?", i), object{"tagged_doc_ids": []string{doc},
					"client_turn_id": fmt.Sprintf("message-%d", i), "stream_run_id": fmt.Sprintf("run-%d-%d", i, n)}))
			})
		}
		wg.Wait()
		for _, e := range ends {
			require.Equal(t, "response", e.Type)
			require.Equal(t, ends[0], e)
		}
		return ends[0]
	}
	var turns []string
	for i := range messages {
		turns = append(turns, fiveTimes(i).TurnID)
	}
	require.NotEqual(t, first, run(t, s.Temporal(), c.thread), "several runs")
	calls := model.Count(llmtest.Match{})
	require.Equal(t, messages, model.Count(answerCall))
	require.Equal(t, messages, model.Count(intentCall))

	s.Restart()
	for i := range messages {
		require.Equal(t, turns[i], fiveTimes(i).TurnID)
	}
	require.Equal(t, calls, model.Count(llmtest.Match{}), "no model call is repeated")
	h := c.history()
	require.Len(t, h.Messages, 2*messages)
	for i, id := range turns {
		require.Equal(t, id, h.Messages[2*i].TurnID)
	}
	c.do(http.StatusConflict, http.MethodPost, "/api/chat", object{"message": "Other words", "thread_id": c.thread, "client_turn_id": "message-3"}, nil)
}
