package llmtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

func client(s *llmtest.Server) llm.Model {
	return openai.New(openai.Config{Provider: "openai-compatible", BaseURL: s.URL, Name: "scripted", FirstByteTimeout: 5 * time.Second})
}

func ask(system, user string) llm.Request {
	return llm.Request{Task: llm.TaskInquire, Messages: []llm.Message{{Role: llm.System, Text: system}, {Role: llm.User, Text: user}}}
}

func TestDefaultScriptAnswersEveryCallOfATurn(t *testing.T) {
	s := llmtest.New(t)
	m := client(s)
	var intent llm.Intent
	if _, err := m.Structured(t.Context(), ask("classify", "What applies?"), llm.IntentSchema, &intent); err != nil || intent.Action != chat.Inquire || intent.Confidence != chat.High {
		t.Errorf("intent %+v, %v", intent, err)
	}
	const a, b, c = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	known := `Known documents: [{"id":"` + a + `","title":"Gift \"Rules\""},{"id":"` + b + `","title":"Circular 2024"}]` + "\n- " + c + ": Lease"
	var docs llm.DocResolution
	_, err := m.Structured(t.Context(), ask(known, `compare circular 2024, the lease and gift "rules"`), llm.DocResolutionSchema, &docs)
	assert.True(t, err == nil && slices.Equal(docs.ResolvedIDs, []string{a, b, c}), "documents %+v, %v", docs, err)
	var text strings.Builder
	prompt := "<passage id=\"4\" title=\"T\" section=\"S\">\n## Capital\n\nBanks hold ten percent. More follows.\n</passage>"
	if _, err := m.Stream(t.Context(), ask("answer", prompt), func(d string) error { text.WriteString(d); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "The documents say: “Banks hold ten percent.” [4]"; text.String() != want {
		t.Errorf("answer %q, want %q", text.String(), want)
	}
	assert.True(t, s.Count(llmtest.Match{Kind: llmtest.Structured}) == 2 && s.Count(llmtest.Match{Schema: llm.IntentSchema.Name}) == 1 && s.Count(llmtest.Match{Kind: llmtest.Stream}) == 1, "recorded %+v", s.Requests())
}

func TestMessageCanNameAToolToCall(t *testing.T) {
	s := llmtest.New(t)
	m := client(s)
	r := llm.Request{Task: llm.TaskAssistant, Tools: []llm.Tool{{Name: "echo"}}, Messages: []llm.Message{{Role: llm.User, Text: `please call echo {"message":"hi"}`}}}
	reply, err := m.Stream(t.Context(), r, func(string) error { return nil })
	require.True(t, err == nil && len(reply.Calls) == 1 && reply.Calls[0].Name == "echo" && reply.Calls[0].Arguments == `{"message":"hi"}`, "%+v, %v", reply, err)
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: reply.Calls}, llm.Message{Role: llm.ToolRole, CallID: reply.Calls[0].ID, Text: "hi!"})
	var text strings.Builder
	reply, err = m.Stream(t.Context(), r, func(d string) error { text.WriteString(d); return nil })
	assert.True(t, err == nil && len(reply.Calls) == 0 && text.String() == "The tool says: hi!", "%q, %+v, %v", text.String(), reply, err)
	if seen := s.Requests(); seen[1].LastResult != "hi!" || !slices.Equal(seen[1].Tools, []string{"echo"}) {
		t.Errorf("recorded %+v", seen[1])
	}
}

func TestServerRejectsWhatStrictProvidersReject(t *testing.T) {
	const call = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const tools = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	s := llmtest.New(t)
	for _, c := range []struct {
		messages, tools string
		want            int
	}{
		{`{"role":"user","content":"x"},` + call + `,{"role":"tool","tool_call_id":"a","content":"r"}`, tools, 200},
		{`{"role":"user","content":"x"},` + call + `,{"role":"tool","tool_call_id":"a","content":"r"}`, "", 400},
		{`{"role":"user","content":"x"},` + call, tools, 400},
		{`{"role":"user","content":"x"},` + call + `,{"role":"user","content":"y"}`, tools, 400},
		{`{"role":"user","content":"x"},` + call + `,{"role":"tool","tool_call_id":"b","content":"r"}`, tools, 400},
		{`{"role":"user","content":"x"},{"role":"tool","tool_call_id":"a","content":"r"}`, tools, 400},
		{`{"role":"user","content":"x"},` + call + `,{"role":"tool","tool_call_id":"a","content":""}`, tools, 400},
		{`{"role":"user","content":" "}`, "", 400},
		{`{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://example.org/x.png"}}]}`, "", 400},
		{`{"role":"user","content":"x"}`, `,"tools":[{"type":"function","function":{"name":"no such name"}}]`, 400},
	} {
		resp, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[`+c.messages+`]`+c.tools+`}`))
		require.NoError(t, err)
		resp.Body.Close()
		assert.EqualValues(t, c.want, resp.StatusCode, "%s%s: %d, want %d", c.messages, c.tools, resp.StatusCode, c.want)
	}
}
