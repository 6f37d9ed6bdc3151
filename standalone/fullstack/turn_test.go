package fullstack

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
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
	stored := must.Have(io.ReadAll(resp.Body))(t)
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
