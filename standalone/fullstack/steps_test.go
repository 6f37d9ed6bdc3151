package fullstack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/workflows"
)

// afterResults matches the model calls of a turn that have read so many results of tools.
func afterResults(n int) llmtest.Match {
	return llmtest.Match{Kind: llmtest.Stream, Func: func(r llmtest.Request) bool { return results(r) == n }}
}

func results(r llmtest.Request) int { return bytes.Count(r.Body, []byte(`"role":"tool"`)) }

// thoroughly scripts a turn that plans, searches, opens and computes before it answers. Each call
// of the model takes a moment.
func thoroughly(model *llmtest.Server) (modelCalls, toolCalls int) {
	const moment = 60 * time.Millisecond
	model.On(llmtest.Match{Kind: llmtest.Structured, Schema: "plan"}, llmtest.Answer{Delay: moment, JSON: object{"steps": []string{"Find the ratio", "Compute"}}})
	for n, calls := range []llmtest.Answer{
		llmtest.Calls(llmtest.Call("search_documents", object{"query": "liquidity coverage ratio", "also": []string{"minimum percent"}}), llmtest.Call("list_documents", object{})),
		llmtest.Calls(llmtest.Call("read_document", object{"document": "Liquidity circular"})),
		llmtest.Calls(llmtest.Call("find_in_document", object{"document": "Liquidity circular", "words": "ratio"}), llmtest.Call("calculate", object{"formulas": []string{"100 * 1.5"}})),
		llmtest.Text("The ratio is at least ", "100 percent [1]."),
	} {
		calls.Delay = moment
		results := []int{0, 2, 3, 5}[n]
		model.On(afterResults(results), calls)
	}
	return 5, 5
}

// turnsWithKills asks questions, each of which takes several steps, and kills a worker at a random
// moment of each. Another worker ends the turn, and nothing that had ended runs again.
func turnsWithKills(t *testing.T, turns int) {
	s, model := apart(t, onPostgres(t))
	modelCalls, toolCalls := thoroughly(model)
	s.Worker()
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	c.upload("Liquidity circular", circular)
	temporal := s.Servers.TemporalClient()
	for i := range turns {
		victim := s.Worker()
		question := fmt.Sprintf("Question %d: what is the ratio?", i)
		turn := newTalk(t, c.url, c.client)
		stream := turn.send(question, object{"agent": "assistant", "effort": "thorough"})
		kill := time.AfterFunc(rand.N(800*time.Millisecond), victim.Kill)
		var seen []event
		end := stream.until(func(e event) bool {
			seen = append(seen, e)
			return terminal(e)
		})
		kill.Stop()
		victim.Kill()
		require.Equal(t, "response", end.Type, "%+v", end)
		require.Equal(t, "The ratio is at least 100 percent [1].", end.Response)

		calls, ended, plans := map[string]int{}, map[string]int{}, 0
		for _, e := range seen {
			switch {
			case e.Type == "tool_call":
				calls[e.ID]++
			case e.Type == "tool_result":
				ended[e.CallID]++
				require.False(t, e.IsError, "%+v", e)
			case e.Type == "notice" && e.Code == "plan":
				plans++
			}
		}
		require.Equal(t, 1, plans)
		require.Len(t, calls, toolCalls)
		require.Equal(t, calls, ended, "each call has one result")
		asked := 0
		for _, r := range model.Requests() {
			if strings.Contains(r.LastUser, question) && (r.Kind == llmtest.Stream && r.LastUser == question || r.Schema == "plan") {
				asked++
			}
		}
		require.GreaterOrEqual(t, asked, modelCalls)
		require.LessOrEqual(t, asked, modelCalls+1, "only the call that ran when the worker died is made again")

		silent, after := longestSilence(fetchHistory(t, temporal, workflows.ThreadWorkflowID(turn.thread)))
		t.Logf("turn %d: nothing was recorded for %s after %s", i, silent, after)
		require.LessOrEqual(t, silent, maxSilence, "after %s", after)
	}
}

// maxSilence is how long a turn may stand still after its worker died, while another one runs.
const maxSilence = 10 * time.Second

// longestSilence returns the longest time between two events of a history, and the event before.
func longestSilence(h *historypb.History) (longest time.Duration, after string) {
	at := func(e *historypb.HistoryEvent) time.Time { return e.GetEventTime().AsTime() }
	events := slices.SortedStableFunc(slices.Values(h.Events), func(a, b *historypb.HistoryEvent) int { return at(a).Compare(at(b)) })
	for i, e := range events[1:] {
		if d := at(e).Sub(at(events[i])); d > longest {
			longest, after = d, events[i].GetEventType().String()
		}
	}
	return longest, after
}

func TestTurnOfManyStepsWhoseWorkerIsKilledEndsAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	turnsWithKills(t, 3)
}
