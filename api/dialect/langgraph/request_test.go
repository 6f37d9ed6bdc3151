package langgraph

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant}}

const docID = "7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f12"

func TestParseStreamReadsTheLangGraphBody(t *testing.T) {
	s, err := ParseStream([]byte(`{"thread_id":"my-thread","checkpoint_id":null,
		"message":{"role":"human","content":" Draw a cat "},
		"messages":[{"role":"human","content":5},{"role":"ai"},"whatever"]}`), agents)
	if err != nil || s.ThreadAlias != "my-thread" || s.ThreadID != "" || s.Content.Message != "Draw a cat" ||
		s.Content.Agent != chat.AgentAssistant || s.Content.ParentRequest != "" || s.OnBusy != chat.Supersede || s.CancelOnDisconnect || !s.AgentUnset {
		t.Errorf("%+v %v", s, err)
	}
	s, err = ParseStream([]byte(`{"thread_id":"`+docID+`","checkpoint_id":"t0","message":{"role":"human","content":[
		{"type":"text","text":"What is"},{"type":"image","image":"chatbot://a1"},{"type":"text","text":"this?"},
		{"type":"image","image":"chatbot://a2"},{"type":"image","image":"chatbot://a1"}]}}`), agents)
	assert.True(t, err == nil && s.Content.Message == "What is\nthis?" && slices.Equal(s.Content.Attachments, []string{"a1", "a2"}) && s.Content.ParentRequest == "t0", "%+v %v", s, err)
}

// Rule G2.
func TestLastOfMessagesIsUsedWithoutAMessage(t *testing.T) {
	s, err := ParseStream([]byte(`{"thread_id":"t","message":null,"messages":[{"role":"human","content":"one"},{"role":"ai","content":"two"},{"role":"user","content":"three"}]}`), agents)
	assert.True(t, err == nil && s.Content.Message == "three", "%+v %v", s, err)
}

func TestPictureNeedsNoText(t *testing.T) {
	s, err := ParseStream([]byte(`{"message":{"role":"human","content":[{"type":"text","text":" "},{"type":"image","image":"chatbot://a1"}]}}`), agents)
	assert.True(t, err == nil && s.Content.Message == "" && len(s.Content.Attachments) == 1 && s.ThreadAlias == "", "%+v %v", s, err)
}

func TestParseStreamAcceptsNativeFields(t *testing.T) {
	s, err := ParseStream([]byte(`{"thread_id":"t","message":{"content":"x"},"client_turn_id":"c","stream_run_id":"r",
		"on_busy":"reject","agent":"documents","stream_mode":"messages","stream_tokens":false}`), agents)
	if err != nil || s.ClientTurnID != "c" || s.StreamRunID != "r" || s.OnBusy != chat.Reject ||
		s.Content.Agent != chat.AgentDocuments || s.AgentUnset || s.View != (dialect.View{Messages: true, NoTokens: true}) {
		t.Errorf("%+v %v", s, err)
	}
}

func TestParseStreamNamesTheField(t *testing.T) {
	long := strings.Repeat("x", 129)
	images := strings.TrimSuffix(strings.Repeat(`{"type":"image","image":"chatbot://N"},`, 9), ",")
	for i := range 9 {
		images = strings.Replace(images, "N", string(rune('a'+i)), 1)
	}
	for body, field := range map[string]string{
		``:                                    "body",
		`[]`:                                  "body",
		`{"thread_id":"t"}`:                   "message",
		`{"thread_id":"t","messages":[]}`:     "message",
		`{"thread_id":5,"message":{}}`:        "thread_id",
		`{"messages":{},"thread_id":"t"}`:     "messages",
		`{"message":"hello"}`:                 "message",
		`{"messages":[{"role":"human"},"x"]}`: "messages[1]",
		`{"messages":[{"role":"ai","content":"x"}]}`:                                                                    "messages[0].role",
		`{"message":{"role":"ai","content":"x"}}`:                                                                       "message.role",
		`{"message":{"role":"human"}}`:                                                                                  "message.content",
		`{"message":{"role":"human","content":null}}`:                                                                   "message.content",
		`{"message":{"role":"human","content":" "}}`:                                                                    "message.content",
		`{"message":{"role":"human","content":{}}}`:                                                                     "message.content",
		`{"message":{"role":"human","content":[]}}`:                                                                     "message.content",
		`{"message":{"role":"human","content":"` + strings.Repeat("ä", 32001) + `"}}`:                                   "message.content",
		`{"message":{"role":"human","content":"a\u0000"}}`:                                                              "message.content",
		`{"message":{"role":"human","content":[{"type":"text","text":"x"},5]}}`:                                         "message.content[1]",
		`{"message":{"role":"human","content":[{"type":"text"}]}}`:                                                      "message.content[0].text",
		`{"message":{"role":"human","content":[{"type":"audio","audio":"x"}]}}`:                                         "message.content[0].type",
		`{"message":{"role":"human","content":[{"type":"image"}]}}`:                                                     "message.content[0].image",
		`{"message":{"role":"human","content":[{"type":"image","image":"https://x/y.png"}]}}`:                           "message.content[0].image",
		`{"message":{"role":"human","content":[` + images + `]}}`:                                                       "message.content",
		`{"message":{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 64) + `{"type":"text","text":"x"}]}}`: "message.content",
		`{"thread_id":"a b","message":{"content":"x"}}`:                                                                 "thread_id",
		`{"thread_id":"` + long + `","message":{"content":"x"}}`:                                                        "thread_id",
		`{"checkpoint_id":"` + long + `","message":{"content":"x"}}`:                                                    "checkpoint_id",
		`{"checkpoint_id":{},"message":{"content":"x"}}`:                                                                "checkpoint_id",
		`{"agent":"discovery","message":{"content":"x"}}`:                                                               "agent",
		`{"effort":"huge","message":{"content":"x"}}`:                                                                   "effort",
		`{"on_busy":"wait","message":{"content":"x"}}`:                                                                  "on_busy",
		`{"stream_mode":"all","message":{"content":"x"}}`:                                                               "stream_mode",
		`{"client_turn_id":"` + long + `","message":{"content":"x"}}`:                                                   "client_turn_id",
		`{"stream_run_id":"\u0007","message":{"content":"x"}}`:                                                          "stream_run_id",
	} {
		_, err := ParseStream([]byte(body), agents)
		assert.EqualValues(t, field, firstField(err), "%v %v", body, err)
	}
}

func firstField(err error) string {
	var p dialect.Problems
	if !errors.As(err, &p) || len(p) == 0 {
		return ""
	}
	return p[0].Field
}

func TestParseFeedbackReadsTheLangGraphBody(t *testing.T) {
	f, err := ParseFeedback([]byte(`{"thread_id":"my-thread","checkpoint_id":"t.q1","approval_data":{"type":"tool_approval","decisions":[
		{"id":"c1","decision":"approved","arguments":{"prompt":"a dog"}},{"id":"c2","decision":"rejected"},
		{"id":"c3","decision":"approved","arguments":{}},{"id":"c4","decision":"approved","arguments":null,"remember":true},
		{"id":"c5","decision":"rejected","reason":"too dear","arguments":{"prompt":"x"}}]}}`))
	require.True(t, err == nil && f.ThreadAlias == "my-thread" && f.InterruptID == "t.q1" && f.Value.Type == chat.ToolApproval && len(f.Value.Decisions) == 5, "%+v %v", f, err)
	d := f.Value.Decisions
	if d[0].Decision != chat.Approved || string(d[0].Arguments) != `{"prompt":"a dog"}` || d[1].Decision != chat.Rejected ||
		d[2].Arguments != nil || d[3].Arguments != nil || !d[3].Remember || d[4].Reason != "too dear" || d[4].Arguments != nil {
		t.Errorf("%+v", d)
	}
}

func TestAnswerFitsAnyOpenQuestion(t *testing.T) {
	f, err := ParseFeedback([]byte(`{"thread_id":"t","approval_data":{"type":"answer","value":"tag_docs","tagged_doc_ids":["` + docID + `"]}}`))
	assert.True(t, err == nil && f.InterruptID == "" && f.Value.Type == "" && f.Value.Text() == "tag_docs" && len(f.Value.TaggedDocs) == 1, "%+v %v", f, err)
}

func TestParseFeedbackNamesTheField(t *testing.T) {
	approve := func(decision string) string {
		return `{"thread_id":"t","approval_data":{"type":"tool_approval","decisions":[` + decision + `]}}`
	}
	many := strings.Repeat(`{"id":"c","decision":"rejected"},`, 128) + `{"id":"c","decision":"rejected"}`
	for body, field := range map[string]string{
		`{}`:                "thread_id",
		`{"thread_id":"t"}`: "approval_data",
		`{"thread_id":"t","approval_data":"yes"}`:                                                           "approval_data",
		`{"thread_id":"t","approval_data":{}}`:                                                              "approval_data.type",
		`{"thread_id":"t","checkpoint_id":"\n","approval_data":{"type":"answer"}}`:                          "checkpoint_id",
		`{"thread_id":"t","approval_data":{"type":"answer","value":5}}`:                                     "approval_data.value",
		`{"thread_id":"t","approval_data":{"type":"answer","value":"a\u0000"}}`:                             "approval_data.value",
		`{"thread_id":"t","approval_data":{"type":"answer","tagged_set_ids":["x"]}}`:                        "approval_data.tagged_set_ids",
		approve(`{"decision":"approved"}`):                                                                  "approval_data.decisions[0].id",
		approve(`{"id":"c","decision":"maybe"}`):                                                            "approval_data.decisions[0].decision",
		approve(`{"id":"a","decision":"rejected"},{"id":"c","decision":"approved","arguments":[1]}`):        "approval_data.decisions[1].arguments",
		approve(`{"id":"c","decision":"approved","arguments":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`): "approval_data.decisions[0].arguments",
		approve(`{"id":"c","decision":"rejected","reason":"` + strings.Repeat("x", 1001) + `"}`):            "approval_data.decisions[0].reason",
		approve(many): "approval_data.decisions",
	} {
		_, err := ParseFeedback([]byte(body))
		assert.EqualValues(t, field, firstField(err), "%v %v", body, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"thread_id":"t","checkpoint_id":null,"message":{"role":"human","content":"x"}}`,
		`{"message":{"content":[{"type":"text","text":"x"},{"type":"image","image":"chatbot://a"}]},"messages":[1]}`,
		`{"messages":[{"role":"user","content":"\ud800"}]}`,
		`{"thread_id":"t","approval_data":{"type":"tool_approval","decisions":[{"id":"c","decision":"approved","arguments":{"a":[]}}]}}`,
		`{"thread_id":"t","approval_data":{"type":"answer","value":"x"}}`, `{`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := ParseStream(body, agents); err == nil {
			n := utf8.RuneCountInString(s.Content.Message)
			if n > chat.MaxMessage || n == 0 && len(s.Content.Attachments) == 0 || len(s.Content.Attachments) > chat.MaxAttachments ||
				!s.OnBusy.Valid() || !slices.Contains(agents.Names(), string(s.Content.Agent)) || s.ThreadAlias != "" && !dialect.Plain(s.ThreadAlias) {
				t.Fatalf("%q became %+v", body, s)
			}
		}
		if r, err := ParseFeedback(body); err == nil {
			for _, d := range r.Value.Decisions {
				require.False(t, d.ID == "" || d.Arguments != nil && (d.Arguments[0] != '{' || !json.Valid(d.Arguments)), "%q became %+v", body, r)
			}
			require.True(t, dialect.Plain(r.ThreadAlias), "%q became %+v", body, r)
		}
	})
}
