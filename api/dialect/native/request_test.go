package native

import (
	"encoding/json"
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

const (
	docID    = "0d3a6f3e-6d1c-4b7e-9a75-1f3a5b7c9d11"
	threadID = "7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11"
)

func TestParseChatReadsEveryField(t *testing.T) {
	got, err := ParseChat([]byte(`{"message":"  Compare them \n","thread_id":"`+strings.ToUpper(threadID)+`",
		"tiptap_json": { "type" : "doc" },"tagged_doc_ids":["`+docID+`","`+docID+`"],"tagged_set_ids":[],
		"action":"compare","enable_web_search":true,"agent":"documents","effort":"thorough","client_turn_id":"c 1","stream_run_id":"r",
		"on_busy":"enqueue","on_disconnect":"cancel","parent_checkpoint_id":"root","stream_mode":"messages",
		"stream_tokens":false,"user_id":"somebody else","attachments":[],"unknown":{}}`), agents)
	require.NoError(t, err)
	want := dialect.Submit{
		ThreadID: threadID,
		Content: chat.Content{Message: "Compare them", TipTap: json.RawMessage(`{"type":"doc"}`), TaggedDocs: []string{docID},
			Action: chat.Compare, WebSearch: true, Agent: chat.AgentDocuments, ParentRequest: "root", Effort: chat.Thorough},
		ClientTurnID: "c 1", StreamRunID: "r", OnBusy: chat.Enqueue, CancelOnDisconnect: true,
		View: dialect.View{Messages: true, NoTokens: true},
	}
	assert.True(t, reflect.DeepEqual(got, want), "got  %+v\nwant %+v", got, want)
}

// The client of the first design always sends the boolean, false by default: false means the same as absent.
func TestOnlyNeverForbidsTheWebSearch(t *testing.T) {
	type web struct{ asked, never bool }
	for field, want := range map[string]web{
		`"enable_web_search":false`: {}, `"enable_web_search":null`: {}, `"web_search":null`: {},
		`"enable_web_search":true`: {asked: true}, `"web_search":"never"`: {never: true}, `"web_search":"never","enable_web_search":false`: {never: true},
	} {
		got, err := ParseChat([]byte(`{"message":"x",`+field+`}`), agents)
		require.NoError(t, err, field)
		require.Equal(t, want, web{got.Content.WebSearch, got.Content.NoWebSearch}, field)
	}
	for _, field := range []string{`"web_search":"always"`, `"web_search":"never","enable_web_search":true`} {
		_, err := ParseChat([]byte(`{"message":"x",`+field+`}`), agents)
		require.ErrorContains(t, err, "web_search", field)
	}
}

func TestParseChatDefaults(t *testing.T) {
	got, err := ParseChat([]byte(`{"message":"x","thread_id":null,"action":null,"tiptap_json":null,"tagged_doc_ids":null,
		"agent":null,"on_busy":null,"stream_tokens":null,"parent_checkpoint_id":null,"attachments":null}`), agents)
	want := dialect.Submit{Content: chat.Content{Message: "x", Agent: chat.AgentDocuments}, AgentUnset: true, OnBusy: chat.Supersede,
		View: dialect.View{ByServer: true}}
	assert.True(t, err == nil && reflect.DeepEqual(got, want), "%+v, %v", got, err)
}

func TestParseChatNamesTheInvalidField(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for body, field := range map[string]string{
		``:                       "body",
		`[]`:                     "body",
		`{"message":"x"`:         "body",
		`{"message":"x"} {}`:     "body",
		`{}`:                     "message",
		`{"message":" \n\t "}`:   "message",
		`{"message":5}`:          "message",
		`{"message":"a\u0000b"}`: "message",
		`{"message":"` + strings.Repeat("ä", 32001) + `"}`:                               "message",
		`{"message":"x","thread_id":"my-thread"}`:                                        "thread_id",
		`{"message":"x","thread_id":"{7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11}"}`:           "thread_id",
		`{"message":"x","tagged_doc_ids":["x"]}`:                                         "tagged_doc_ids",
		`{"message":"x","tagged_doc_ids":"` + docID + `"}`:                               "tagged_doc_ids",
		`{"message":"x","tagged_set_ids":[""]}`:                                          "tagged_set_ids",
		`{"message":"x","tagged_doc_ids":["` + strings.Repeat(docID+`","`, 100) + `x"]}`: "tagged_doc_ids",
		`{"message":"x","action":"translate"}`:                                           "action",
		`{"message":"x","agent":"discovery"}`:                                            "agent",
		`{"message":"x","attachments":["a/b"]}`:                                          "attachments",
		`{"message":"x","client_turn_id":"` + strings.Repeat("x", 129) + `"}`:            "client_turn_id",
		`{"message":"x","client_turn_id":"a\nb"}`:                                        "client_turn_id",
		`{"message":"x","stream_run_id":"\u0007"}`:                                       "stream_run_id",
		`{"message":"x","parent_checkpoint_id":"` + strings.Repeat("x", 129) + `"}`:      "parent_checkpoint_id",
		`{"message":"x","effort":"huge"}`:                                                "effort",
		`{"message":"x","on_busy":"wait"}`:                                               "on_busy",
		`{"message":"x","on_disconnect":"die"}`:                                          "on_disconnect",
		`{"message":"x","stream_mode":"all"}`:                                            "stream_mode",
		`{"message":"x","stream_tokens":"no"}`:                                           "stream_tokens",
		`{"message":"x","tiptap_json":"text"}`:                                           "tiptap_json",
		`{"message":"x","tiptap_json":{"a":"\u0000"}}`:                                   "tiptap_json",
		`{"message":"x","tiptap_json":` + deep + `}`:                                     "tiptap_json",
		`{"message":"x","tiptap_json":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`:     "tiptap_json",
		`{"message":"x","tiptap_json":{"a":[` + strings.Repeat("1,", 60000) + `1]}}`:     "tiptap_json",
	} {
		_, err := ParseChat([]byte(body), agents)
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && len(p) != 0 && p[0].Field == field, "%.100s: %v, want %s", body, err, field)
	}
	if _, err := ParseChat([]byte(`{"message":"`+strings.Repeat("ä", 32000)+`"}`), agents); err != nil {
		t.Errorf("the longest message: %v", err)
	}
}

// Rule T14.
func TestSameContentHashesTheSameWhateverItsStreamOptions(t *testing.T) {
	a, errA := ParseChat([]byte(`{"message":"x","tiptap_json":{"a": 1},"stream_run_id":"1","on_busy":"enqueue"}`), agents)
	b, errB := ParseChat([]byte(`{"message":" x ","tiptap_json":{"a":1},"stream_run_id":"2","stream_tokens":false}`), agents)
	assert.True(t, errA == nil && errB == nil && a.Content.Hash() == b.Content.Hash(), "%+v %v, %+v %v", a, errA, b, errB)
}

// Rule N3.
func TestParseResume(t *testing.T) {
	r, err := ParseResume([]byte(`{"thread_id":"` + threadID + `","interrupt_id":"t.q1","stream_tokens":false,
		"resume_value":{"type":"text_input","value":" Policy ","tagged_doc_ids":["` + docID + `"]}}`))
	if err != nil || r.ThreadID != threadID || r.InterruptID != "t.q1" || r.Value.Type != chat.TextInput ||
		r.Value.Text() != "Policy" || len(r.Value.TaggedDocs) != 1 || !r.View.NoTokens {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := ParseResume([]byte(`{"thread_id":"` + threadID + `","resume_value":{"type":"cancel","value":null}}`)); err != nil || r.Value.Value != nil {
		t.Errorf("%+v %v", r, err)
	}
	r, err = ParseResume([]byte(`{"thread_id":"` + threadID + `","resume_value":{"type":"tool_approval","value":null,"decisions":[
		{"id":"c1","decision":"approved","arguments":{"path":"a"},"remember":true},{"id":"c2","decision":"approved","arguments":null},
		{"id":"c3","decision":"rejected","reason":"too late"}]}}`))
	want := []chat.Decision{{ID: "c1", Decision: chat.Approved, Arguments: json.RawMessage(`{"path":"a"}`), Remember: true},
		{ID: "c2", Decision: chat.Approved}, {ID: "c3", Decision: chat.Rejected, Reason: "too late"}}
	assert.True(t, err == nil && reflect.DeepEqual(r.Value.Decisions, want), "%+v %v", r.Value.Decisions, err)
	for list, field := range map[string]string{
		`[{"decision":"approved"}]`:                                                                  "[0].id",
		`[{"id":"c","decision":"rejected"},{"id":"d","decision":"maybe"}]`:                           "[1].decision",
		`[{"id":"c","decision":"approved","arguments":[]}]`:                                          "[0].arguments",
		`[{"id":"c","decision":"approved","arguments":{"a":"\u0000"}}]`:                              "[0].arguments",
		`[{"id":"c","decision":"approved","arguments":{"a":"` + strings.Repeat("x", 65<<10) + `"}}]`: "[0].arguments",
		`[{"id":"c","decision":"rejected","reason":"` + strings.Repeat("x", 1001) + `"}]`:            "[0].reason",
		`[` + strings.Repeat(`{"id":"c","decision":"rejected"},`, 128) + `{}]`:                       "",
	} {
		_, err := ParseResume([]byte(`{"thread_id":"` + threadID + `","resume_value":{"type":"tool_approval","decisions":` + list + `}}`))
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && p[0].Field == "resume_value.decisions"+field, "%.100s: %v, want %s", list, err, field)
	}
	for body, field := range map[string]string{
		`{}`: "thread_id",
		`{"thread_id":"x","resume_value":{"type":"cancel"}}`:                                                                 "thread_id",
		`{"thread_id":"` + threadID + `"}`:                                                                                   "resume_value",
		`{"thread_id":"` + threadID + `","resume_value":"yes"}`:                                                              "resume_value",
		`{"thread_id":"` + threadID + `","resume_value":{}}`:                                                                 "resume_value.type",
		`{"thread_id":"` + threadID + `","resume_value":{"type":"text_input","tagged_doc_ids":["x"]}}`:                       "resume_value.tagged_doc_ids",
		`{"thread_id":"` + threadID + `","resume_value":{"type":"text_input","value":"` + strings.Repeat("x", 32001) + `"}}`: "resume_value.value",
		`{"thread_id":"` + threadID + `","resume_value":{"type":"text_input","tiptap_json":[]}}`:                             "resume_value.tiptap_json",
	} {
		_, err := ParseResume([]byte(body))
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && p[0].Field == field, "%.100s: %v, want %s", body, err, field)
	}
}

func TestParseCancel(t *testing.T) {
	c, err := ParseCancel([]byte(`{"thread_id":"` + threadID + `","client_turn_id":"c1","reason":"disconnect"}`))
	assert.True(t, err == nil && c == (dialect.Cancel{ThreadID: threadID, ClientTurnID: "c1", Reason: chat.Disconnected}), "%+v %v", c, err)
	if c, err := ParseCancel([]byte(`{"stream_run_id":"r"}`)); err != nil || c.Reason != chat.UserCancelled {
		t.Errorf("%+v %v", c, err)
	}
	for body, field := range map[string]string{
		`{}`:                                    "turn_id",
		`{"thread_id":"x"}`:                     "thread_id",
		`{"turn_id":"\n"}`:                      "turn_id",
		`{"turn_id":"t","reason":"boredom"}`:    "reason",
		`{"turn_id":"t","reason":"superseded"}`: "reason",
	} {
		_, err := ParseCancel([]byte(body))
		var p dialect.Problems
		assert.True(t, errors.As(err, &p) && p[0].Field == field, "%s: %v, want %s", body, err, field)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"message":"x","tiptap_json":{"type":"doc","content":[{}]}}`, `{"message":"\ud800"}`, `{"MESSAGE":"x"}`,
		`{"thread_id":"` + threadID + `","resume_value":{"type":"cancel","value":null}}`, `{"turn_id":"t"}`, `{`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := ParseChat(body, agents); err == nil {
			n := utf8.RuneCountInString(s.Content.Message)
			if n < 1 || n > chat.MaxMessage || !s.OnBusy.Valid() || len(s.Content.TipTap) > dialect.MaxTipTap ||
				len(s.Content.TipTap) > 0 && !json.Valid(s.Content.TipTap) {
				t.Fatalf("%q became %+v", body, s)
			}
		}
		if r, err := ParseResume(body); err == nil && (r.ThreadID == "" || r.Value.Type == "") {
			t.Fatalf("%q became %+v", body, r)
		}
		if c, err := ParseCancel(body); err == nil && c.ThreadID+c.TurnID+c.ClientTurnID+c.StreamRunID == "" {
			t.Fatalf("%q became %+v", body, c)
		}
	})
}
