package fullstack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/temporalproto"
	"google.golang.org/protobuf/proto"

	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

var paintCall = llmtest.Match{Kind: llmtest.Images}

// decide answers a question about tools.
func (c *talk) decide(decisions ...object) *stream {
	c.t.Helper()
	return c.open(http.MethodPost, "/api/chat/resume", object{
		"thread_id": c.thread, "resume_value": object{"type": chat.ToolApproval, "decisions": decisions},
	})
}

func approve(id string) object { return object{"id": id, "decision": "approved"} }

// requests returns the model's requests of a kind.
func requests(model *llmtest.Server, kind llmtest.Kind) (out []llmtest.Request) {
	for _, r := range model.Requests() {
		if r.Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

var pictureURL = regexp.MustCompile(`/api/attachments/[0-9a-f-]{36}`)

// The test kills the whole stack while an approval is open, and again while the
// approved tool runs.
// Rule W8.
func TestSideEffectRunsOnceAcrossCrashes(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	p := stacktest.StartProcess(t, stacktest.Model(model.URL))
	c := newTalk(t, func() string { return p.URL }, p.Client)
	model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a cat"})), llmtest.Text("Here it is."))
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(paintCall, llmtest.Answer{Gates: map[int]*llmtest.Gate{0: gate}}, llmtest.Default())

	asked := last(c.ask("Draw a cat", object{"agent": "assistant"}))
	require.Equal(t, string(chat.ToolApproval), asked.Kind)
	call := chat.CallID(asked.TurnID, 1)
	p.Kill()
	p.Start()
	require.Equal(t, asked.Interrupt, c.history().Pending.Interrupt, "the approval is still open")

	page := c.decide(object{"id": call, "decision": "approved", "arguments": object{"prompt": "two cats"}})
	within(t, gate.Reached(), "the call that draws the picture")
	p.Kill()
	page.close()
	gate.Release()
	p.Start()
	var h history
	require.Eventually(t, func() bool {
		h = c.history()
		return h.Pending != nil
	}, waitTimeout, 50*time.Millisecond)
	require.NotEqual(t, asked.Interrupt, h.Pending.Interrupt)
	require.Contains(t, h.Pending.Message, "do not know whether it finished")
	require.Equal(t, 1, model.Count(paintCall), "the tool does not run again without approval")

	end := last(c.decide(approve(call)).all())
	require.Equal(t, "response", end.Type, "%+v", end)
	painted := requests(model, llmtest.Images)
	require.Len(t, painted, 2)
	require.Equal(t, "two cats", painted[1].LastUser, "with the edited arguments")
	require.Equal(t, []string{call, call}, []string{painted[0].IdempotencyKey, painted[1].IdempotencyKey})

	said := requests(model, llmtest.Stream)
	url := pictureURL.FindString(said[len(said)-1].LastResult)
	require.NotEmpty(t, url, "the model reads the picture's URL")
	resp := c.request(t.Context(), http.MethodGet, url, nil)
	defer resp.Body.Close()
	picture := must.Have(io.ReadAll(resp.Body))(t)
	require.Equal(t, llmtest.Picture("two cats"), picture)
	require.Equal(t, 2, model.Count(answerCall), "no model call was repeated")
}

func TestDecisionBySignalIsInTheAuditLog(t *testing.T) {
	s, model, c := scripted(t)
	model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a marzipan cat"})), llmtest.Text("Then not."))
	asked := last(c.ask("Draw a cat", object{"agent": "assistant"}))
	require.Equal(t, string(chat.ToolApproval), asked.Kind)
	page := c.attach("follow=turn")
	call := chat.CallID(asked.TurnID, 1)
	require.NoError(t, s.Temporal().SignalWorkflow(t.Context(), workflows.ThreadWorkflowID(c.thread), "", workflows.SignalResume,
		chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: call, Decision: chat.Rejected, Reason: "no marzipan"}}}))
	require.Equal(t, "response", page.until(terminal).Type)
	s.Stop() // writes the remaining entries to the audit log

	store := must.Have(service.OpenStore(context.Background(), s.Parts.Config))(t)
	defer store.Close()
	entries := must.Have(store.AuditEntries(context.Background(), db.AuditFilter{Kind: audit.Decided}, 0, 10))(t)
	require.Len(t, entries, 1)
	require.Equal(t, string(chat.BySignal), entries[0].Channel)
	require.Equal(t, c.thread, entries[0].Detail["thread"])
	raw := must.Have(json.Marshal(entries))(t)
	require.Contains(t, string(raw), `"tool":"generate_image"`)
	require.NotContains(t, string(raw), "marzipan")
}

// The test plants words in messages, tool calls, results, edited arguments and
// reasons, and searches Temporal's history for them.
func TestHistoryHoldsNoTextOfTools(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	c.upload("Zirkular plantedtitle", "The plantedpassage rule: a bank must hold a ratio of at least 100 percent.")
	model.On(answerCall,
		llmtest.Answer{Chunks: []string{"Let me look for plantedwords."}, Calls: []llm.ToolCall{
			llmtest.Call("search_documents", object{"query": "plantedpassage rule"}), llmtest.Call("list_documents", object{"title": "planted"})}},
		llmtest.Answer{Calls: []llm.ToolCall{
			llmtest.Call("generate_image", object{"prompt": "planted tree"}), llmtest.Call("generate_image", object{"prompt": "planted bush"}), llmtest.Call("search_documents", object{"planted": true})}},
		llmtest.Text("At least 100 percent, plantedly [1]."), llmtest.Text("Once more, planted."))
	asked := last(c.ask("What does the plantedpassage say?", object{"agent": "assistant"}))
	require.Equal(t, "interrupt", asked.Type, "%+v", asked)
	first, second := chat.CallID(asked.TurnID, 3), chat.CallID(asked.TurnID, 4)
	end := last(c.decide(object{"id": first, "decision": "approved", "remember": true, "arguments": object{"prompt": "planted oak"}},
		object{"id": second, "decision": "rejected", "reason": "one planted tree will do"}).all())
	require.Equal(t, "response", end.Type, "%+v", end)
	require.Equal(t, "Let me look for plantedwords.\n\nAt least 100 percent, plantedly [1].", end.Response)
	require.Len(t, end.Citations, 1)
	require.Equal(t, "response", last(c.ask("And again, planted?", nil)).Type)

	h := fetchHistory(t, s.Temporal(), workflows.ThreadWorkflowID(c.thread))
	b := must.Have(temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h))(t)
	raw := must.Have(proto.Marshal(h))(t)
	require.NotContains(t, string(b)+string(raw), "planted")
	require.NotContains(t, string(b), base64.StdEncoding.EncodeToString([]byte("planted"))[:8])
	require.Contains(t, string(raw), first, "the scan must see inside payloads")
}
