package aisdk

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant}}

func parse(t *testing.T, body string) Request {
	t.Helper()
	r, err := Parse([]byte(body), agents)
	require.NoError(t, err, body)
	return r
}

// Rule U1.
func TestOnlyTheNewestMessageIsRead(t *testing.T) {
	r := parse(t, `{"id":"chat-1","trigger":"submit-message","messages":[
		{"id":"u1","role":"user","parts":[{"type":"text","text":"Forged"}]}, 5, {"id":"a\u0000b","role":"user"}, {"id":"a1","role":"assistant","parts":"x"}, {"id":"a2","role":"assistant","parts":[]},
		{"id":"u2","role":"user","parts":[{"type":"text","text":" One"},{"type":"data-x","data":1},{"type":"text","text":"two "}],"metadata":{}}],
		"agent":"assistant","enable_web_search":true,"stream_run_id":"r","stream_tokens":false,"on_disconnect":"cancel"}`)
	want := Request{Thread: "chat-1", MessageID: "u2", Earlier: []Earlier{{"assistant", "a2"}, {"user", "u1"}},
		Submit: dialect.Submit{ThreadAlias: "chat-1", StreamRunID: "r", OnBusy: chat.Supersede, CancelOnDisconnect: true,
			Content: chat.Content{Message: "One\ntwo", Agent: chat.AgentAssistant, WebSearch: true}, View: dialect.View{NoTokens: true, ByServer: true}}}
	r.Answer, r.from = dialect.Answer{}, sources{}
	assert.True(t, reflect.DeepEqual(r, want), "got  %+v\nwant %+v", r, want)
}

func TestClientMaySendOnlyTheNewestMessage(t *testing.T) {
	for _, body := range []string{
		`{"conversationId":"c","id":"x","message":{"id":"u","role":"user","parts":[{"type":"text","text":"Hi"}]}}`,
		`{"conversationId":"c","message":"Hi"}`,
		`{"conversationId":"c","messages":[{"role":"user","content":"Hi"}]}`,
		`{"thread_id":"c","messages":[{"role":"user","content":"ignored","parts":[{"type":"text","text":"Hi"}]}]}`,
	} {
		if r := parse(t, body); r.Thread != "c" || r.Submit.Content.Message != "Hi" || r.Kind != Send || r.Whole || r.Replaces != "" {
			t.Errorf("%s: %+v", body, r)
		}
	}
}

func TestEditAndRegenerateNameWhatTheyReplace(t *testing.T) {
	const u1, a1, u2 = `{"id":"u1","role":"user","parts":[{"type":"text","text":"x"}]}`, `{"id":"a1","role":"assistant","parts":[]}`, `{"id":"u2","role":"user","parts":[{"type":"text","text":"y"}]}`
	for body, want := range map[string]Request{
		`"trigger":"submit-message","messages":[` + u1 + `]`:                                                {MessageID: "u1"},
		`"trigger":"submit-message","tools":{},"messages":[` + u1 + `]`:                                     {MessageID: "u1", Whole: true},
		`"trigger":"submit-message","messageId":"u2","messages":[` + u1 + `,` + a1 + `,` + u2 + `]`:         {MessageID: "u2", Replaces: "u2", Earlier: []Earlier{{"assistant", "a1"}, {"user", "u1"}}},
		`"trigger":"regenerate-message","messageId":"a1","messages":[` + u1 + `]`:                           {Kind: Regenerate, MessageID: "u1", Replaces: "a1"},
		`"trigger":"regenerate-message","messages":[` + u1 + `]`:                                            {Kind: Regenerate, MessageID: "u1", Replaces: "u1"},
		`"trigger":"regenerate-message","messages":[` + u1 + `,` + a1 + `]`:                                 {Kind: Regenerate, MessageID: "u1", Replaces: "a1"},
		`"trigger":"regenerate-message","messageId":"u2","messages":[` + u1 + `,` + a1 + `,` + u2 + `]`:     {Kind: Regenerate, MessageID: "u2", Replaces: "u2", Earlier: []Earlier{{"assistant", "a1"}, {"user", "u1"}}},
		`"trigger":"submit-message","messageId":"a1","messages":[` + u1 + `,` + a1 + `,` + u2 + `]`:         {MessageID: "u2", Earlier: []Earlier{{"assistant", "a1"}, {"user", "u1"}}},
		`"trigger":"regenerate-message","messageId":"gone","messages":[` + u1 + `],"client_turn_id":"mine"`: {Kind: Regenerate, MessageID: "u1", Replaces: "gone"},
	} {
		got := parse(t, `{"id":"c",`+body+`}`)
		got.Thread, got.Submit, got.Answer, got.from = "", dialect.Submit{}, dialect.Answer{}, sources{}
		assert.True(t, reflect.DeepEqual(got, want), "%s:\ngot  %+v\nwant %+v", body, got, want)
	}
}

func TestDecisionsAreReadAndTheirInputIsIgnored(t *testing.T) {
	const message = `{"id":"t","role":"assistant","parts":[{"type":"step-start"},
		{"type":"tool-look","toolCallId":"c0","state":"approval-responded","input":{},"approval":{"id":"t.q1/c0","approved":true}},
		{"type":"tool-look","toolCallId":"c1","state":"approval-responded","input":{"path":"forged"},"approval":{"id":"t.q2/c1","approved":true,"reason":"x"}},
		{"type":"dynamic-tool","toolName":"look","toolCallId":"c2","state":"approval-responded","approval":{"id":"t.q2/c2","approved":false,"reason":"no"}},
		{"type":"tool-look","toolCallId":"c3","state":"output-available","approval":{"id":"t.q2/c3","approved":true}}]}`
	value := chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: "c1", Decision: chat.Approved}, {ID: "c2", Decision: chat.Rejected, Reason: "no"}}}
	for _, body := range []string{
		`{"id":"c","trigger":"submit-message","messageId":"t","messages":[{"id":"u","role":"user"},` + message + `]}`,
		`{"id":"c","trigger":"submit-message","messageId":"t","messages":[` + message + `,{"id":"u2","role":"user","parts":[{"type":"text","text":"later"}]}]}`,
	} {
		r := parse(t, body)
		assert.True(t, r.Kind == Reply && r.Answer.InterruptID == "t.q2" && r.Answer.ThreadAlias == "c" && reflect.DeepEqual(r.Answer.Value, value), "%+v", r)
		if c := r.Continue; c == nil || c.MessageID != "t" || len(c.Calls) != 4 {
			t.Errorf("%+v", c)
		}
	}
}

func TestResumeAnswersAQuestion(t *testing.T) {
	const resume = `"id":"c","resume":{"interrupt_id":"t.q1","resume_value":{"type":"action_choice","value":"audit"}}`
	r := parse(t, `{`+resume+`,"trigger":"submit-message","messageId":"t","messages":[{"id":"u","role":"user"},{"id":"t","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c1"}]}]}`)
	assert.True(t, r.Kind == Reply && r.Answer.InterruptID == "t.q1" && r.Answer.Value.Text() == "audit" && r.Continue != nil && r.Continue.MessageID == "t" && r.Continue.Calls["c1"], "%+v", r)
	assert.Nil(t, parse(t, `{`+resume+`,"messages":[{"id":"u","role":"user","parts":[]}]}`).Continue, "an answer in a message of its own continues")
	if r := parse(t, `{`+resume+`}`); r.Continue == nil {
		t.Errorf("%+v", r)
	}
}

func TestPicturesAreUploadedOnesOrDataURLs(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("not looked at yet"))
	r := parse(t, `{"id":"c","attachments":["a0"],"messages":[{"id":"u","role":"user","parts":[
		{"type":"file","mediaType":"image/png","url":"/api/attachments/a1"},{"type":"file","mediaType":"image/png","url":"https://chat.example/api/attachments/a2"},
		{"type":"file","mediaType":"image/png","url":"/api/attachments/a1"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,`+png+`"},
		{"type":"file","mediaType":"image/png","url":"data:image/png;base64,`+png+`"}]}]}`)
	assert.True(t, reflect.DeepEqual(r.Submit.Content.Attachments, []string{"a0", "a1", "a2"}) && len(r.Files) == 1 && string(r.Files[0].Data) == "not looked at yet", "%+v", r)
	for part, field := range map[string]string{
		`{"type":"file","url":"https://evil.example/a.png"}`:                         ".parts[0].url",
		`{"type":"file","url":"data:image/svg+xml;base64,PGI+"}`:                     ".parts[0].mediaType",
		`{"type":"file","url":"data:image/gif;base64,PGI+"}`:                         ".parts[0].mediaType",
		`{"type":"file","url":"data:image/png;base64,%%"}`:                           ".parts[0].url",
		`{"type":"file","url":5}`:                                                    ".parts[0]",
		strings.Repeat(`{"type":"text","text":"x"},`, 256) + `{"type":"text"}`:       ".parts",
		`{"type":"text","text":"` + strings.Repeat("x", 32001) + `"}`:                ".parts",
		`{"type":"text","text":" "}`:                                                 ".parts",
		`{"type":"file","url":"/api/attachments/1"},` + attachments(2, 10) + `null`:  ".parts",
		`{"type":"text","text":"a\u0000b"}`:                                          ".parts",
		`{"type":"text","text":"x"},{"type":"file","url":"/api/attachments/../me"} `: ".parts[1].url",
	} {
		_, err := Parse([]byte(`{"id":"c","messages":[{"id":"u","role":"user","parts":[`+part+`]}]}`), agents)
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && p[0].Field == "messages[0]"+field, "%.100s: %v, want %s", part, err, field)
	}
}

func attachments(from, to int) (s string) {
	for i := from; i < to; i++ {
		s += `{"type":"file","url":"/api/attachments/` + string(rune('a'+i)) + `"},`
	}
	return s
}

func TestParseNamesTheInvalidField(t *testing.T) {
	const user = `{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}`
	for body, field := range map[string]string{
		``:                                       "body",
		`{}`:                                     "messages",
		`{"id":5}`:                               "id",
		`{"id":"a b","messages":[` + user + `]}`: "id",
		`{"conversationId":"a/b","messages":[` + user + `]}`: "conversationId",
		`{"messages":{}}`:                             "messages",
		`{"messages":[null]}`:                         "messages[0]",
		`{"messages":["x"]}`:                          "messages[0]",
		`{"message":5}`:                               "message",
		`{"messages":[{"role":"system","parts":[]}]}`: "messages[0].role",
		`{"messages":[{"id":"` + strings.Repeat("x", 129) + `","role":"user","content":"x"}]}`:                                                                                        "messages[0].id",
		`{"trigger":"resume-stream","messages":[` + user + `]}`:                                                                                                                       "trigger",
		`{"messageId":"\n","messages":[` + user + `]}`:                                                                                                                                "messageId",
		`{"trigger":"regenerate-message","messages":[{"role":"assistant"}]}`:                                                                                                          "messages[0].role",
		`{"id":"c","messages":[{"id":"a","role":"assistant","parts":[]}]}`:                                                                                                            "messages[0]",
		`{"messages":[{"id":"a","role":"assistant","parts":[{"state":"approval-responded","approval":{"id":"q/c","approved":true}}]}]}`:                                               "id",
		`{"id":"c","messages":[{"role":"assistant","parts":[{"state":"approval-responded","approval":{"id":"q/c","approved":false,"reason":"` + strings.Repeat("x", 1001) + `"}}]}]}`: "messages[0].parts[0].approval.reason",
		`{"resume":{"resume_value":{"type":"cancel"}}}`:                                                                                                                               "id",
		`{"id":"c","resume":{}}`:                    "resume.resume_value",
		`{"id":"c","resume":{"resume_value":{}}}`:   "resume.resume_value.type",
		`{"id":"c","resume":5}`:                     "resume",
		`{"messages":[` + user + `],"agent":"x"}`:   "agent",
		`{"messages":[` + user + `],"effort":"x"}`:  "effort",
		`{"messages":[` + user + `],"on_busy":"x"}`: "on_busy",
	} {
		_, err := Parse([]byte(body), agents)
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && p[0].Field == field, "%.120s: %v, want %s", body, err, field)
	}
}

func TestClientTurnIDsOfMessagesAreUnique(t *testing.T) {
	long := strings.Repeat("x", 128)
	seen := map[string]bool{}
	for _, id := range []string{"a", "2:a", "a:2", "ä", long, long + "y", "#" + long} {
		for n := 1; n <= 12; n++ {
			key := ClientTurnID(id, n)
			var p dialect.Problems
			if p.ID("id", key); seen[key] || p.Err() != nil {
				t.Errorf("%q: %v", key, p)
			}
			seen[key] = true
		}
	}
	assert.EqualValues(t, "", ClientTurnID("", 1), "a message without an id gets a client_turn_id")
}

func TestParseStop(t *testing.T) {
	for body, want := range map[string]dialect.Cancel{
		"":                                 {},
		`{}`:                               {},
		`{"stream_run_id":"r"}`:            {StreamRunID: "r"},
		`{"messageId":"u1"}`:               {ClientTurnID: ClientTurnID("u1", 1)},
		`{"turn_id":"t","messageId":"u1"}`: {TurnID: "t"},
	} {
		want.Reason = chat.UserCancelled
		if c, err := ParseStop([]byte(body)); err != nil || c != want {
			t.Errorf("%s: %+v %v", body, c, err)
		}
	}
	if _, err := ParseStop([]byte(`[]`)); err == nil {
		t.Error("a body that is a list is accepted")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"},{"type":"file","url":"data:image/png;base64,AA=="}]}]}`,
		`{"id":"c","trigger":"regenerate-message","messageId":"a","messages":[{"id":"u","role":"user","content":"x"},{"role":"assistant"}]}`,
		`{"id":"c","messages":[{"id":"t","role":"assistant","parts":[{"state":"approval-responded","toolCallId":"c","approval":{"id":"t.q1/c","approved":true}}]}]}`,
		`{"id":"c","resume":{"resume_value":{"type":"cancel","value":null}},"message":"x"}`, `{"messageId":"u"}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p dialect.Problems
		r, err := Parse(body, agents)
		switch {
		case err != nil && !errors.As(err, &p):
			t.Fatalf("%q: %v", body, err)
		case err != nil:
		case r.Kind == Reply:
			require.True(t, r.Thread != "" && r.Answer.Value.Type != "", "%q became %+v", body, r)
		default:
			n := utf8.RuneCountInString(r.Submit.Content.Message)
			if pictures := len(r.Files) + len(r.Submit.Content.Attachments); n > chat.MaxMessage || n == 0 && pictures == 0 || pictures > chat.MaxAttachments ||
				len(r.Earlier) > maxEarlier {
				t.Fatalf("%q became %+v", body, r)
			}
		}
		if _, err := ParseStop(body); err != nil && !errors.As(err, &p) {
			t.Fatalf("%q: %v", body, err)
		}
	})
}
