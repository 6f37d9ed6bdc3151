package openai

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentAssistant}}

func recorded(t *testing.T, name string) Request {
	t.Helper()
	body := must.Have(os.ReadFile("testdata/" + name + ".json"))(t)
	r := must.Have(Parse(body, agents, nil, Headers{}))(t)
	return r
}

// Rule O7.
func TestTasksOfOpenWebUIAndLibreChatAreNoMessages(t *testing.T) {
	for name, want := range map[string]string{
		"openwebui-title":            `{"title":"How long may parental leave be?"}`,
		"openwebui-tags":             `{"tags":["General"]}`,
		"openwebui-follow-ups":       `{"follow_ups":[]}`,
		"openwebui-completion":       `{"text":""}`,
		"openwebui-queries":          `{"queries":[]}`,
		"openwebui-picture":          `{"prompt":""}`,
		"openwebui-tools":            `{"tool_calls":[]}`,
		"openwebui-emoji":            "🙂",
		"librechat-title":            "How long may parental leave be?",
		"librechat-title-structured": "How long may parental leave be?",
	} {
		r := recorded(t, name)
		require.NotNil(t, r.Task, name)
		require.Equal(t, want, r.Task.Answer, name)
	}
}

// Rule O3.
func TestMessagesOfOpenWebUIAndLibreChatAreTheSameConversation(t *testing.T) {
	web, libre := recorded(t, "openwebui-message"), recorded(t, "librechat-message")
	for _, r := range []Request{web, libre} {
		require.Nil(t, r.Task)
		require.Equal(t, "And who pays?", r.Text)
		require.Equal(t, []EarlierMessage{{User: true, Text: "How long may parental leave be?"}, {Text: "Up to three years."}}, r.Earlier)
	}
	require.True(t, web.IncludeUsage)
	require.Equal(t, RunID(web.Earlier), RunID(libre.Earlier))
}

func TestAMessageThatLooksLikeATaskIsAMessage(t *testing.T) {
	require.Nil(t, recorded(t, "openwebui-files").Task, "a question about files of Open WebUI")
	for _, text := range []string{"### Task:\nWrite a title", "What does ### Task: mean? ### Output: <chat_history>", "Please provide a concise title"} {
		body := must.Have(json.Marshal(map[string]any{"model": "palaver-documents", "messages": []any{map[string]any{"role": "user", "content": text}}}))(t)
		r := must.Have(Parse(body, agents, nil, Headers{}))(t)
		require.Nil(t, r.Task, text)
	}
}

func TestReasoningEffortIsTheEffortOfTheAnswer(t *testing.T) {
	for given, want := range map[string]chat.Effort{`null`: "", `""`: "", `"minimal"`: chat.Quick, `"low"`: chat.Quick, `"medium"`: chat.Normal, `"high"`: chat.Thorough} {
		r := must.Have(Parse([]byte(`{"model":"palaver-documents","messages":[{"role":"user","content":"x"}],"reasoning_effort":`+given+`}`), agents, nil, Headers{}))(t)
		require.Equal(t, want, r.Effort, given)
	}
}

func TestParseNamesTheInvalidField(t *testing.T) {
	const ok = `"model":"palaver-documents","messages":[{"role":"user","content":"x"}]`
	for body, field := range map[string]string{
		`[]`: "body",
		`{"messages":[{"role":"user","content":"x"}]}`:                                                                                                "model",
		`{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]}`:                                                                               "model",
		`{"model":"palaver-documents","messages":[]}`:                                                                                                 "messages",
		`{"model":"palaver-documents","messages":[{"role":"user","content":" "}]}`:                                                                    "messages[0].content",
		`{"model":"palaver-documents","messages":[{"role":"assistant","content":"x"}]}`:                                                               "messages[0].role",
		`{"model":"palaver-documents","messages":[{"role":"system","content":"x"}]}`:                                                                  "messages[0].role",
		`{"model":"palaver-documents","messages":[{"role":"user","content":5}]}`:                                                                      "messages[0].content",
		`{"model":"palaver-documents","messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`:                                               "messages[0].content[0].type",
		`{"model":"palaver-documents","messages":[{"role":"tool","content":"x"},{"role":"user","content":"x"}]}`:                                      "messages[0]",
		`{"model":"palaver-documents","messages":[{"role":"assistant","tool_calls":[{}]},{"role":"user","content":"x"}]}`:                             "messages[0]",
		`{"model":"palaver-documents","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]}`: "messages[0].content",
		`{` + ok + `,"n":2}`:                                         "n",
		`{` + ok + `,"reasoning_effort":"huge"}`:                     "reasoning_effort",
		`{` + ok + `,"tools":[{}],"tool_choice":"required"}`:         "tool_choice",
		`{` + ok + `,"functions":[{}],"function_call":{"name":"x"}}`: "function_call",
		`{` + ok + `,"metadata":{"thread_id":"a b"}}`:                "metadata.thread_id",
		`{` + ok + `,"metadata":{"thread_id":5}}`:                    "metadata.thread_id",
	} {
		_, err := Parse([]byte(body), agents, nil, Headers{})
		var p dialect.Problems
		require.True(t, errors.As(err, &p), body)
		require.Equal(t, field, p[0].Field, body)
	}
	for field, head := range map[string]Headers{"X-Thread-Id": {Thread: "a b"}, "Idempotency-Key": {IdempotencyKey: strings.Repeat("x", 129)}, "X-On-Disconnect": {OnDisconnect: "x"}} {
		_, err := Parse([]byte(`{`+ok+`}`), agents, nil, head)
		var p dialect.Problems
		require.True(t, errors.As(err, &p), field)
		require.Equal(t, field, p[0].Field)
	}
	must.Have(Parse([]byte(`{`+ok+`,"tools":[],"tool_choice":"auto","metadata":null,"temperature":0.1,"response_format":{"type":"text"}}`), agents, nil, Headers{Thread: "t"}))(t)
	must.Have(Parse([]byte(`{`+ok+`,"tools":[{}],"tool_choice":"none"}`), agents, nil, Headers{}))(t)
}

// What may stand behind the last message of a person: an answer that is to be continued, its
// empty place, and rules for the model.
func TestTheMessageToAnswerIsThePersonsLast(t *testing.T) {
	const before = `{"role":"system","content":"Be short."},{"role":"user","content":"One"}`
	for after, want := range map[string]Request{
		``:                                   {Text: "One"},
		`,{"role":"assistant","content":""}`: {Text: "One"},
		`,{"role":"assistant"},{"role":"developer","content":"Answer in German."}`:  {Text: "One"},
		`,{"role":"assistant","content":"It is"}`:                                   {Text: "Continue", Earlier: []EarlierMessage{{User: true, Text: "One"}, {Text: "It is"}}},
		`,{"role":"assistant","content":"It is"},{"role":"system","content":"Go."}`: {Text: "Continue", Earlier: []EarlierMessage{{User: true, Text: "One"}, {Text: "It is"}}},
	} {
		r, err := Parse([]byte(`{"model":"palaver-documents","messages":[`+before+after+`]}`), agents, nil, Headers{})
		require.NoError(t, err, after)
		require.Equal(t, want.Text, r.Text, after)
		require.Equal(t, want.Earlier, r.Earlier, after)
	}
}

func TestFilesOfTheLastMessage(t *testing.T) {
	const id = "3f0e7d5e-6f0a-4c5e-9d7c-2f1f6b1f9a10"
	parse := func(parts string) (Request, error) {
		return Parse([]byte(`{"model":"palaver-documents","messages":[{"role":"user","content":[`+parts+`]}]}`), agents, nil, Headers{})
	}
	r, err := parse(`{"type":"text","text":"x"},{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,aGk="}},
		{"type":"file","file":{"filename":"b.pdf","file_data":"aGk="}},{"type":"file","file":{"file_id":"` + id + `"}},
		{"type":"file","file":{"file_data":"data:text/plain;charset=utf-8,a%20b"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}`)
	require.NoError(t, err)
	const field = "messages[0].content"
	require.Equal(t, []dialect.File{{Field: field, Name: "a.txt", MediaType: "text/plain", Data: []byte("hi")}, {Field: field, Name: "b.pdf", Data: []byte("hi")},
		{Field: field, MediaType: "text/plain", Data: []byte("a b")}, {Field: field, MediaType: "image/png", Data: []byte("hi")}}, r.Files)
	require.Equal(t, []string{id}, r.Documents)
	for _, part := range []string{`{"type":"file","file":{"file_id":"file-abc"}}`, `{"type":"file","file":{"file_data":"%"}}`, `{"type":"file","file":{}}`,
		`{"type":"file","file":{"file_data":"data:text/plain;base64,"}}`, `{"type":"image_url","image_url":{"url":"data:text/html;base64,aGk="}}`} {
		_, err := parse(part)
		var p dialect.Problems
		require.True(t, errors.As(err, &p), part)
		require.Equal(t, field, strings.TrimSuffix(p[0].Field, "[0]"), part)
	}
	with, without := must.Have(parse(`{"type":"text","text":"x"},{"type":"file","file":{"file_data":"aGk="}}`))(t), must.Have(parse(`{"type":"text","text":"x"}`))(t)
	require.NotEqual(t, with.mark, without.mark, "messages with different files are different messages")
}

// A client keeps messages that were written elsewhere, or that were refused here, and sends them again.
// Rule O3.
func TestUnknownPartsOfEarlierMessagesAreIgnored(t *testing.T) {
	parse := func(parts string) Request {
		r, err := Parse([]byte(`{"model":"palaver-documents","messages":[{"role":"user","content":[`+parts+`{"type":"text","text":"a"}]},`+
			`{"role":"assistant","content":[`+parts+`{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`), agents, nil, Headers{})
		require.NoError(t, err, parts)
		return r
	}
	want := parse("")
	require.Equal(t, []EarlierMessage{{User: true, Text: "a"}, {Text: "b"}}, want.Earlier)
	for _, parts := range []string{`{"type":"refusal","refusal":"No."},`, `{"type":"input_audio","input_audio":{"data":"","format":"wav"}},`,
		`{"type":"image_url"},`, `{"type":"image_url","image_url":"x"},`, `{},`, `"x",`} {
		require.Equal(t, want, parse(parts), parts)
	}
}

// Rule O6.
func TestAnswersToQuestions(t *testing.T) {
	choice := chat.Interrupt{Type: chat.ActionChoice, Message: "What shall I do?", Options: []chat.Option{{ID: "summarize", Label: "Summarize"}, {ID: "inquire", Label: "Inquire"}}}
	require.Equal(t, "What shall I do?\n\n1. Summarize\n2. Inquire", ShowQuestion(choice))
	for text, want := range map[string]string{"2": "inquire", " 2. ": "inquire", "(1)": "summarize", "2. Inquire": "inquire", "INQUIRE!": "inquire", "summarize": "summarize",
		"the second one": "inquire", "First.": "summarize", "Option 2": "inquire", "#1": "summarize", "the third": "", "first of all, what is new?": "", "number 2 is what?": "",
		"3": "", "0": "", "What else is new?": "", "2 more questions": "", "": "", "-1": "", "99999": ""} {
		v, ok := ReadAnswer(choice, text)
		require.Equal(t, want != "", ok, "%q", text)
		if ok {
			require.Equal(t, want, v.Text(), "%q", text)
		}
	}
	low := chat.Interrupt{Type: chat.RetrievalLow, Message: "m", Options: []chat.Option{{ID: chat.OptionTagDocs, Label: "Tag"}, {ID: chat.OptionContinue, Label: "Continue"}}}
	require.Equal(t, "m\n\n1. Continue", ShowQuestion(low), "a text cannot tag documents")
	v, ok := ReadAnswer(low, "1")
	require.True(t, ok)
	require.Equal(t, chat.OptionContinue, v.Text())
	v, ok = ReadAnswer(chat.Interrupt{Type: chat.TextInput}, "anything")
	require.True(t, ok)
	require.Equal(t, "anything", v.Text())

	approval := chat.Interrupt{Type: chat.ToolApproval, Message: "May I?", Calls: []chat.ToolCall{{ID: "c1", Name: "draw", Arguments: json.RawMessage(`{"what":"a cat"}`)}, {ID: "c2", Name: "draw"}}}
	require.Contains(t, ShowQuestion(approval), `{"what":"a cat"}`)
	for text, want := range map[string]chat.Decision{
		"yes": {Decision: chat.Approved}, "1": {Decision: chat.Approved}, "Approve": {Decision: chat.Approved}, "no": {Decision: chat.Rejected}, "2": {Decision: chat.Rejected},
		"Yes, please!": {Decision: chat.Approved}, "go ahead": {Decision: chat.Approved}, "no thanks": {Decision: chat.Rejected},
		"No, no cats please": {Decision: chat.Rejected, Reason: "no cats please"},
	} {
		v, ok := ReadAnswer(approval, text)
		require.True(t, ok, text)
		require.Len(t, v.Decisions, 2)
		for _, d := range v.Decisions {
			require.Equal(t, want.Decision, d.Decision, text)
			require.Equal(t, want.Reason, d.Reason, text)
		}
	}
	_, ok = ReadAnswer(approval, "now tell me a joke")
	require.False(t, ok)
}

func TestPicturesAreLinksWithTheServersAddress(t *testing.T) {
	const stored = "Here!\n\n![a [cat] ](/x) ![a cat](/api/attachments/1) and ![b](/api/attachments/2), ![c](https://e.x/c.png) ![open"
	const want = "Here!\n\n![a [cat] ](/x) [a cat](http://host/api/attachments/1) and [b](http://host/api/attachments/2), ![c](https://e.x/c.png) ![open"
	for size := 1; size <= len(stored); size++ { // tokens of any size
		l := links{origin: "http://host"}
		got := ""
		for rest := stored; rest != ""; {
			n := min(size, len(rest))
			got += l.pass(rest[:n], false)
			rest = rest[n:]
		}
		got += l.pass("", true)
		require.Equal(t, want, got, "%d", size)
	}
	long := "![" + strings.Repeat("x", 2*maxHeld)
	require.Equal(t, long, (&links{}).pass(long, false), "text that is no picture is not held back forever")
	require.Equal(t, (&links{}).pass(stored, true), withoutAddress(want), "a client's answer equals the stored text once the address is removed")
}

func TestTheRunOfAConversationIgnoresBlanksAndAnswers(t *testing.T) {
	a := []EarlierMessage{{User: true, Text: "one  two"}, {Text: "three\n"}}
	require.Equal(t, RunID(a), RunID([]EarlierMessage{{User: true, Text: "one two "}, {Text: "three"}}))
	require.Equal(t, RunID(a), RunID([]EarlierMessage{{User: true, Text: "one two"}, {Text: "edited"}}))
	for _, other := range [][]EarlierMessage{
		{{User: true, Text: "one twothree"}}, {{Text: "one two"}, {Text: "three"}}, {{User: true, Text: "one two"}, {User: true, Text: "three"}},
		{{User: true, Text: "one two", mark: "x"}, {Text: "three"}},
	} {
		require.NotEqual(t, RunID(a), RunID(other), "%v", other)
	}
	require.LessOrEqual(t, len(RunID(a)), dialect.MaxID)
}

// Rule O3.
func TestSearchFindsTheAnswerThatAClientHas(t *testing.T) {
	q := &chat.Interrupt{ID: "t.q1", Type: chat.ActionChoice, Message: "Which?", Options: []chat.Option{{ID: "a", Label: "A"}}}
	value := "a"
	events := []chat.Event{
		{Type: chat.EventText, Text: "Before."}, {Type: chat.EventInterrupt, Interrupt: q},
		{Type: chat.EventResumed, Interrupt: &chat.Interrupt{ID: q.ID}, Resume: &chat.ResumeValue{Type: chat.ActionChoice, Value: &value}},
		{Type: chat.EventText, Text: "After [1]."}, {Type: chat.EventResponse, Response: &chat.Response{Text: "x", Citations: []chat.Citation{{N: 1, Title: "T"}}}},
	}
	text := func(s string) string { return notes.ReplaceAllString(Bare(s), "") }
	for name, c := range map[string]struct {
		last  string
		found bool
		asked bool
	}{
		"after the question, with footnotes": {"After [1].\n\n---\n[1] [T](http://x/chat/y#cite=t.1)  ", true, false},
		"the whole":                          {"Before.\n\nAfter [1].", true, false},
		"the question":                       {"Before.\n\nWhich?\n\n1. A", true, true},
		"something else":                     {"Nothing", false, false},
		"nothing":                            {"", false, false},
	} {
		f, _ := search(chat.Turn{ID: "t"}, events, text(c.last))
		require.Equal(t, c.found, f != nil, name)
		if c.found {
			require.Equal(t, c.asked, f.answer != nil, name)
		}
	}
}

func lines(b []byte) []string { return strings.Split(strings.TrimSpace(string(b)), "\n\n") }

// Rule O5.
func TestAStreamHasFootnotesAnnotationsAndUsage(t *testing.T) {
	w := NewStream(dialect.Stream{Thread: "mine", Turn: chat.Turn{ID: "t", ThreadID: "th"}}, "palaver-x", "http://host", true)
	b := w.Begin(nil)
	for _, e := range []chat.Event{
		{Type: chat.EventStatus, Node: chat.NodeModel}, {Type: chat.EventToken, Text: "Ä [1]"}, {Type: chat.EventText, Text: "Ä [1]"},
		{Type: chat.EventResponse, Response: &chat.Response{Text: "Ä [1]", Usage: chat.Usage{TokensIn: 1, TokensOut: 2},
			Citations: []chat.Citation{{N: 1, Source: "document", Title: "A [b]", Page: 2}, {N: 2, Source: "web", URL: "https://e.x/)", Title: "W"}}}},
	} {
		b = w.Event(b, e, "")
	}
	got := lines(w.End(b))
	require.Equal(t, "data: [DONE]", got[len(got)-1])
	var text string
	for _, l := range got[:len(got)-1] {
		var c chunkJSON
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(l, "data: ")), &c))
		for _, choice := range c.Choices {
			if choice.Delta.Content != nil {
				text += *choice.Delta.Content
			}
			if choice.FinishReason != nil {
				require.Equal(t, citationJSON{2, 5, "http://host/chat/th#cite=t.1", "A [b]"}, choice.Delta.Annotations[0].URLCitation)
				require.Equal(t, "https://e.x/)", choice.Delta.Annotations[1].URLCitation.URL)
				require.Equal(t, &placeJSON{ThreadID: "mine", TurnID: "t"}, c.Palaver)
			}
		}
		if c.Usage != nil {
			require.Equal(t, usageJSON{1, 2, 3}, *c.Usage)
			require.Empty(t, c.Choices)
		}
	}
	require.Equal(t, "Ä [1]\n\n---\n[1] [A (b), p. 2](http://host/chat/th#cite=t.1)  \n[2] [W](https://e.x/%29)  ", text)
}

// Rule O2.
func TestAFailedTurnIsAnError(t *testing.T) {
	failed := chat.Event{Type: chat.EventFailed, Code: chat.CodeModelUnavailable, Message: "m", Retryable: true, Partial: "Half"}
	s := NewStream(dialect.Stream{}, "x", "", true)
	got := lines(s.End(s.Event(nil, failed, "")))
	require.Contains(t, got[0], `"content":"Half"`)
	require.Equal(t, `data: {"error":{"message":"m","type":"server_error","param":null,"code":"model_unavailable"}}`, got[len(got)-1])
	w := NewWhole(dialect.Stream{}, "x", "")
	require.Empty(t, w.Event(nil, failed, ""))
	require.Contains(t, string(w.End(nil)), `"code":"model_unavailable"`)
	require.Equal(t, 503, w.Status())
	require.Equal(t, "false", w.Header()["X-Should-Retry"], "SDKs must not send the message again")
}

// originOnly is a server whose other methods are not called.
type originOnly struct{ dialect.Server }

func (originOnly) Origin(*gin.Context) string { return "http://host" }

// TestARepeatedAnswerGetsOnlyWhatFollowedIt makes both wires as for a client that repeats the
// answer to the question q.
func TestARepeatedAnswerGetsOnlyWhatFollowedIt(t *testing.T) {
	for _, stream := range []bool{true, false} {
		w := handlers{originOnly{}}.wire(nil, Request{Model: "x", Stream: stream}, "q")(dialect.Stream{})
		var b []byte
		for _, e := range []chat.Event{
			{Type: chat.EventText, Piece: 1, Text: "Before the question."},
			{Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{ID: "q", Type: chat.TextInput, Message: "Which?"}},
			{Type: chat.EventResumed, Interrupt: &chat.Interrupt{ID: "q"}},
			{Type: chat.EventText, Piece: 2, Text: "After the answer."},
		} {
			b = w.Event(b, e, "")
		}
		got := string(w.End(b))
		require.Contains(t, got, "After the answer.")
		require.NotContains(t, got, "Before the question.")
		require.NotContains(t, got, "Which?")
	}
}

// For any body, Parse returns a request or an error that names a field, and never panics.
func FuzzParse(f *testing.F) {
	list, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range list {
		if body, err := os.ReadFile("testdata/" + e.Name()); err == nil {
			f.Add(string(body), "t", "k")
		}
	}
	f.Add(`{"model":"palaver-documents","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, "", "")
	f.Fuzz(func(t *testing.T, body, thread, key string) {
		r, err := Parse([]byte(body), agents, nil, Headers{Thread: thread, IdempotencyKey: key})
		var p dialect.Problems
		require.False(t, err != nil && (!errors.As(err, &p) || len(p) == 0), "%q: %v", body, err)
		require.False(t, err == nil && r.Task == nil && r.Text == "" && !r.hasFiles(), "%q: a request without a message", body)
	})
}

// For any question and text, ReadAnswer returns an answer that fits the question, or none.
func FuzzReadAnswer(f *testing.F) {
	f.Add("2", "A", "B")
	f.Add("no, because", "", "\x00")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		q := chat.Interrupt{Type: chat.Choice, Options: []chat.Option{{ID: "a", Label: a}, {ID: "b", Label: b}}}
		if v, ok := ReadAnswer(q, text); ok && v.Text() != "a" && v.Text() != "b" {
			t.Fatalf("%q: %q", text, v.Text())
		}
	})
}

func TestAPartialKeepsItsFootnotes(t *testing.T) {
	cited := []chat.Citation{{N: 1, Source: "web", URL: "https://e.x/", Title: "W"}}
	for _, e := range []chat.Event{
		{Type: chat.EventCancelled, Partial: "Half [1]", Citations: cited},
		{Type: chat.EventFailed, Code: "internal", Message: "m", Partial: "Half [1]", Citations: cited},
	} {
		w := NewStream(dialect.Stream{Thread: "mine", Turn: chat.Turn{ID: "t", ThreadID: "th"}}, "palaver-x", "http://host", true)
		got := string(w.End(w.Event(w.Begin(nil), e, "")))
		require.Contains(t, got, "Half [1]", e.Type)
		require.Contains(t, got, "https://e.x/", e.Type)
	}
}

// Row B44: what a request can do without is left out, and the answer names it.
func TestFeaturesThatARequestCanDoWithoutAreIgnored(t *testing.T) {
	const ok = `"model":"palaver-documents","messages":[{"role":"user","content":"x"}]`
	for body, want := range map[string][]string{
		`"tools":[{}]`:                                                        {"tools"},
		`"tools":[{}],"tool_choice":"auto"`:                                   {"tools"},
		`"tools":[{}],"tool_choice":"none"`:                                   nil,
		`"tools":[],"tool_choice":"auto"`:                                     nil,
		`"functions":[{}],"function_call":"auto"`:                             {"functions"},
		`"response_format":{"type":"json_object"}`:                            {"response_format"},
		`"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`: {"response_format"},
		`"response_format":{"type":"text"}`:                                   nil,
		`"tools":[{}],"parallel_tool_calls":false`:                            {"tools", "parallel_tool_calls"},
		`"modalities":["text","audio"],"audio":{"voice":"x"}`:                 {"modalities", "audio"},
	} {
		r, err := Parse([]byte("{"+ok+","+body+"}"), agents, nil, Headers{})
		require.NoError(t, err, body)
		require.Equal(t, want, r.Ignored, body)
	}
}

// Row B25.
func TestAnswerThatAClientHasChangedIsFound(t *testing.T) {
	whole := Bare("According to the travel policy [1] trains are booked in second class, and flights need an approval [2].")
	for said, completed := range map[string]bool{
		"": false,
		"According to the travel policy [1] trains":                                                                                                  true,
		"According to the travel policy trains are booked in second class, and flights need an approval.":                                            true,
		"<think>hm</think>According to the travel policy [1] trains are booked in second class, and flights need an approval [2].":                   true,
		"<details type=\"reasoning\">hm</details>According to the travel policy [1] trains are booked in second class, and flights need an approval": true,
		"According to the travel policy [1] trains are booked in FIRST class, and flights need an approval [2].":                                     true,
	} {
		require.GreaterOrEqual(t, alike(Bare(said), whole, completed), leastAlike, said)
	}
	for _, other := range []string{"", "Hello, how can I help?", "I cannot say."} {
		require.Less(t, alike(Bare(other), whole, true), leastAlike, other)
	}
}

func TestReasoningAndTheReasonOfTheEnd(t *testing.T) {
	events := []chat.Event{
		{Type: chat.EventThought, Text: "hm, "}, {Type: chat.EventThought, Offset: 4, Text: "hm"},
		{Type: chat.EventToken, Piece: 1, Text: "It is"}, {N: 2, Type: chat.EventReasoning, Text: "hm, hm", Took: 8000}, {N: 3, Type: chat.EventText, Piece: 1, Text: "It is"},
		{N: 4, Type: chat.EventResponse, Response: &chat.Response{Text: "It is", Finish: chat.FinishLength}},
	}
	stream, whole := NewStream(dialect.Stream{}, "x", "", false), NewWhole(dialect.Stream{}, "x", "")
	var b []byte
	for _, e := range events {
		b = stream.Event(b, e, "")
		if e.N > 0 {
			whole.Event(nil, e, "")
		}
	}
	b = stream.End(b)
	require.Equal(t, 2, strings.Count(string(b), "reasoning_content"), string(b))
	require.Contains(t, string(b), `"finish_reason":"length"`)
	document := string(whole.End(nil))
	require.Contains(t, document, `"content":"It is","reasoning_content":"hm, hm"`)
	require.Contains(t, document, `"finish_reason":"length"`)
}
