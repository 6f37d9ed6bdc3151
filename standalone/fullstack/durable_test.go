package fullstack

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// unsure is an intent that makes the turn ask for the action.
var unsure = llmtest.JSON(object{"action": "inquire", "confidence": "low", "enable_web_search": false,
	"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": ""})

func TestTurnKilledInAnyPhaseCompletesOnce(t *testing.T) {
	t.Parallel()
	for _, phase := range []struct {
		name   string
		at     llmtest.Match // the call during which all processes are killed
		chunk  int
		before map[string]int // finished calls, which must not be repeated
	}{
		{"resolving", intentCall, 0, nil},
		{"writing the first word", answerCall, 0, map[string]int{"intent": 1, "docs": 1}},
		{"writing", answerCall, 1, map[string]int{"intent": 1, "docs": 1}},
	} {
		t.Run(phase.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.New(t)
			p := stacktest.StartProcess(t, stacktest.Model(model.URL))
			c := newTalk(t, func() string { return p.URL }, p.Client)
			doc := c.upload("Liquidity circular", circular)
			gate := llmtest.NewGate()
			held := llmtest.Answer{Chunks: []string{"The ratio is ", "at least 100 percent [1]."}, Gates: map[int]*llmtest.Gate{phase.chunk: gate}}
			if phase.at.Schema != "" {
				held.Chunks = []string{`{"action":"inquire",`, `"confidence":"high"}`}
			}
			model.On(phase.at, held, llmtest.Default())
			page := c.send("What does the Liquidity circular say of the ratio?", nil)
			within(t, gate.Reached(), "the call")
			p.Kill()
			page.close()
			gate.Release()
			p.Start()

			end := c.attach("turn_id=" + c.history().Messages[0].TurnID).until(terminal) // it may have ended already
			require.Equal(t, "response", end.Type, "%+v", end)
			require.Equal(t, []string{"user", "assistant"}, c.history().roles())
			require.Equal(t, []string{doc}, docsOf(end))
			if phase.before != nil {
				require.Equal(t, 1, model.Count(intentCall))
				require.LessOrEqual(t, model.Count(docsCall), 1)
			}
		})
	}
}

// One activity resolves and answers. It publishes the log entries in between before the
// workflow has them.
func TestEntriesShownBeforeAKillAreTheEntriesOfTheTurn(t *testing.T) {
	model := llmtest.New(t)
	p := stacktest.StartProcess(t, stacktest.Model(model.URL))
	c := newTalk(t, func() string { return p.URL }, p.Client)
	doc := c.upload("Liquidity circular", circular)
	gate := llmtest.NewGate()
	model.On(answerCall, llmtest.Answer{Chunks: []string{"The ratio is ", "at least 100 percent [1]."}, Gates: map[int]*llmtest.Gate{0: gate}}, llmtest.Default())
	page := c.send("What is the ratio?", tags(doc))
	var shown []event
	page.until(func(e event) bool {
		shown = append(shown, e)
		return e.Node == "inquire"
	})
	within(t, gate.Reached(), "the call")
	late := c.attach("turn_id=" + turnOf(shown[0]))
	for _, e := range shown {
		require.Equal(t, e, late.until(func(event) bool { return true }), "a late viewer")
	}
	p.Kill()
	late.close()
	page.close()
	gate.Release()
	p.Start()

	whole := c.attach("turn_id=" + turnOf(shown[0])).all()
	require.Equal(t, "response", last(whole).Type)
	require.Equal(t, shown, whole[:len(shown)])
	nodes := 0
	for _, e := range whole {
		if e.Type == "status" {
			nodes++
		}
	}
	require.Equal(t, 6, nodes, "each status once: %+v", whole)
	require.Equal(t, 1, model.Count(intentCall))
}

// turnOf returns the id of the event's turn: the event's id begins with it.
func turnOf(e event) string {
	turn, _, _ := strings.Cut(e.EventID, ".")
	return turn
}

func docsOf(e event) (ids []string) {
	for _, c := range e.Citations {
		ids = append(ids, c.DocID)
	}
	return ids
}

func TestAnswerAfterACrashRepeatsNoModelCall(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	p := stacktest.StartProcess(t, stacktest.Model(model.URL))
	c := newTalk(t, func() string { return p.URL }, p.Client)
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, unsure)
	asked := last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}}))
	require.Equal(t, "interrupt", asked.Type)
	before := model.Count(llmtest.Match{})
	p.Kill()
	p.Start()
	h := c.history()
	require.NotNil(t, h.Pending)
	require.Equal(t, asked.Interrupt, h.Pending.Interrupt)
	require.Equal(t, "response", last(c.resume(chat.ActionChoice, "inquire")).Type)
	require.Equal(t, before+1, model.Count(llmtest.Match{}))
}

// startThread starts a thread's workflow with a short history limit instead of the
// server's.
func startThread(t *testing.T, tc client.Client, owner, thread string, events int) {
	t.Helper()
	_, err := tc.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
		ID: workflows.ThreadWorkflowID(thread), TaskQueue: workflows.TaskQueue,
	}, workflows.ThreadType, workflows.ThreadInput{
		Owner: owner, ThreadID: thread, ContinueAfter: events, Rules: workflows.Rules{
			Version: workflows.DefaultVersion, Settings: workflows.Settings{IdleTimeout: time.Hour, TurnDeadline: time.Minute},
		},
	})
	require.NoError(t, err)
}

func run(t *testing.T, tc client.Client, thread string) string {
	t.Helper()
	d := must.Have(tc.DescribeWorkflowExecution(context.Background(), workflows.ThreadWorkflowID(thread), ""))(t)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, d.WorkflowExecutionInfo.Status)
	return d.WorkflowExecutionInfo.Execution.RunId
}

func TestIdleThreadContinuesFromItsRows(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t, stacktest.Flag("thread-idle-timeout", "1s"))
	doc := c.upload("Liquidity circular", circular)
	require.Equal(t, "response", last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})).Type)
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	require.NoError(t, s.Temporal().GetWorkflow(ctx, workflows.ThreadWorkflowID(c.thread), "").Get(ctx, nil))
	end := last(c.ask("And the stress test?", object{"tagged_doc_ids": []string{doc}}))
	require.Equal(t, "response", end.Type)
	h := c.history()
	require.Equal(t, []string{"user", "assistant", "user", "assistant"}, h.roles())
	require.Equal(t, []string{h.Messages[2].TurnID}, h.Branches[h.Messages[0].TurnID], "the second turn follows the first")
}

// TestHistoryHoldsNoText plants words in all texts of people, documents and models,
// and searches Temporal's history for them.
// Rules T4, W3.
func TestHistoryHoldsNoText(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	doc := c.upload("Zirkular plantedtitle", "The plantedpassage rule on the plantedquestion: a bank must hold a ratio of at least 100 percent.")
	model.On(intentCall, llmtest.JSON(object{"action": "inquire", "confidence": "low", "enable_web_search": false,
		"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": "plantedreasoning"}))
	model.On(docsCall, llmtest.JSON(object{"resolved_uuids": []string{}, "unresolved_names": []string{"plantedname circular"},
		"inference_confidence": "low", "has_implicit_refs": false, "reasoning": "plantedreasoning"}))
	model.On(answerCall, llmtest.Text("The plantedanswer is 100 percent [1]."), llmtest.Status(http.StatusBadRequest, ""))
	require.Equal(t, "interrupt", last(c.ask("What does the plantedname circular say of the plantedquestion?", nil)).Type)
	require.Equal(t, "interrupt", last(c.resume(chat.ActionChoice, "summarize")).Type, "a summary needs the document")
	require.Equal(t, "interrupt", last(c.resume(chat.TextInput, "the plantedanswer")).Type)
	require.Equal(t, "response", last(c.resume(chat.TextInput, doc)).Type)
	require.Contains(t, c.history().roles(), "system")
	require.Equal(t, "the plantedanswer", c.history().Messages[4].Content, "the answer is stored")
	require.Equal(t, "error", last(c.ask("A plantedquestion that fails", object{"action": "inquire", "tagged_doc_ids": []string{doc}})).Type)

	for _, id := range []string{workflows.ThreadWorkflowID(c.thread), workflows.IngestWorkflowID(doc)} {
		h := fetchHistory(t, s.Temporal(), id)
		b := must.Have(temporalproto.CustomJSONMarshalOptions{}.Marshal(h))(t)
		raw := must.Have(proto.Marshal(h))(t)
		require.NotContains(t, string(b)+string(raw), "planted")
		require.NotContains(t, string(b), base64.StdEncoding.EncodeToString([]byte("planted"))[:8])
		require.Contains(t, string(raw), doc, "the scan must see inside payloads")
	}
	model.Reset()
}

func fetchHistory(t *testing.T, tc client.Client, id string) *historypb.History {
	t.Helper()
	h := &historypb.History{}
	events := tc.GetWorkflowHistory(context.Background(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e := must.Have(events.Next())(t)
		h.Events = append(h.Events, e)
	}
	return h
}
