package fullstack

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// These tests check the five promises of the agent v2 dialect about a message that is
// sent while another is answered.

// agentEvent is one event of the agent v2 dialect.
type agentEvent struct {
	Type        string            `json:"type"`
	Session     string            `json:"session_id"`
	Content     string            `json:"content"`
	Name        string            `json:"name"`
	Run         string            `json:"stream_run_id"`
	Client      string            `json:"client_turn_id"`
	Finished    string            `json:"finished_reason"`
	Interrupted chat.CancelReason `json:"interrupted_reason"`
	Error       *struct{ Code string }
	Usage       *chat.Usage `json:"usage"`
}

// agentStream is an open stream of the agent v2 dialect.
type agentStream struct {
	*stream
	seen []agentEvent
}

// agent posts a message; more holds further fields.
func (c *talk) agent(turn, message string, more object) *agentStream {
	c.t.Helper()
	body := object{"message": message, "client_turn_id": turn, "stream_run_id": "run of " + turn}
	for k, v := range more {
		body[k] = v
	}
	return &agentStream{stream: c.open(http.MethodPost, "/api/agent/v2/stream", body)}
}

// wait reads on to the first event of a type; ok is false at the end.
func (s *agentStream) wait(kind string) (_ agentEvent, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		data, is := strings.CutPrefix(s.lines.Text(), "data: ")
		if !is {
			continue
		}
		var e agentEvent
		require.NoError(s.t, json.Unmarshal([]byte(data), &e), data)
		require.NotEmpty(s.t, e.Run, "every event must name its run: %s", data)
		s.seen = append(s.seen, e)
		if e.Type == kind {
			return e, true
		}
	}
	return agentEvent{}, false
}

func (s *agentStream) until(kind string) agentEvent {
	s.t.Helper()
	e, ok := s.wait(kind)
	require.True(s.t, ok, "the stream ended without %s: %+v (%v)", kind, s.seen, s.lines.Err())
	return e
}

// done reads to the end and requires exactly one done event, as the last.
func (s *agentStream) done() agentEvent {
	s.t.Helper()
	e := s.until("done")
	_, more := s.wait("")
	require.False(s.t, more)
	require.Equal(s.t, "done", s.seen[len(s.seen)-1].Type)
	require.Equal(s.t, "session", s.seen[0].Type)
	return e
}

func (s *agentStream) text() (all string) {
	for _, e := range s.seen {
		if e.Type == "text" {
			all += e.Content
		}
	}
	return all
}

func (c *talk) agentStop(body object) {
	c.t.Helper()
	c.do(http.StatusAccepted, http.MethodPost, "/api/agent/v2/stop", body, nil)
}

// heldAt returns an answer that waits before chunks[k] until the gate opens, at the latest
// at the end of the test.
func heldAt(t *testing.T, k int, chunks ...string) (llmtest.Answer, *llmtest.Gate) {
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	return llmtest.Answer{Chunks: chunks, Gates: map[int]*llmtest.Gate{k: gate}}, gate
}

func TestAbortReturnsCancelledWithPartialAndToolResults(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	held, _ := heldAt(t, 1, "You have ", "never said")
	model.On(answerCall, llmtest.Calls(llmtest.Call("list_documents", object{})), held)
	s := c.agent("c1", "Which documents do I have?", nil)
	c.thread = s.until("session").Session
	require.Equal(t, "list_documents", s.until("tool_result").Name)
	s.until("text")
	c.agentStop(object{"stream_run_id": "run of c1"})
	end := s.done()
	require.Equal(t, "cancelled", end.Finished)
	require.Equal(t, chat.UserCancelled, end.Interrupted)
	require.Nil(t, end.Error)
	require.Equal(t, "c1", end.Client)
	require.Equal(t, "You have", strings.TrimSpace(s.text()))
	require.NotNil(t, end.Usage)
	aborted(t, model, 1)

	said := c.history().Messages[1]
	require.Equal(t, "You have", said.Content)
	results := chat.ToolResults(said.Metadata)
	require.Len(t, results, 1, "%v", said.Metadata)
	require.Equal(t, "list_documents", results[0].Name)
	require.False(t, results[0].IsError)
	require.NotEmpty(t, results[0].Content)
}

func TestCancelMidStreamStoresTheInterruptionAndLogsNoError(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t, stacktest.Flag("log-level", "info"))
	held, _ := heldAt(t, 1, "A bank must hold ", "never said")
	model.On(answerCall, held)
	page := c.agent("c1", "What is the ratio?", nil)
	c.thread = page.until("session").Session
	page.until("text")
	c.agentStop(object{"session_id": c.thread, "client_turn_id": "c1", "reason": "user_cancelled"})
	require.Equal(t, "cancelled", page.done().Finished)
	aborted(t, model, 1)

	h := c.history()
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, "What is the ratio?", h.Messages[0].Content)
	require.Equal(t, "A bank must hold", h.Messages[1].Content)
	kept := h.Messages[1].Metadata
	require.Equal(t, true, kept["interrupted"])
	require.Equal(t, "user_cancelled", kept["interrupted_reason"])
	require.Equal(t, "cancelled", kept["finished_reason"])
	require.Equal(t, "run of c1", kept["stream_run_id"])
	require.Equal(t, "c1", kept["client_turn_id"])
	require.NotZero(t, kept["token_estimate"])
	logged := s.Logged()
	require.Contains(t, logged, h.Messages[0].TurnID, "the stop is logged at info")
	for line := range strings.Lines(logged) {
		if strings.Contains(line, h.Messages[0].TurnID) || strings.Contains(line, c.thread) {
			require.NotContains(t, line, "level=ERROR")
			require.NotContains(t, line, "level=WARN")
		}
	}
}

func TestStopBeforeFirstDeltaYieldsConsistentInterruptedState(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	held, gate := heldAt(t, 0, "never said")
	model.On(answerCall, held, llmtest.Text("At least ", "100 percent."))
	page := c.agent("c1", "What is the ratio?", nil)
	c.thread = page.until("session").Session
	within(t, gate.Reached(), "the model's call")
	c.agentStop(object{"stream_run_id": "run of c1"})
	end := page.done()
	require.Equal(t, "cancelled", end.Finished)
	require.Equal(t, chat.UserCancelled, end.Interrupted)
	require.Empty(t, page.text())

	h := c.history()
	require.Equal(t, []string{"user"}, h.roles())
	h.endsWithoutText(t, "cancelled", "user_cancelled")
	require.Nil(t, h.Active)
	replayed := last(c.attach("turn_id=" + h.Messages[0].TurnID).all())
	require.Equal(t, "cancelled", replayed.Type)
	require.Empty(t, replayed.Partial)
	again := c.agent("c1", "What is the ratio?", object{"session_id": c.thread})
	require.Equal(t, "cancelled", again.done().Finished, "a retry of a stopped message gets the stopped turn")
	next := c.agent("c2", "What is the ratio?", object{"session_id": c.thread})
	require.Equal(t, "stop", next.done().Finished)
	require.Equal(t, "At least 100 percent.", next.text())
	require.Equal(t, []string{"user", "user", "assistant"}, c.history().roles())
}

func TestFollowOnSupersedeMakesOneTurnInTheSameSession(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	held, _ := heldAt(t, 1, "A bank must hold ", "never said")
	model.On(answerCall, held, llmtest.Text("Once a quarter."))
	// The page has no session id yet and sends its first message twice.
	first, retry := c.agent("c1", "What is the ratio?", nil), c.agent("c1", "What is the ratio?", nil)
	c.thread = first.until("session").Session
	require.Equal(t, c.thread, retry.until("session").Session)
	first.until("text")
	retry.until("text")

	follow := make([]*agentStream, 3) // the follow-on is sent several times too
	var wg sync.WaitGroup
	for i := range follow {
		wg.Go(func() {
			follow[i] = c.agent("c2", "And the stress test?", object{"session_id": c.thread})
			for ok := true; ok; {
				_, ok = follow[i].wait("done")
			}
		})
	}
	wg.Wait()
	for _, s := range []*agentStream{first, retry} {
		end := s.done()
		require.Equal(t, "cancelled", end.Finished)
		require.Equal(t, chat.Superseded, end.Interrupted)
	}
	for _, s := range follow {
		require.Equal(t, "stop", s.seen[len(s.seen)-1].Finished)
		require.Equal(t, c.thread, s.seen[0].Session)
		require.Equal(t, "Once a quarter.", s.text())
	}
	h := c.history()
	require.Equal(t, []string{"user", "assistant", "user", "assistant"}, h.roles(), "both turns stay, the interrupted one is marked")
	require.Equal(t, "superseded", h.Messages[1].Metadata["interrupted_reason"])
	require.Equal(t, []string{h.Messages[0].TurnID}, h.Branches["root"])
	require.Equal(t, []string{h.Messages[2].TurnID}, h.Branches[h.Messages[0].TurnID])
	require.Equal(t, 2, model.Count(answerCall))
	var sessions struct{ Items []struct{ ID string } }
	c.do(http.StatusOK, http.MethodGet, "/api/conversations", nil, &sessions)
	require.Len(t, sessions.Items, 1)
	require.Equal(t, c.thread, sessions.Items[0].ID)
}

func TestNormalCompletedStreamsUnchanged(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(answerCall, llmtest.Text("At least ", "100 percent."))
	s := c.agent("c1", "What is the ratio?", nil)
	end := s.done()
	require.Equal(t, "stop", end.Finished)
	require.Empty(t, end.Interrupted)
	require.Nil(t, end.Error)
	require.NotZero(t, end.Usage.TokensOut)
	require.Equal(t, "At least 100 percent.", s.text())
	for _, e := range s.seen[1 : len(s.seen)-1] {
		require.Equal(t, "text", e.Type)
	}
	c.thread = s.seen[0].Session
	h := c.history()
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, "stop", h.Messages[1].Metadata["finished_reason"])
	require.NotContains(t, h.Messages[1].Metadata, "interrupted")

	// The native dialect must give the same events.
	native := newTalk(t, c.url, c.client)
	events := native.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire"})
	require.Equal(t, "response", last(events).Type)
	require.Equal(t, last(events).Response, text(events))
	require.Equal(t, "stop", native.history().Messages[1].Metadata["finished_reason"])
}
