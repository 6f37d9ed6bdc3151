package fullstack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/standalone/stacktest"
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
	const moment = 150 * time.Millisecond
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

// turnsWithKills asks questions, each of which takes several steps, and at a random moment of each
// kills the worker that runs a step. The other worker ends the turn, and nothing that had ended runs
// again. At least a third of the kills hit a step before it ends. It returns the longest time in which
// a viewer of one of the turns received no event.
func turnsWithKills(t *testing.T, turns int) (longest time.Duration) {
	s, model := apart(t, onPostgres(t))
	modelCalls, toolCalls := thoroughly(model)
	workers := []*stacktest.Role{s.Worker(), s.Worker()}
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	c.upload("Liquidity circular", circular)
	temporal := s.Servers.TemporalClient()
	hits := 0
	for i := 0; i < turns || 3*hits < turns && i < 3*turns; i++ {
		question := fmt.Sprintf("Question %d: what is the ratio?", i)
		turn := newTalk(t, c.url, c.client)
		stream := turn.send(question, object{"agent": "assistant", "effort": "thorough"})
		id := workflows.ThreadWorkflowID(turn.thread)
		arrivals := stream.arrivals()
		time.Sleep(rand.N(time.Second)) // the moment
		killRunningWorker(t, temporal, id, workers)
		end := event{}
		var seen []event
		var silent time.Duration
		var after string
		for a := range arrivals {
			if a.silence > silent {
				silent, after = a.silence, end.Type
			}
			end = a.event
			seen = append(seen, end)
		}
		longest = max(longest, silent)
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

		h := fetchHistory(t, temporal, id)
		scheduled, repeated := activitiesOf(h)
		require.Equal(t, toolCalls, scheduled["CallTool"], "no tool call is made twice")
		if repeated > 0 {
			hits++
		}
		t.Logf("turn %d: %d steps were hit; the viewer received nothing for %s after an event %q", i, repeated, silent, after)
	}
	require.GreaterOrEqual(t, 3*hits, turns, "the kills hit running steps")
	return longest
}

// arrival is an event and the time since the one before it, or since the first was waited for.
type arrival struct {
	event
	silence time.Duration
}

// arrivals receives the events of a stream to its turn's end, each when it arrives.
func (s *stream) arrivals() <-chan arrival {
	const most = 1000
	out := make(chan arrival, most)
	go func() {
		defer close(out)
		for last := time.Now(); ; last = time.Now() {
			e, ok := s.next()
			if !ok {
				return
			}
			out <- arrival{e, time.Since(last)}
			if terminal(e) {
				return
			}
		}
	}()
	return out
}

// killRunningWorker kills the worker that runs a step of a thread, as soon as one runs or the thread is idle, and
// starts another one in its place.
func killRunningWorker(t *testing.T, temporal client.Client, thread string, workers []*stacktest.Role) {
	victim := 0
	require.Eventually(t, func() bool {
		d, err := temporal.DescribeWorkflowExecution(t.Context(), thread, "")
		if err != nil {
			return false
		}
		for _, a := range d.PendingActivities {
			for n, w := range workers {
				if strings.HasPrefix(a.LastWorkerIdentity, fmt.Sprintf("%d@", w.Pid())) {
					victim = n
					return true
				}
			}
		}
		return len(d.PendingActivities) == 0 && d.PendingWorkflowTask == nil
	}, waitTimeout, 5*time.Millisecond)
	workers[victim].Kill()
	workers[victim].Start()
}

// activitiesOf returns how often a history schedules activities, by their type, and how many of
// them ended in a later attempt than the first.
func activitiesOf(h *historypb.History) (scheduled map[string]int, repeated int) {
	scheduled = map[string]int{}
	for _, e := range h.Events {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			scheduled[a.ActivityType.Name]++
		}
		if a := e.GetActivityTaskStartedEventAttributes(); a != nil && a.Attempt > 1 {
			repeated++
		}
	}
	return scheduled, repeated
}

func TestTurnOfManyStepsWhoseWorkerIsKilledEndsAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	turnsWithKills(t, 3)
}
