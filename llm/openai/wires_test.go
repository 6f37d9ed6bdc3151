package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// These servers behave as public bug reports describe it. docs/models.md lists the rows.

const inquire = `{"action":"inquire","confidence":"high","enable_web_search":false,"multi_action_detected":false,"actions":["inquire"],"reasoning":"x"}`

// whole is a whole answer whose message is given in JSON.
func whole(message, finish string) llmtest.Answer {
	return llmtest.Answer{Body: `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":5,"completion_tokens":7}}`}
}

// events is a stream with these data.
func events(data ...string) llmtest.Answer {
	return llmtest.Answer{Body: "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"}
}

func delta(fields string) string {
	return `{"choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

const (
	stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = "[DONE]"
)

// Row B02, and reasoning that has a field or a part of its own.
func TestReasoningOfAStreamIsApart(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]llmtest.Answer{
		"think tags":        llmtest.Text("<thi", "nk>\nhm, hm\n</th", "ink>\n\nIt is", " so."),
		"harmony":           llmtest.Text("<|channel|>analysis<|mess", "age|>hm, hm<|end|><|start|>assistant<|channel|>final<|message|>", "It is so."),
		"reasoning_content": {Reasoning: []string{"hm, ", "hm"}, Chunks: []string{"It is ", "so."}},
		"reasoning":         events(delta(`"reasoning":"hm, hm","reasoning_details":[{"type":"reasoning.text","text":"hm, hm"}]`), delta(`"content":"It is so."`), stop, done),
		"details alone":     events(delta(`"reasoning_details":[{"type":"reasoning.text","text":"hm, hm"}]`), delta(`"content":"It is so."`), stop, done),
		"summary":           events(delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"hm, hm"}]`), delta(`"content":"It is so."`), stop, done),
		"Mistral's parts":   events(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm, hm"}]}]`), delta(`"content":[{"type":"text","text":"It is so."}]`), stop, done),
		"Anthropic's parts": events(delta(`"content":[{"type":"thinking","thinking":"hm, hm","signature":"x"},{"type":"text","text":"It is so."}]`), stop, done),
		"Gemini's parts":    events(delta(`"content":[{"text":"hm, hm","thought":true},{"text":"It is so."}]`), stop, done),
		"Gemini's mark":     events(delta(`"content":"hm, hm","extra_content":{"google":{"thought":true}}`), delta(`"content":"It is so."`), stop, done),
		"one document":      whole(`{"content":"It is so.","reasoning_content":"hm, hm"}`, "stop"),
	} {
		t.Run(name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, a)
			var live strings.Builder
			r := request("x")
			r.Reasoning = func(d string) { live.WriteString(d) }
			var text strings.Builder
			reply, err := m.Stream(t.Context(), r, func(d string) error { text.WriteString(d); return nil })
			if err != nil || strings.TrimSpace(text.String()) != "It is so." {
				t.Fatalf("got %q, %v", text.String(), err)
			}
			if strings.TrimSpace(reply.Reasoning) != "hm, hm" || live.String() != reply.Reasoning {
				t.Errorf("reasoning %q, live %q", reply.Reasoning, live.String())
			}
		})
	}
}

// A server whose template opens the tag sends only the closing one.
func TestReasoningWithoutAnOpeningTagIsTakenBackAndRemembered(t *testing.T) {
	t.Parallel()
	s, m := start(t)
	gate := llmtest.NewGate()
	s.On(llmtest.Match{}, llmtest.Answer{Chunks: []string{"hm, hm", "\n</think>\n\nIt is so."}, Gates: map[int]*llmtest.Gate{1: gate}}, llmtest.Text("hm", "</think>It is so."))
	emitted, taken := "", 0
	r := request("x")
	r.Retract = func() { emitted, taken = "", taken+1 }
	for range 2 {
		reply, err := m.Stream(t.Context(), r, func(d string) error { emitted += d; gate.Release(); return nil })
		if err != nil || strings.TrimSpace(emitted) != "It is so." || !strings.Contains(reply.Reasoning, "hm") || taken != 1 {
			t.Fatalf("got %q, %+v, taken back %d times, %v", emitted, reply, taken, err)
		}
		emitted = ""
	}
}

// Rows B02, B03, W07 for whole answers.
func TestStructuredAnswersOfEveryShape(t *testing.T) {
	t.Parallel()
	text, _ := json.Marshal(inquire)
	for name, c := range map[string]struct {
		a     llmtest.Answer
		calls int
	}{
		"text":               {whole(`{"content":`+string(text)+`}`, "stop"), 1},
		"think tags":         {llmtest.Text("<think>\nThe person {maybe} asks.\n</think>\n\n" + inquire), 1},
		"only closed":        {llmtest.Text("The person {maybe} asks.</think>" + inquire), 1},
		"never closed":       {llmtest.Text("<think>The person asks. " + inquire), 1},
		"harmony":            {llmtest.Text("<|channel|>analysis<|message|>{hm}<|end|><|start|>assistant<|channel|>final<|message|>" + inquire), 1},
		"list of parts":      {whole(`{"content":[{"type":"text","text":`+string(text)+`}]}`, "stop"), 1},
		"thinking part":      {whole(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"{hm}"}]},{"type":"text","text":`+string(text)+`}]}`, "stop"), 1},
		"in the reasoning":   {whole(`{"content":"","reasoning_content":`+string(text)+`}`, "stop"), 1},
		"arguments":          {whole(`{"content":null,"tool_calls":[{"id":7,"function":{"name":"x","arguments":`+inquire+`}}]}`, "tool_calls"), 1},
		"function_call":      {whole(`{"content":null,"function_call":{"name":"x","arguments":`+string(text)+`}}`, "function_call"), 1},
		"usage as text":      {llmtest.Answer{Body: `{"id":3,"created":1.5,"choices":[{"message":{"content":` + string(text) + `}}],"usage":{"prompt_tokens":"5","completion_tokens":7.0}}`}, 1},
		"a stream":           {events(delta(`"content":`+string(text)), stop, done), 1},
		"byte order mark":    {llmtest.Answer{Body: "\ufeff" + whole(`{"content":`+string(text)+`}`, "stop").Body}, 1},
		"cut off by a limit": {whole(`{"content":"{\"action\":\"inq"}`, "length"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, c.a, whole(`{"content":`+string(text)+`}`, "stop"))
			r := request("x")
			r.Task, r.MaxTokens = llm.TaskIntent, 400
			var got llm.Intent
			usage, err := m.Structured(t.Context(), r, llm.IntentSchema, &got)
			if err != nil || got.Action != chat.Inquire || usage.Calls != c.calls || usage.TokensIn == 0 {
				t.Fatalf("got %+v, %+v, %v", got, usage, err)
			}
			if n := s.Count(llmtest.Match{}); n != c.calls {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// Row B03.
func TestSmallCallsAskForLittleThought(t *testing.T) {
	t.Parallel()
	s, m := start(t)
	r := request("x")
	r.Task = llm.TaskTitle
	if _, _, err := collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	if _, _, err := collect(t.Context(), m, request("x")); err != nil {
		t.Fatal(err)
	}
	if small, answer := sent(t, s.Requests()[0]), sent(t, s.Requests()[1]); small["reasoning_effort"] != "low" || answer["reasoning_effort"] != nil {
		t.Errorf("sent %v and %v", small["reasoning_effort"], answer["reasoning_effort"])
	}
}

// Rows W06, W13 and the streams that were right before.
func TestStreamsOfEveryShape(t *testing.T) {
	t.Parallel()
	text := delta(`"content":"It is so."`)
	for name, a := range map[string]llmtest.Answer{
		"no finish reason":      events(text, done),
		"no end":                events(text, stop),
		"defect after the end":  events(text, stop, `{"choices":[],"usage":{"prompt_tokens":"12"`),
		"usage of odd types":    events(text, stop, `{"choices":[],"usage":{"prompt_tokens":"12","completion_tokens":null}}`, done),
		"usage as a text":       events(text, stop, `{"choices":[],"usage":"12"}`, done),
		"error after the end":   events(text, stop, `{"error":{"message":"too late"}}`),
		"numbers as ids":        events(`{"id":1,"created":1.5,"choices":[{"index":"0","delta":{"content":"It is so."}}]}`, `{"choices":[{"index":"0","delta":{},"finish_reason":1}]}`, done),
		"messages":              events(`{"choices":[{"index":0,"message":{"content":"It is so."}}]}`, stop, done),
		"one document":          whole(`{"content":"It is so."}`, "stop"),
		"no white space":        {Body: "data:" + text + "\n\ndata:" + stop + "\n\n"},
		"carriage returns":      {Body: "data: " + text + "\r\rdata: " + stop + "\r\rdata: [DONE]\r\r"},
		"both":                  {Body: "data: " + text + "\r\n\r\ndata: " + stop + "\r\n\r\n"},
		"lines of one event":    {Body: "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"It is so.\"}}]}\n\ndata: " + stop + "\n\n"},
		"byte order mark":       {Body: "\ufeffdata: " + text + "\n\ndata: " + stop + "\n\n"},
		"comments":              {Body: ": hello\n\nevent: x\nid: 3\nretry: 1\ndata: " + text + "\n\n: hello\n\ndata: " + stop + "\n\n"},
		"calls that are a text": events(delta(`"tool_calls":"none","content":"It is so."`), stop, done),
		"choices are null":      events(`{"choices":null}`, `{"choices":[{"index":0,"delta":null}]}`, text, stop, done),
	} {
		t.Run(name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, a)
			if text, _, err := collect(t.Context(), m, request("x")); err != nil || text != "It is so." {
				t.Fatalf("got %q, %v", text, err)
			}
		})
	}
}

// Row W13: errors with status 200.
func TestErrorsInsideOfAResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a         llmtest.Answer
		words     string // in the log
		code      string
		retryable bool
		operators bool
	}{
		"document":       {llmtest.Answer{Body: `{"error":{"message":"Provider returned error","code":502}}`}, "Provider returned error", chat.CodeModelUnavailable, true, false},
		"sign-in page":   {llmtest.Answer{Body: "<html>Sign in</html>"}, "Sign in", chat.CodeModelUnavailable, true, false},
		"a rate limit":   {llmtest.Answer{Body: `{"error":{"message":"Rate limit reached","code":429}}`}, "Rate limit", chat.CodeModelUnavailable, true, false},
		"a text":         {events(`{"error":"Internal error in worker"}`, done), "Internal error in worker", chat.CodeModelUnavailable, true, false},
		"vLLM's":         {events(`{"object":"error","message":"Engine died","code":500}`), "Engine died", chat.CodeModelUnavailable, true, false},
		"no data":        {llmtest.Answer{Body: `{"error":{"message":"Overloaded","code":"overloaded"}}` + "\n"}, "Overloaded", chat.CodeModelUnavailable, true, false},
		"no money":       {llmtest.Answer{Status: 402, Body: `{"error":{"message":"Insufficient balance"}}`}, "Insufficient balance", chat.CodeModelRejected, false, true},
		"no money, 200":  {llmtest.Answer{Body: `{"error":{"message":"Insufficient balance"}}`}, "Insufficient balance", chat.CodeModelRejected, false, true},
		"gateway's raw":  {llmtest.Answer{Status: 400, Body: `{"error":{"message":"Provider returned error","metadata":{"raw":"tea pot"}}}`}, "tea pot", chat.CodeModelRejected, false, false},
		"FastAPI detail": {llmtest.Answer{Status: 422, Body: `{"detail":"tea pot"}`}, "tea pot", chat.CodeModelRejected, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, c.a)
			_, _, err := collect(t.Context(), m, request("x"))
			e := modelError(t, err)
			if e.Code != c.code || e.Retryable != c.retryable || e.ForOperators != c.operators || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %+v: %v", e, err)
			}
		})
	}
}

// Row W13: the time that a provider asks for is said.
func TestRetryAfterIsSaid(t *testing.T) {
	t.Parallel()
	s, m := start(t)
	s.On(llmtest.Match{}, llmtest.Status(429, "120"))
	_, _, err := collect(t.Context(), m, request("x"))
	if e := modelError(t, err); !strings.Contains(e.Hint.Text, "2 min") {
		t.Errorf("hint %q", e.Hint.Text)
	}
}

// A request is made again in the way that the provider asks for, and the next request is
// made so at once. Rows B16, B29, B49, W04, W08, W09.
func TestWaysOfProvidersAreLearned(t *testing.T) {
	t.Parallel()
	has := func(part string) func(llmtest.Request) bool {
		return func(r llmtest.Request) bool { return strings.Contains(string(r.Body), part) }
	}
	tools := func(r llmtest.Request) bool { return len(r.Tools) > 0 }
	tooMany := func(limit int) func(llmtest.Request) bool {
		return func(r llmtest.Request) bool {
			var b struct {
				Max int `json:"max_tokens"`
			}
			return json.Unmarshal(r.Body, &b) == nil && b.Max > limit
		}
	}
	system, alternate := has(`"role":"system"`), func(r llmtest.Request) bool { return !alternates(r) }
	odd := request("x")
	odd.Messages = append(odd.Messages, llm.Message{Role: llm.User, Text: "y"}, llm.Message{Role: llm.Assistant, Text: "a"}, llm.Message{Role: llm.Assistant, Text: "b"}, llm.Message{Role: llm.User, Text: "z"})
	parallel := request("x")
	parallel.Tools = withTools("x").Tools
	parallel.Messages = append(parallel.Messages, llm.Message{Role: llm.Assistant, Reasoning: "I have to look.", Calls: []llm.ToolCall{{ID: "a", Name: "list_documents", Arguments: "{}"}, {ID: "b", Name: "list_documents", Arguments: "{}"}}},
		llm.Message{Role: llm.ToolRole, CallID: "a", Text: "1"}, llm.Message{Role: llm.ToolRole, CallID: "b", Text: "2"})
	long := request("x")
	long.MaxTokens = 4096
	title := request("x")
	title.Task = llm.TaskTitle
	for i, c := range []struct {
		refuses func(llmtest.Request) bool
		status  int
		message string
		r       llm.Request
		has     string
	}{
		{system, 400, "System role not supported", request("x"), "You answer."},
		{system, 400, "Developer instruction is not enabled for models/gemma-3-27b-it", request("x"), "You answer."},
		{system, 500, "Jinja Exception: System role not supported", request("x"), "You answer."},
		{system, 422, "unknown role: 'system'", request("x"), "You answer."},
		{alternate, 400, "Conversation roles must alternate user/assistant/user/assistant/...", odd, `x\n\ny`},
		{alternate, 500, "Jinja Exception: After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", odd, `a\n\nb`},
		{alternate, 400, "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant", odd, `z`},
		{has(`"reasoning_effort"`), 400, "Unrecognized request argument supplied: reasoning_effort", title, "x"},
		{has(`"reasoning_effort"`), 400, `"llama3" does not support thinking`, title, "x"},
		{func(r llmtest.Request) bool { return tools(r) && !has(`"reasoning_content":"I have to look."`)(r) }, 400, "The `reasoning_content` in the thinking mode must be passed back to the API.", parallel, "I have to look."},
		{func(r llmtest.Request) bool { return tools(r) && !has(`"reasoning_content"`)(r) }, 400, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", parallel, "I have to look."},
		{has(`"arguments":"{}"}},{"id":"b"`), 400, "This model only supports single tool-calls at once!", parallel, `"id":"b"`},
		{tools, 400, "Failed to initialize samplers: failed to parse grammar", withTools("x"), "x"},
		{has(`maxLength`), 400, "Failed to initialize samplers: failed to parse grammar", withTools("x"), "search_documents"},
		{tools, 400, "Invalid schema for function 'search_documents': In context=('properties', 'k'), 'anyOf' is not permitted.", withTools("x"), "x"},
		{tooMany(2048), 400, "max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.", long, `"max_tokens":2048`},
		{tooMany(2048), 400, "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]", long, `"max_tokens":2048`},
		{tooMany(2048), 400, "max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens for claude-2", long, `"max_tokens":2048`},
		{tooMany(2048), 400, "`max_tokens` must be less than or equal to `2048`, the maximum value for this model", long, `"max_tokens":2048`},
		{tooMany(2048), 422, "max_new_tokens is too high", long, `"max_tokens":2048`},
	} {
		t.Run(fmt.Sprint(i, " ", c.message), func(t *testing.T) {
			for _, key := range []string{"", "x", "token", "1"} { // row W04: a dummy key in the words of an error
				s := llmtest.New(t)
				cfg := config(s)
				cfg.APIKey = key
				m := openai.New(cfg)
				body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": c.message}})
				s.On(llmtest.Match{Func: c.refuses}, llmtest.Answer{Status: c.status, Body: string(body)})
				for n := range 2 {
					if _, err := m.Stream(t.Context(), c.r, func(string) error { return nil }); err != nil {
						t.Fatalf("call %d, key %q: %v", n, key, err)
					}
				}
				seen := s.Requests()
				if last := seen[len(seen)-1]; !strings.Contains(string(last.Body), c.has) || c.refuses(seen[len(seen)-1]) || c.refuses(seen[len(seen)-2]) {
					t.Errorf("%d calls, the last %s", len(seen), last.Body)
				}
			}
		})
	}
}

// alternates reports whether people and the assistant take turns, beginning with a person.
func alternates(r llmtest.Request) bool {
	var b struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if json.Unmarshal(r.Body, &b) != nil {
		return false
	}
	last := "assistant"
	for i, m := range b.Messages {
		if i == 0 && m.Role == "system" {
			continue
		}
		if m.Role != "user" && m.Role != "assistant" || m.Role == last {
			return false
		}
		last = m.Role
	}
	return last == "user"
}

// Row B43.
func TestCallThatComesAsTextIsACall(t *testing.T) {
	t.Parallel()
	query := `{"query":"gifts"}`
	for name, c := range map[string]struct {
		chunks    []string
		arguments string // of search_documents; empty: no call
	}{
		"Hermes":           {[]string{"<tool_", "call>\n{\"name\": \"search_documents\", \"arguments\": " + query + "}\n</tool_call>"}, query},
		"not closed":       {[]string{"<tool_call>{\"name\": \"search_documents\", \"arguments\": " + query + "}"}, query},
		"Qwen3-Coder":      {[]string{"<tool_call>\n<function=search_documents>\n<parameter=query>\ngifts\n</parameter>\n</function>\n</tool_call>"}, query},
		"Llama":            {[]string{"<function=search_documents>" + query + "</function>"}, query},
		"Llama's JSON":     {[]string{"{\"name\": \"search_", "documents\", \"parameters\": " + query + "}"}, query},
		"python tag":       {[]string{"<|python_tag|>{\"name\": \"search_documents\", \"parameters\": " + query + "}"}, query},
		"Mistral":          {[]string{"[TOOL_CALLS][{\"name\": \"search_documents\", \"arguments\": " + query + "}]"}, query},
		"Mistral, newer":   {[]string{"[TOOL_CALLS]search_documents[ARGS]" + query}, query},
		"GLM":              {[]string{"<tool_call>search_documents\n<arg_key>query</arg_key>\n<arg_value>gifts</arg_value>\n</tool_call>"}, query},
		"MiniMax":          {[]string{"<minimax:tool_call>\n<invoke name=\"search_documents\">\n<parameter name=\"query\">gifts</parameter>\n</invoke>\n</minimax:tool_call>"}, query},
		"Kimi":             {[]string{"<|tool_calls_section_begin|><|tool_call_begin|>functions.search_documents:0<|tool_call_argument_begin|>" + query + "<|tool_call_end|><|tool_calls_section_end|>"}, query},
		"DeepSeek":         {[]string{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_documents\n```json\n" + query + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"}, query},
		"gpt-oss":          {[]string{"<|channel|>commentary to=functions.search_documents <|constrain|>json<|message|>" + query + "<|call|>"}, query},
		"after a thought":  {[]string{"<think>hm</think>\n<tool_call>{\"name\":\"search_documents\",\"arguments\":" + query + "}</tool_call>"}, query},
		"JSON, no call":    {[]string{"{\"name\": \"Ada\", ", "\"age\": 7}"}, ""},
		"code about calls": {[]string{"```\n<tool_call>{\"name\":\"search_documents\",\"arguments\":{}}</tool_call>\n```"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, llmtest.Answer{Chunks: c.chunks})
			text, reply := stream(t, m, withTools("x"))
			if c.arguments == "" {
				if len(reply.Calls) != 0 || text != strings.Join(c.chunks, "") {
					t.Fatalf("got %q, %+v", text, reply.Calls)
				}
				return
			}
			if strings.TrimSpace(text) != "" || len(reply.Calls) != 1 || reply.Calls[0].Name != "search_documents" || reply.Calls[0].ID == "" {
				t.Fatalf("got %q, %+v", text, reply.Calls)
			}
			if reply.Calls[0].Arguments != query {
				t.Errorf("arguments %s", reply.Calls[0].Arguments)
			}
		})
	}
}
