package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

var searchTool = llm.Tool{Name: "search_documents", Description: "Searches.",
	Schema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"query":{"type":"string","maxLength":400},"k":{"type":["integer","null"],"minimum":1}},"required":["query"],"additionalProperties":false}`)}

var listTool = llm.Tool{Name: "list_documents", Schema: json.RawMessage(`{"type":"object"}`)}

// withTools is a question with tools, after an exchange that used one.
func withTools(text string) llm.Request {
	return llm.Request{Task: llm.TaskAssistant, Tools: []llm.Tool{searchTool, listTool}, Messages: []llm.Message{
		{Role: llm.System, Text: "You answer."},
		{Role: llm.User, Text: "list them"},
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "8d1c5a0e9b9c4a0f8a2f6f3b1f0d7c11c1", Name: "list_documents", Arguments: "{}"}}},
		{Role: llm.ToolRole, CallID: "8d1c5a0e9b9c4a0f8a2f6f3b1f0d7c11c1", Text: "One document: Leave Policy"},
		{Role: llm.Assistant, Text: "There is one."},
		{Role: llm.User, Text: text},
	}}
}

// stream returns the whole text and the reply.
func stream(t *testing.T, m llm.Model, r llm.Request) (string, llm.Reply) {
	t.Helper()
	var b strings.Builder
	reply, err := m.Stream(t.Context(), r, func(d string) error { b.WriteString(d); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), reply
}

func TestParallelToolCallsAreReadFromFragments(t *testing.T) {
	t.Parallel()
	want := []llm.ToolCall{
		{ID: "x", Name: "search_documents", Arguments: `{"query":"annual leave für alle"}`},
		{ID: "y", Name: "search_documents", Arguments: `{"query":"carry-over"}`},
		{ID: "z", Name: "list_documents", Arguments: `{}`},
	}
	for _, pieces := range []int{0, 1, 7} {
		s, c := start(t)
		s.On(llmtest.Match{Kind: llmtest.Stream}, llmtest.Answer{Chunks: []string{"I look ", "it up."}, Calls: want, Pieces: pieces})
		text, reply := stream(t, c, withTools("how much leave?"))
		if text != "I look it up." || !reflect.DeepEqual(reply.Calls, want) {
			t.Errorf("pieces of %d: %q, %+v", pieces, text, reply.Calls)
		}
		if reply.NoTools || reply.Usage.Calls != 1 || reply.Usage.TokensOut == 0 {
			t.Errorf("reply %+v", reply)
		}
	}
}

func TestReplyCanBeToolCallsWithoutText(t *testing.T) {
	t.Parallel()
	for _, finish := range []string{"tool_calls", "stop", "length"} {
		s, c := start(t)
		s.On(llmtest.Match{}, llmtest.Answer{Calls: []llm.ToolCall{llmtest.Call("search_documents", map[string]string{"query": "x"})}, Finish: finish})
		if text, reply := stream(t, c, withTools("x")); text != "" || len(reply.Calls) != 1 || reply.Calls[0].Arguments != `{"query":"x"}` {
			t.Errorf("%s: %q, %+v", finish, text, reply)
		}
	}
}

func TestCallsOfABrokenStreamAreDropped(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Answer{Calls: []llm.ToolCall{llmtest.Call("list_documents", struct{}{})}, Cut: true})
	reply, err := c.Stream(t.Context(), withTools("x"), func(string) error { return nil })
	if e := modelError(t, err); !e.Retryable || len(reply.Calls) != 0 || reply.Usage.TokensOut == 0 {
		t.Errorf("%+v, %+v", e, reply)
	}
	s.On(llmtest.Match{}, llmtest.Answer{Deltas: []any{map[string]any{"tool_calls": "?"}}})
	if reply, err := c.Stream(t.Context(), withTools("x"), func(string) error { return nil }); modelError(t, err).Code != chat.CodeModelUnavailable || len(reply.Calls) != 0 {
		t.Errorf("calls of no known shape: %v", err)
	}
}

func TestEstimatedUsageIncludesToolDefinitions(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Answer{Calls: []llm.ToolCall{llmtest.Call("search_documents", map[string]string{"query": strings.Repeat("word ", 80)})}, NoUsage: true})
	r := withTools("x")
	_, reply := stream(t, c, r)
	if want := llm.EstimatePrompt(r.Messages) + llm.EstimateTools(r.Tools); reply.Usage.TokensIn != want || reply.Usage.TokensOut < 100 {
		t.Errorf("usage %+v, want %d in", reply.Usage, want)
	}
}

func TestCallsAndResultsAreSentInWireFormat(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	stream(t, c, withTools("and now?"))
	body := string(s.Requests()[0].Body)
	for _, want := range []string{
		`{"role":"assistant","tool_calls":[{"id":"8d1c5a0e9b9c4a0f8a2f6f3b1f0d7c11c1","type":"function","function":{"name":"list_documents","arguments":"{}"}}]}`,
		`{"role":"tool","content":"One document: Leave Policy","tool_call_id":"8d1c5a0e9b9c4a0f8a2f6f3b1f0d7c11c1"}`,
		`{"function":{"name":"search_documents","description":"Searches.","parameters":{`, `"maxLength":400`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

// The scripted server rejects what a strict provider would reject.
func TestPromptsAreRepairedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]llm.Message{
		"a call without a result":   {{Role: llm.User, Text: "u"}, {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "list_documents", Arguments: "{}"}}}, {Role: llm.User, Text: "again"}},
		"a result without a call":   {{Role: llm.User, Text: "u"}, {Role: llm.ToolRole, CallID: "a", Text: "r"}},
		"an empty result":           {{Role: llm.User, Text: "u"}, {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "list_documents"}}}, {Role: llm.ToolRole, CallID: "a"}},
		"arguments that are cut":    {{Role: llm.User, Text: "u"}, {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "list_documents", Arguments: `{"a":`}}}, {Role: llm.ToolRole, CallID: "a", Text: "not JSON"}},
		"a name and id of no form":  {{Role: llm.User, Text: "u"}, {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: strings.Repeat("ü", 90), Name: "no such tool!", Arguments: "[]"}}}, {Role: llm.ToolRole, CallID: strings.Repeat("ü", 90), Text: "no"}},
		"messages that say nothing": {{Role: llm.System}, {Role: llm.User, Text: "u"}, {Role: llm.Assistant, Text: "\n"}, {Role: llm.User, Text: "v"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := start(t)
			for _, tools := range [][]llm.Tool{{listTool}, nil} {
				stream(t, c, llm.Request{Task: llm.TaskAssistant, Messages: messages, Tools: tools})
			}
			if n := s.Count(llmtest.Match{}); n != 2 {
				t.Errorf("%d requests for two calls", n)
			}
		})
	}
}

func TestWithoutToolsEarlierCallsAreSentAsText(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	r := withTools("and now?")
	r.Tools = nil
	stream(t, c, r)
	if body := string(s.Requests()[0].Body); strings.Contains(body, "tool_calls") || !strings.Contains(body, "list_documents was called") || !strings.Contains(body, "Leave Policy") {
		t.Errorf("sent %s", body)
	}
}

func TestModelThatRejectsToolsIsRemembered(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.RefuseTools()
	for range 2 {
		if _, reply := stream(t, c, withTools("x")); !reply.NoTools || len(reply.Calls) != 0 {
			t.Errorf("reply %+v", reply)
		}
	}
	if n := s.Count(llmtest.Match{}); n != 3 {
		t.Errorf("%d requests, want one refusal and two answers", n)
	}
}

func TestRejectionsOfToolsAreRecognized(t *testing.T) {
	t.Parallel()
	body := func(part string) func(llmtest.Request) bool {
		return func(r llmtest.Request) bool { return strings.Contains(string(r.Body), part) }
	}
	for _, c := range []struct {
		name, model, message string
		status               int
		match                llmtest.Match
		after                func(sent string) bool // of the second request
		noTools              bool
	}{
		{"a gateway's 404", "small", "No endpoints found that support tool use.", 404, llmtest.Match{Func: func(r llmtest.Request) bool { return len(r.Tools) > 0 }},
			func(s string) bool { return !strings.Contains(s, `"tools"`) }, true},
		{"vLLM without a parser", "small", `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`, 400, llmtest.Match{Func: func(r llmtest.Request) bool { return len(r.Tools) > 0 }},
			func(s string) bool { return !strings.Contains(s, `"tools"`) }, true},
		{"a schema that is too rich", "small", `Invalid JSON payload received. Unknown name "$schema" at 'tools[0].function_declarations[0].parameters'`, 400, llmtest.Match{Func: body("$schema")},
			func(s string) bool {
				return strings.Contains(s, `"parameters":{"properties":{"k":{"type":"integer"},"query":{"type":"string"}},"required":["query"],"type":"object"}`) && strings.Contains(s, `"parameters":null`)
			}, false},
		{"ids of nine characters", "small", "Tool call id was 8d1c but must be a-z, A-Z, 0-9, with a length of 9.", 400, llmtest.Match{Func: body("8d1c5a0e")},
			func(s string) bool { return strings.Contains(s, `"tool_calls"`) }, false},
		{"a missing signature", "small", "Function call is missing a thought_signature in functionCall parts.", 400, llmtest.Match{Func: func(r llmtest.Request) bool { return !strings.Contains(string(r.Body), "thought_signature") }},
			func(s string) bool {
				return strings.Contains(s, `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
			}, false},
		{"the SDK's own refusal", "gpt-6-sol", "", 0, llmtest.Match{}, func(s string) bool {
			return strings.Contains(s, `"reasoning_effort":"none"`) && strings.Contains(s, `"tools"`)
		}, false},
		{"and when it cannot help reasoning", "gpt-6-astra", "", 0, llmtest.Match{}, func(s string) bool { return !strings.Contains(s, `"tools"`) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := llmtest.New(t)
			cfg := config(s)
			cfg.Name = c.model
			m := openai.New(cfg)
			if c.status != 0 {
				s.On(c.match, llmtest.Answer{Status: c.status, Body: `{"error":{"message":` + quoted(c.message) + `}}`})
			}
			for range 2 {
				if _, reply := stream(t, m, withTools("x")); reply.NoTools != c.noTools {
					t.Errorf("reply %+v", reply)
				}
			}
			requests, refused := s.Requests(), 0
			if c.status != 0 {
				refused = 1
			}
			if len(requests) != 2+refused {
				t.Fatalf("%d requests, want %d", len(requests), 2+refused)
			}
			for _, r := range requests[refused:] {
				if !c.after(string(r.Body)) {
					t.Errorf("sent %s", r.Body)
				}
			}
		})
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestUnrelatedRejectionKeepsTheTools(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Answer{Status: 400, Body: `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages"}}`}, llmtest.Default())
	_, err := c.Stream(t.Context(), withTools("x"), func(string) error { return nil })
	if e := modelError(t, err); e.Code != chat.CodeModelRejected {
		t.Errorf("got %+v", e)
	}
	if _, reply := stream(t, c, withTools("x")); reply.NoTools {
		t.Error("tools stay disabled")
	}
}

var dot = llm.Image{MIME: "image/png", Data: llmtest.Picture("a dot")}

func withPicture(text string) llm.Request {
	return llm.Request{Task: llm.TaskAssistant, Messages: []llm.Message{{Role: llm.System, Text: "You answer."}, {Role: llm.User, Text: text, Images: []llm.Image{dot}}}}
}

func visionClient(s *llmtest.Server) *openai.Client {
	cfg := config(s)
	cfg.Name = "gpt-4o"
	return openai.New(cfg)
}

func TestPicturesAreSentToVisionModels(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	c := visionClient(s)
	if !c.Info().Vision {
		t.Error("gpt-4o is reported without vision")
	}
	for _, text := range []string{"what is it?", ""} {
		if _, reply := stream(t, c, withPicture(text)); reply.NoImages {
			t.Error("the picture was omitted")
		}
	}
	for _, r := range s.Requests() {
		if !strings.Contains(string(r.Body), `"image_url":{"url":"data:image/png;base64,iVBOR`) {
			t.Errorf("sent %s", r.Body)
		}
	}
}

func TestModelWithoutVisionGetsTheNumberOfPictures(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Vision = "off"
	c := openai.New(cfg)
	if c.Info().Vision {
		t.Error("CHAT_MODEL_VISION=off is reported with vision")
	}
	if _, reply := stream(t, c, withPicture("what is it?")); !reply.NoImages {
		t.Error("NoImages is not set")
	}
	if r := s.Requests()[0]; strings.Contains(string(r.Body), "image_url") || !strings.Contains(r.LastUser, "1 attached") {
		t.Errorf("sent %s", r.Body)
	}
}

func TestUnknownModelGetsThePictureFirst(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if _, reply := stream(t, c, withPicture("what is it?")); reply.NoImages || !c.Info().Vision {
		t.Errorf("reply %+v", reply)
	}
	if r := s.Requests()[0]; !strings.Contains(string(r.Body), "image_url") {
		t.Errorf("sent %s", r.Body)
	}
}

// Ollama and others answer 500 to a picture that a model cannot take.
func TestModelThatFailsOnAPictureIsRemembered(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Answer{Status: 500, Body: `{"error":{"message":"this model is missing data required for image input"}}`}, llmtest.Default())
	for range 2 {
		if _, reply := stream(t, c, withPicture("what is it?")); !reply.NoImages {
			t.Errorf("reply %+v", reply)
		}
	}
	if n := s.Count(llmtest.Match{}); n != 3 || c.Info().Vision {
		t.Errorf("%d requests, want one failure and two answers", n)
	}
}

func TestConfiguredVisionIsNotUnlearned(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Vision = "on"
	c := openai.New(cfg)
	s.RefuseImages()
	if _, reply := stream(t, c, withPicture("what is it?")); !reply.NoImages || !c.Info().Vision {
		t.Errorf("reply %+v", reply)
	}
}

func TestModelThatRejectsPicturesIsRemembered(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	c := visionClient(s)
	s.RefuseImages()
	for range 2 {
		if _, reply := stream(t, c, withPicture("what is it?")); !reply.NoImages {
			t.Errorf("reply %+v", reply)
		}
	}
	if n := s.Count(llmtest.Match{}); n != 3 || c.Info().Vision {
		t.Errorf("%d requests, want one refusal and two answers", n)
	}
}

func TestRejectedPictureDoesNotDisableVision(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	c := visionClient(s)
	s.On(llmtest.Match{}, llmtest.Answer{Status: 400, Body: `{"error":{"message":"You uploaded an unsupported image. Please make sure your image is valid."}}`}, llmtest.Default())
	if _, reply := stream(t, c, withPicture("what is it?")); !reply.NoImages {
		t.Errorf("reply %+v", reply)
	}
	if _, reply := stream(t, c, withPicture("and this?")); reply.NoImages || !c.Info().Vision {
		t.Errorf("reply %+v", reply)
	}
}

func painter(s *llmtest.Server, model string) *openai.Client {
	cfg := config(s)
	cfg.ImageModel, cfg.FirstByteTimeout, cfg.Timeout = model, time.Minute, time.Minute
	cfg.Prices, _ = llm.ParsePrices([]byte(`{"gpt-image-1":{"in":0,"out":1000000},"dall-e-3":{"picture":0.04}}`))
	return openai.New(cfg)
}

func TestPaintReturnsThePictureAndItsUsage(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	c := painter(s, "gpt-image-1")
	image, usage, err := c.Paint(t.Context(), "a red barn", "1536x1024", "turnc1")
	if err != nil || image.MIME != "image/png" || !reflect.DeepEqual(image.Data, llmtest.Picture("a red barn")) {
		t.Fatalf("%s, %d bytes, %v", image.MIME, len(image.Data), err)
	}
	if usage.CostUSD != 1056 || usage.Calls != 1 {
		t.Errorf("usage %+v", usage)
	}
	r := s.Requests()[0]
	if body := sent(t, r); r.IdempotencyKey != "turnc1" || body["model"] != "gpt-image-1" || body["size"] != "1536x1024" || body["response_format"] != nil || body["n"] != 1.0 {
		t.Errorf("key %q, sent %s", r.IdempotencyKey, r.Body)
	}
	if info := c.Info(); info.Image != "gpt-image-1" {
		t.Errorf("info %+v", info)
	}
}

func TestOlderImageModelsAreAskedForBase64(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.On(llmtest.Match{}, llmtest.Answer{NoUsage: true})
	_, usage, err := painter(s, "dall-e-3").Paint(t.Context(), "a barn", "1536x1024", "")
	if body := sent(t, s.Requests()[0]); err != nil || body["response_format"] != "b64_json" || body["size"] != "1792x1024" || usage.CostUSD != 0.04 {
		t.Errorf("sent %v, usage %+v, %v", body, usage, err)
	}
	s.On(llmtest.Match{Func: func(r llmtest.Request) bool { return strings.Contains(string(r.Body), "response_format") }},
		llmtest.Answer{Status: 400, Body: `{"error":{"message":"Unknown parameter: 'response_format'."}}`})
	c := painter(s, "paints-well")
	for range 2 {
		if _, _, err := c.Paint(t.Context(), "a barn", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Count(llmtest.Match{}); n != 4 {
		t.Errorf("%d requests", n)
	}
}

func TestPaintErrorsAreTyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer llmtest.Answer
		code   string
		retry  bool
		hint   string
	}{
		{"policy", llmtest.Answer{Status: 400, Body: `{"error":{"message":"Your request was rejected by the safety system.","code":"moderation_blocked"}}`}, chat.CodeModelRejected, false, "did not accept"},
		{"key", llmtest.Status(401, ""), chat.CodeModelRejected, false, "OPENAI_API_KEY"},
		{"model", llmtest.Status(404, ""), chat.CodeModelRejected, false, "IMAGE_MODEL_NAME"},
		{"busy", llmtest.Status(429, "3"), chat.CodeModelUnavailable, true, ""},
		{"broken", llmtest.Answer{Cut: true}, chat.CodeModelUnavailable, true, ""},
		{"a link", llmtest.Answer{Body: `{"data":[{"url":"http://169.254.169.254/"}]}`}, chat.CodeModelRejected, false, "no usable picture"},
		{"nothing", llmtest.Answer{Body: `{"data":[]}`}, chat.CodeModelRejected, false, "no usable picture"},
		{"no base64", llmtest.Answer{Body: `{"data":[{"b64_json":"%%%"}]}`}, chat.CodeModelRejected, false, "no usable picture"},
		{"no picture", llmtest.Answer{Body: `{"data":[{"b64_json":"PGh0bWw+"}]}`}, chat.CodeModelRejected, false, "no usable picture"},
		{"too much", llmtest.Answer{Body: `{"data":[{"b64_json":"` + strings.Repeat("A", 16<<20) + `"}]}`}, chat.CodeModelUnavailable, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := llmtest.New(t)
			s.On(llmtest.Match{Kind: llmtest.Images}, c.answer)
			_, _, err := painter(s, "gpt-image-1").Paint(t.Context(), "a barn", "", "")
			if e := modelError(t, err); e.Code != c.code || e.Retryable != c.retry || !strings.Contains(e.Hint.Text, c.hint) {
				t.Errorf("got %+v", e)
			}
			if n := s.Count(llmtest.Match{}); n != 1 {
				t.Errorf("%d requests: Paint must not retry", n)
			}
		})
	}
}

func TestPaintFailsWithoutAnImageModel(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	if _, _, err := c.Paint(t.Context(), "a barn", "", ""); !errors.Is(err, llm.ErrNoImages) {
		t.Errorf("got %v", err)
	}
}

func TestCancellingAPictureClosesTheUpstreamConnection(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	gate := llmtest.NewGate()
	s.On(llmtest.Match{}, llmtest.Answer{Gates: map[int]*llmtest.Gate{0: gate}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-gate.Reached(); cancel() }()
	if _, _, err := painter(s, "gpt-image-1").Paint(ctx, "a barn", "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.WaitDisconnected(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestPaintHasNoFirstByteTimeout(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.ImageModel, cfg.FirstByteTimeout = "gpt-image-1", 1500*time.Millisecond
	s.On(llmtest.Match{}, llmtest.Answer{Delay: 2 * time.Second}) // this test needs real time
	if _, _, err := openai.New(cfg).Paint(t.Context(), "a barn", "", ""); err != nil {
		t.Error(err)
	}
}
