package activities

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/llm"
)

// aheadTest is a turn whose Resolve may go on to the answer.
type aheadTest struct {
	*resolveTest
	stream func(context.Context, func(string) error) error
}

// Stream answers by the test's script.
func (m *aheadTest) Stream(ctx context.Context, _ llm.Request, emit func(string) error) (llm.Reply, error) {
	return llm.Reply{Usage: oneCall}, m.stream(ctx, emit)
}

func (m *aheadTest) Structured(ctx context.Context, r llm.Request, s llm.Schema, out any) (chat.Usage, error) {
	return m.model.Structured(ctx, r, s, out)
}

func (m *aheadTest) Embed(context.Context, []string) ([][]float32, error) {
	return nil, llm.ErrNoEmbeddings
}
func (m *aheadTest) Info() llm.Info { return llm.Info{Provider: "scripted", Name: "scripted"} }

func setupAhead(t *testing.T) *aheadTest {
	a := &aheadTest{resolveTest: setupResolve(t), stream: streamText("Twenty-five ", "days.")}
	a.Activities.Model = a
	a.search.selection = retrieval.Selection{Confidence: chat.High, Score: 0.9}
	a.req.GoOn = &GoOn{}
	a.req.Logged, a.req.Order = 2, 1
	return a
}

func (a *aheadTest) nodes(entries []chat.Entry) (out []string) {
	for i, e := range entries {
		require.Equal(a.t, a.req.Logged+1+i, e.N)
		out = append(out, string(e.Node)+e.Code)
	}
	return out
}

var inquiry = []string{"doc_resolver", "doc_resolver", "validate_inputs", "inquire"}

func TestResolveGoesOnToTheAnswerWhenNothingHasToBeAsked(t *testing.T) {
	a := setupAhead(t)
	got := must[Resolved](a.testBundle, a.Resolve, a.req)
	require.Equal(t, *a.want.Intent, got.Ahead.Intent)
	require.Equal(t, *a.want.Docs, got.Ahead.Docs)
	require.Equal(t, chat.High, got.Ahead.Found.Confidence)
	require.Equal(t, inquiry, a.nodes(got.Ahead.Entries))
	require.Equal(t, 17, got.Written.Chars)
	require.Len(t, a.bus.logs, 1)
	require.Equal(t, inquiry, a.nodes(a.bus.logs[0]))
	for _, d := range a.bus.published() {
		require.Equal(t, 6, d.Logged, "a viewer shows no text before the entries")
	}
	require.Equal(t, "Twenty-five days.", a.texts(a.req.TurnRef)[chat.PieceKey(1)])
	var recorded Ahead
	require.NoError(t, json.Unmarshal([]byte(a.texts(a.req.TurnRef)[chat.TextAhead]), &recorded))
	require.Equal(t, *got.Ahead, recorded)
}

func TestResolveLeavesToTheWorkflowWhatMayNeedAPerson(t *testing.T) {
	for name, change := range map[string]func(a *aheadTest){
		"an unclear action": func(a *aheadTest) { a.model.intent = always(intentOf(chat.Inquire, chat.Low)) },
		"a missing document": func(a *aheadTest) {
			a.model.intent = always(intentOf(chat.Compare, chat.High))
		},
		"too little found": func(a *aheadTest) { a.search.selection.Confidence = chat.Low },
		"no tokens left":   func(a *aheadTest) { a.req.GoOn.Tokens = 1 },
		"a web search": func(a *aheadTest) {
			a.req.GoOn.Known.Intent = &Intent{Action: chat.Inquire, Confidence: chat.High, WebSearch: true}
			a.req.Intent = false
		},
		"an unknown document": func(a *aheadTest) {
			a.req.GoOn.Known.Docs, a.req.Docs = &Docs{Confidence: chat.High, Unresolved: true}, false
		},
		"several candidates": func(a *aheadTest) {
			a.req.GoOn.Known.Docs, a.req.Docs = &Docs{Confidence: chat.Medium, Suggested: []string{"a", "b"}}, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := setupAhead(t)
			change(a)
			got := must[Resolved](a.testBundle, a.Resolve, a.req)
			require.Nil(t, got.Ahead)
			require.Nil(t, got.Written)
			require.Empty(t, a.bus.logs)
			require.Empty(t, a.bus.published())
			require.NotContains(t, a.texts(a.req.TurnRef), chat.TextAhead)
		})
	}
}

// What cannot be recorded is not shown: the next attempt may find another answer.
func TestEntriesThatCannotBeRecordedAreNotShown(t *testing.T) {
	a := setupAhead(t)
	a.store.putFails = func(key string) error {
		if key == chat.TextAhead {
			return db.ErrUnavailable
		}
		return nil
	}
	_, err := run[Resolved](a.testBundle, a.Resolve, a.req)
	require.Error(t, err)
	require.Empty(t, a.bus.logs)
	require.Empty(t, a.bus.published())

	a.store.putFails = nil
	a.next()
	got := must[Resolved](a.testBundle, a.Resolve, a.req)
	require.Equal(t, inquiry, a.nodes(got.Ahead.Entries))
	require.Equal(t, 1, a.model.made[llm.TaskIntent], "its results come with the handover")
}

// The worker dies between the entries and the answer.
func TestNextAttemptGoesOnFromTheRecordedEntries(t *testing.T) {
	a := setupAhead(t)
	restarts := 0
	a.OnRestart = func() { restarts++ }
	a.stream = func(context.Context, func(string) error) error {
		return &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("reset")}
	}
	_, err := run[Resolved](a.testBundle, a.Resolve, a.req)
	require.Error(t, err)

	a.lastHandover = handover{} // a worker that dies records no failure
	a.next()
	other := func(context.Context, int) (any, error) { t.Error("resolved again"); return nil, llm.ErrUnparseable }
	a.model.intent, a.model.docs = other, other
	a.search.selection = retrieval.Selection{Confidence: chat.Low}
	a.stream = streamText("Twenty-five days.")
	got := must[Resolved](a.testBundle, a.Resolve, a.req)
	require.Equal(t, inquiry, a.nodes(got.Ahead.Entries))
	require.Len(t, a.bus.logs, 2)
	require.Equal(t, a.bus.logs[0], a.bus.logs[1], "the same entries, with the same numbers and times")
	require.Equal(t, 2, got.Written.Attempt)
	require.Equal(t, 1, restarts)
}

// No answer had begun.
func TestResolvingAgainIsNoRestartOfAnAnswer(t *testing.T) {
	a := setupAhead(t)
	a.OnRestart = func() { t.Error("reported") }
	a.info.attempt = 2
	require.NotNil(t, must[Resolved](a.testBundle, a.Resolve, a.req).Written)
}

// A frozen worker wakes up when the turn has gone on without it.
func TestAttemptThatWasGivenUpShowsNothingAfterTheSeal(t *testing.T) {
	for name, seal := range map[string]func(a *aheadTest){
		"the workflow took what was recorded": func(a *aheadTest) {
			require.Empty(a.t, must[Ahead](a.testBundle, a.SealAhead, a.req.TurnRef).Entries)
		},
		"the next attempt left the turn to the workflow": func(a *aheadTest) {
			a.search.selection.Confidence = chat.Low
			a.next()
			require.Nil(a.t, must[Resolved](a.testBundle, a.Resolve, a.req).Ahead)
			a.search.selection.Confidence = chat.High
			a.env, a.info.attempt = a.newEnv(worker.Options{}), 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := setupAhead(t)
			seal(a)
			got := must[Resolved](a.testBundle, a.Resolve, a.req)
			require.Nil(t, got.Ahead)
			require.Empty(t, a.bus.logs)
			require.Empty(t, a.bus.published())
		})
	}
}

func TestSealReturnsWhatWasRecorded(t *testing.T) {
	a := setupAhead(t)
	got := must[Resolved](a.testBundle, a.Resolve, a.req)
	require.Equal(t, *got.Ahead, must[Ahead](a.testBundle, a.SealAhead, a.req.TurnRef))
}
