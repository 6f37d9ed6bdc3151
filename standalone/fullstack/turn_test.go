package fullstack

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/workflows"
)

// scripted starts a stack with a scripted model and a conversation.
func scripted(t *testing.T, options ...stacktest.Option) (*stacktest.Stack, *llmtest.Server, *talk) {
	model := llmtest.New(t)
	s := stacktest.Start(t, append([]stacktest.Option{stacktest.Model(model.URL)}, options...)...)
	return s, model, newTalk(t, func() string { return s.URL }, s.Client)
}

func TestOfflineAnswerHasVerbatimCitations(t *testing.T) {
	t.Parallel()
	s := stacktest.Start(t)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	doc := c.upload("Liquidity circular", circular)
	events := c.ask("What is the liquidity coverage ratio a bank must hold?", object{"tagged_doc_ids": []string{doc}})
	answer := last(events)
	require.Equal(t, "response", answer.Type, "%+v", answer)
	require.Equal(t, answer.Response, text(events), "the streamed text is the answer")
	require.NotEmpty(t, answer.Citations)
	var nodes []string
	for _, e := range events {
		if e.Type == "status" {
			nodes = append(nodes, e.Node)
		}
	}
	require.Equal(t, []string{"intent_resolver", "doc_resolver", "doc_resolver", "validate_inputs", "inquire", "format_response"}, nodes)

	resp := c.request(context.Background(), http.MethodGet, "/api/documents/"+doc+"/text", nil)
	defer resp.Body.Close()
	stored, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	runes := []rune(string(stored))
	for _, cite := range answer.Citations {
		require.Equal(t, doc, cite.DocID)
		require.Equal(t, cite.Quote, string(runes[*cite.Start:*cite.End]))
		require.Contains(t, answer.Response, "["+string(rune('0'+cite.N))+"]")
	}
	h := c.history()
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, answer.Response, h.Messages[1].Content)
	require.Equal(t, "stop", h.Messages[1].Metadata["finished_reason"])
}

func TestResumeRepeatsNoModelCall(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, llmtest.JSON(object{"action": "summarize", "confidence": "high", "enable_web_search": false,
		"multi_action_detected": true, "actions": []string{"summarize", "audit"}, "reasoning": ""}))
	asked := last(c.ask("Summarize and audit this document", object{"tagged_doc_ids": []string{doc}}))
	require.Equal(t, "interrupt", asked.Type)
	require.Equal(t, []chat.Option{
		{ID: "summarize", Label: "Summarize", Code: "option.summarize"}, {ID: "audit", Label: "Audit", Code: "option.audit"}}, asked.Options)

	h := c.history()
	require.Equal(t, asked.Interrupt, h.Pending.Interrupt, "history restores the question")
	require.Equal(t, "interrupted", h.Active.Status)
	require.Equal(t, "user", h.Messages[0].Role)

	before := model.Count(llmtest.Match{})
	events := c.resume(chat.ActionChoice, "summarize")
	require.Equal(t, "response", last(events).Type)
	require.Equal(t, chat.Summarize, last(events).Action)
	require.Equal(t, before+1, model.Count(llmtest.Match{}), "only the answer needs a model call")
	require.Equal(t, []string{"user", "system", "user", "assistant"}, c.history().roles(), "the question and its answer are stored")
}

// Rule W4.
func TestSignalFromAShellResumesATurn(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	model.On(intentCall, llmtest.JSON(object{"action": "inquire", "confidence": "low", "enable_web_search": false,
		"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": ""}))
	doc := c.upload("Liquidity circular", circular)
	require.Equal(t, "interrupt", last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}})).Type)
	page := c.attach("follow=turn")
	page.until(isType("interrupt"))
	signal := func(input any) {
		require.NoError(t, s.Temporal().SignalWorkflow(context.Background(), workflows.ThreadWorkflowID(c.thread), "", workflows.SignalResume, input))
	}
	value := "summarize"
	signal(value) // not a valid answer; the page gets a notice
	require.Equal(t, chat.NoticeResumeIgnored, page.until(isType("notice")).Code)
	signal(chat.ResumeValue{Type: chat.ActionChoice, Value: &value})
	require.Equal(t, chat.Summarize, page.until(terminal).Action)
}

func TestDuplicateSendsMakeOneTurnAndOneSetOfModelCalls(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	var wg sync.WaitGroup
	answers := make([]event, 5)
	for i := range answers {
		wg.Go(func() {
			answers[i] = last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "client_turn_id": "once"}))
		})
	}
	wg.Wait()
	for _, a := range answers {
		require.Equal(t, "response", a.Type)
		require.Equal(t, answers[0].TurnID, a.TurnID)
	}
	require.Equal(t, 1, model.Count(answerCall))
	require.Equal(t, []string{"user", "assistant"}, c.history().roles())
	c.do(http.StatusConflict, http.MethodPost, "/api/chat", object{"message": "Other words", "thread_id": c.thread, "client_turn_id": "once"}, nil)
}

func TestClosedBrowserStopsNothingAndGetsEveryEventOnce(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	gate := llmtest.NewGate()
	model.On(answerCall, llmtest.Answer{Chunks: []string{"A bank must hold ", "a ratio of at least 100 percent [1]."}, Gates: map[int]*llmtest.Gate{1: gate}})
	page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	seen := page.until(isType("token"))
	page.close()

	again := c.attach("last_event_id=" + seen.EventID)
	gate.Release()
	var rest strings.Builder
	end := again.until(func(e event) bool {
		rest.WriteString(e.Content)
		require.NotContains(t, []string{"intent_resolver", "doc_resolver"}, e.Node, "seen before the disconnect")
		return terminal(e)
	})
	require.Equal(t, end.Response, seen.Content+rest.String())

	// A late viewer of the settled turn gets everything.
	late := c.attach("turn_id=" + end.TurnID).all()
	require.Equal(t, end.Response, text(late))
	require.Equal(t, end.Response, last(late).Response)
}

func TestStopKeepsThePartialAnswerAndAbortsTheModelCall(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"A bank must ", "never"}, Gates: map[int]*llmtest.Gate{1: gate}})
	page := c.send("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	page.until(isType("token"))
	c.do(http.StatusAccepted, http.MethodPost, "/api/chat/cancel", object{"thread_id": c.thread}, nil)
	end := page.until(terminal)
	require.Equal(t, "cancelled", end.Type)
	require.Equal(t, "user_cancelled", end.Reason)
	require.Equal(t, "A bank must", strings.TrimSpace(end.Partial))
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	require.NoError(t, model.WaitDisconnected(ctx, 1))
	h := c.history()
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, true, h.Messages[1].Metadata["interrupted"])
	require.Nil(t, h.Active)
}

func TestSendRightAfterCancellingAQuestionWorks(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, llmtest.JSON(object{"action": "inquire", "confidence": "low", "enable_web_search": false,
		"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": ""}), llmtest.Default())
	require.Equal(t, "interrupt", last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}})).Type)
	cancelled := c.open(http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread, "resume_value": object{"type": "cancel", "value": nil}}).all()
	require.Equal(t, "user_cancelled", last(cancelled).Reason)
	require.Equal(t, "response", last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})).Type)
	h := c.history()
	require.Nil(t, h.Pending)
	require.Equal(t, "response", last(c.ask("And the stress test?", object{"tagged_doc_ids": []string{doc}})).Type)
}

func TestRejectedKeyFailsTheTurnWithoutARetryAndNamesTheVariable(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	model.On(llmtest.Match{}, llmtest.Status(http.StatusUnauthorized, ""))
	end := last(c.ask("What is the ratio?", nil))
	require.Equal(t, 1, model.Count(llmtest.Match{}), "another attempt would be rejected too")
	require.Equal(t, "error", end.Type)
	require.Equal(t, chat.CodeModelRejected, end.Code)
	require.Contains(t, end.Message, "LLM_API_KEY")
	require.False(t, end.Retryable)
}

func TestIncompleteModelStreamIsRetriedWithANotice(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(answerCall, llmtest.Cut("A bank must hold "), llmtest.Text("The ratio is at least 100 percent [1]."))
	events := c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	require.Equal(t, "The ratio is at least 100 percent [1].", last(events).Response)
	var notices []string
	for _, e := range events {
		if e.Type == "notice" {
			notices = append(notices, e.Code)
		}
	}
	require.Equal(t, []string{chat.NoticeRestarted}, notices)
}

func TestFabricatedCitationsNeverReachTheClient(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	model.On(answerCall, llmtest.Text("It says “a bank must hold gold ", "in every branch” [7] and ", "also “at least 100 per", "cent at the end of every business day” [1", "]."))
	events := c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}})
	end := last(events)
	require.Equal(t, end.Response, text(events))
	require.NotContains(t, end.Response, "gold")
	require.NotContains(t, end.Response, "[7]")
	require.Contains(t, end.Response, "at least 100 percent at the end of every business day” [1]")
	require.Len(t, end.Citations, 1)
}

func TestRegistryOfAConversationSurvivesARestart(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	require.Equal(t, "response", last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{doc}, "action": "inquire"})).Type)
	s.Restart()
	model.On(docsCall, llmtest.JSON(object{"resolved_uuids": []string{doc, "11111111-1111-4111-8111-111111111111"}, "unresolved_names": []string{},
		"inference_confidence": "high", "has_implicit_refs": true, "reasoning": ""}))
	events := c.ask("And what does it say about stress tests?", object{"action": "inquire"})
	require.Equal(t, "response", last(events).Type)
	var found []chat.DocRef
	for _, e := range events {
		found = append(found, e.DocsFound...)
	}
	require.Equal(t, []chat.DocRef{{ID: doc, Title: "Liquidity circular"}}, found, "the resolver returns only existing documents")
	var asked string
	for _, r := range model.Requests() {
		if r.Schema == docsCall.Schema {
			asked = string(r.Body)
		}
	}
	require.Contains(t, asked, doc, "the prompt has the registry")
}

func TestConversationOfAnotherUserIsNotFound(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t)
	require.Equal(t, "response", last(c.ask("What is the ratio?", object{"tagged_doc_ids": []string{c.upload("Liquidity circular", circular)}})).Type)
	other := newTalk(t, c.url, s.NewUser())
	other.thread = c.thread
	other.do(http.StatusNotFound, http.MethodGet, "/api/chat/history/"+c.thread, nil, nil)
	other.do(http.StatusNotFound, http.MethodPost, "/api/chat", object{"message": "hello", "thread_id": c.thread}, nil)
	other.do(http.StatusNotFound, http.MethodPost, "/api/chat/resume", object{"thread_id": c.thread, "resume_value": object{"type": "cancel", "value": nil}}, nil)
}

func TestTurnsWorkWithTemporalsDefaultLimits(t *testing.T) {
	t.Parallel()
	_, model, c := scripted(t, stacktest.ServerDefaults())
	doc := c.upload("Liquidity circular", circular)
	model.On(intentCall, llmtest.JSON(object{"action": "inquire", "confidence": "low", "enable_web_search": false,
		"multi_action_detected": false, "actions": []string{"inquire", "summarize"}, "reasoning": ""}))
	require.Equal(t, "interrupt", last(c.ask("The circular", object{"tagged_doc_ids": []string{doc}})).Type)
	require.Equal(t, "response", last(c.resume(chat.ActionChoice, "inquire")).Type)
}
