package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

const key = "sk-planted-secret"

func config(s *llmtest.Server) openai.Config {
	prices, err := llm.ParsePrices([]byte(`{"small":{"in":1000000,"out":0}}`)) // a dollar a token in
	if err != nil {
		panic(err)
	}
	return openai.Config{
		Provider: "openai", BaseURL: s.URL, APIKey: key, KeyVariable: "OPENAI_API_KEY",
		Name: "small", NameStrong: "large", EmbeddingModel: "vectors", Prices: prices,
		FirstByteTimeout: 5 * time.Second, Timeout: 10 * time.Second,
	}
}

func start(t *testing.T) (*llmtest.Server, *openai.Client) {
	t.Helper()
	s := llmtest.New(t)
	return s, openai.New(config(s))
}

func request(text string) llm.Request {
	return llm.Request{Task: llm.TaskInquire, Messages: []llm.Message{
		{Role: llm.System, Text: "You answer."}, {Role: llm.User, Text: text}}}
}

// collect streams and returns the whole text.
func collect(ctx context.Context, m llm.Model, r llm.Request) (string, chat.Usage, error) {
	var b strings.Builder
	reply, err := m.Stream(ctx, r, func(d string) error { b.WriteString(d); return nil })
	return b.String(), reply.Usage, err
}

func modelError(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want *llm.Error", err, err)
	}
	if strings.Contains(e.Error()+e.Hint.Text, key) {
		t.Errorf("the error carries the key: %v / %s", e, e.Hint)
	}
	return e
}

func TestStreamDeliversDeltasAndTheProvidersUsage(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{Kind: llmtest.Stream}, llmtest.Text("Ten ", "percent", " [1]."))
	text, usage, err := collect(t.Context(), c, request("how much?"))
	if err != nil || text != "Ten percent [1]." {
		t.Fatalf("got %q, %v", text, err)
	}
	if usage.TokensOut != 3 || usage.TokensIn == 0 || usage.Calls != 1 || usage.CostUSD != float64(usage.TokensIn) {
		t.Errorf("usage %+v", usage)
	}
}

func TestStreamEstimatesUsageWhenTheProviderSendsNone(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{Kind: llmtest.Stream}, llmtest.Answer{Chunks: []string{strings.Repeat("word ", 40)}, NoUsage: true})
	_, usage, err := collect(t.Context(), c, request("how much?"))
	if err != nil || usage.TokensOut != 50 || usage.TokensIn == 0 {
		t.Errorf("usage %+v, %v", usage, err)
	}
}

func TestStreamWithoutAFinishReasonIsAnError(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{Kind: llmtest.Stream}, llmtest.Cut("Ten ", "per"))
	text, usage, err := collect(t.Context(), c, request("how much?"))
	e := modelError(t, err)
	if e.Code != chat.CodeModelUnavailable || !e.Retryable || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v (%v)", e, e.Err)
	}
	if text != "Ten per" || usage.TokensOut == 0 {
		t.Errorf("text %q, usage %+v: usage must include what was consumed", text, usage)
	}
}

func TestFinishReasons(t *testing.T) {
	t.Parallel()
	for finish, want := range map[string]llm.Finish{
		"stop": llm.FinishStop, "tool_calls": llm.FinishStop, "eos": llm.FinishStop,
		"length": llm.FinishLength, "max_tokens": llm.FinishLength, "MAX_TOKENS": llm.FinishLength,
		"content_filter": llm.FinishFilter, "SAFETY": llm.FinishFilter, "sensitive": llm.FinishFilter,
		"abort": llm.FinishAbort, "network_error": llm.FinishAbort, "insufficient_system_resource": llm.FinishAbort,
	} {
		t.Run(finish, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, llmtest.Answer{Chunks: []string{"text"}, Finish: finish})
			reply, err := m.Stream(t.Context(), request("x"), func(string) error { return nil })
			if err != nil || reply.Finish != want {
				t.Fatalf("got %q, %v", reply.Finish, err)
			}
		})
	}
}

func TestAnswerThatTheContentFilterStoppedAtOnceIsRejected(t *testing.T) {
	t.Parallel()
	s, m := start(t)
	s.On(llmtest.Match{}, llmtest.Answer{Chunks: []string{""}, Finish: "content_filter"})
	_, _, err := collect(t.Context(), m, request("x"))
	if e := modelError(t, err); e.Code != chat.CodeModelRejected || e.Retryable || e.Hint.Text == "" {
		t.Errorf("got %+v", e)
	}
}

// An empty answer is asked for once more, with more room if the model has thought, and
// not again by Temporal.
func TestEmptyAnswerIsAskedForOnceMore(t *testing.T) {
	t.Parallel()
	thought := map[string]any{"reasoning_content": "hm, hm"}
	for name, c := range map[string]struct {
		first llmtest.Answer
		code  string // when it stays empty
		room  bool
	}{
		"no text":        {llmtest.Answer{}, chat.CodeModelUnavailable, false},
		"thoughts only":  {llmtest.Answer{Deltas: []any{thought}}, chat.CodeModelUnavailable, true},
		"limit":          {llmtest.Answer{Deltas: []any{thought}, Finish: "length"}, chat.CodeModelRejected, true},
		"limit, no word": {llmtest.Answer{Finish: "max_tokens"}, chat.CodeModelRejected, true},
		"never closed":   {llmtest.Answer{Chunks: []string{"<think>hm, ", "hm"}, Finish: "length"}, chat.CodeModelRejected, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := request("x")
			r.MaxTokens = 300
			s, m := start(t)
			s.On(llmtest.Match{}, c.first, llmtest.Text("Yes."))
			text, usage, err := collect(t.Context(), m, r)
			if err != nil || text != "Yes." || usage.Calls != 2 {
				t.Fatalf("got %q, %+v, %v", text, usage, err)
			}
			if again := sent(t, s.Requests()[1])["max_tokens"].(float64); (again > 4000) != c.room {
				t.Errorf("asked again with %v tokens", again)
			}
			if _, _, err := collect(t.Context(), m, r); err != nil {
				t.Fatal(err)
			}
			if later := sent(t, s.Requests()[2])["max_tokens"].(float64); (later > 4000) != c.room {
				t.Errorf("the next call has %v tokens: the need is remembered", later)
			}

			s, m = start(t)
			s.On(llmtest.Match{}, c.first)
			_, _, err = collect(t.Context(), m, r)
			if e := modelError(t, err); e.Retryable || e.Code != c.code || s.Count(llmtest.Match{}) != 2 {
				t.Errorf("got %+v after %d calls", e, s.Count(llmtest.Match{}))
			}
		})
	}
}

func TestStatusesBecomeTypedErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		status     int
		retryAfter string
		body       string
		want       llm.Error
		hint       string
	}{
		{name: "rate limit in seconds", status: 429, retryAfter: "7", want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, RetryAfter: 7 * time.Second}},
		{name: "rate limit in a body", status: 429, body: `[{"error":{"message":"quota","details":[{"retryDelay":"34.5s"}]}}]`,
			want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, RetryAfter: 34500 * time.Millisecond}},
		{name: "no quota left", status: 429, body: `{"error":{"message":"You exceeded","code":"insufficient_quota"}}`,
			want: llm.Error{Code: chat.CodeModelRejected}, hint: "OPENAI_API_KEY"},
		{name: "timeout", status: 408, want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true}},
		{name: "conflict", status: 409, want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true}},
		{name: "server error", status: 500, want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true}},
		{name: "overloaded", status: 529, retryAfter: "soon", want: llm.Error{Code: chat.CodeModelUnavailable, Retryable: true}},
		{name: "bad key", status: 401, body: `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`,
			want: llm.Error{Code: chat.CodeModelRejected}, hint: "OPENAI_API_KEY"},
		{name: "no permission", status: 403, want: llm.Error{Code: chat.CodeModelRejected}, hint: "OPENAI_API_KEY"},
		{name: "bad key at Gemini", status: 400, body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]`,
			want: llm.Error{Code: chat.CodeModelRejected}, hint: "OPENAI_API_KEY"},
		{name: "unknown model", status: 404, body: `{"error":{"message":"The model small does not exist","code":"model_not_found"}}`,
			want: llm.Error{Code: chat.CodeModelRejected}, hint: "CHAT_MODEL_NAME."},
		{name: "unknown model as bad request", status: 400, body: `{"error":{"message":"model 'small' not found"}}`,
			want: llm.Error{Code: chat.CodeModelRejected}, hint: "CHAT_MODEL_NAME."},
		{name: "bad request", status: 400, body: `{"error":{"message":"context length exceeded with ` + key + `"}}`,
			want: llm.Error{Code: chat.CodeModelRejected}},
		{name: "not even JSON", status: 418, body: strings.Repeat("<p>", 100_000), want: llm.Error{Code: chat.CodeModelRejected}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{}, llmtest.Answer{Status: c.status, RetryAfter: c.retryAfter, Body: c.body})
			_, _, streamErr := collect(t.Context(), m, request("x"))
			var intent llm.Intent
			_, structuredErr := m.Structured(t.Context(), request("x"), llm.IntentSchema, &intent)
			for _, err := range []error{streamErr, structuredErr} {
				e := modelError(t, err)
				if e.Code != c.want.Code || e.Retryable != c.want.Retryable || e.RetryAfter != c.want.RetryAfter || e.Status != c.status {
					t.Errorf("got %+v", e)
				}
				if !strings.Contains(e.Hint.Text, c.hint) || len(e.Error()) > 1000 {
					t.Errorf("hint %q, error of %d bytes", e.Hint.Text, len(e.Error()))
				}
			}
			if n := s.Count(llmtest.Match{}); n != 2 {
				t.Errorf("%d requests for two calls: retries belong to Temporal", n)
			}
		})
	}
}

func TestErrorOfTheStrongModelNamesItsVariable(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Status(404, ""))
	r := request("x")
	r.Task = llm.TaskAudit
	_, _, err := collect(t.Context(), c, r)
	if e := modelError(t, err); !strings.Contains(e.Hint.Text, "CHAT_MODEL_NAME_STRONG") || !strings.Contains(e.Hint.Text, "large") {
		t.Errorf("hint %q", e.Hint.Text)
	}
	if got := s.Requests()[0].Model; got != "large" {
		t.Errorf("model %q", got)
	}
}

func TestConnectionErrorIsRetryable(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.Close()
	_, _, err := collect(t.Context(), c, request("x"))
	if e := modelError(t, err); !e.Retryable || e.Code != chat.CodeModelUnavailable {
		t.Errorf("got %+v", e)
	}
}

func TestInvalidResponseIsRetryable(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Garbage())
	var intent llm.Intent
	_, err := c.Structured(t.Context(), request("x"), llm.IntentSchema, &intent)
	if e := modelError(t, err); !e.Retryable || e.Code != chat.CodeModelUnavailable {
		t.Errorf("structured: got %+v", e)
	}
	_, _, err = collect(t.Context(), c, request("x"))
	if e := modelError(t, err); !e.Retryable || e.Code != chat.CodeModelUnavailable {
		t.Errorf("stream: got %+v", e)
	}
}

func TestSilentProviderTimesOut(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]llmtest.Answer{
		"before the first token": llmtest.Silent(),
		"between tokens":         llmtest.Silent("one ", "two "),
		"before the headers":     {Chunks: []string{"late"}, Delay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			cfg := config(s)
			cfg.FirstByteTimeout = 60 * time.Millisecond
			s.On(llmtest.Match{}, answer)
			_, _, err := collect(t.Context(), openai.New(cfg), request("x"))
			if e := modelError(t, err); e.Code != chat.CodeModelTimeout || !e.Retryable {
				t.Errorf("got %+v", e)
			}
			if s.Count(llmtest.Match{}) == 0 { // on a busy machine the call may time out before the server records it
				return
			}
			if err := s.WaitDisconnected(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// streamed is a provider that streams a text without a delay.
type streamed string

func (s streamed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

func TestSlowReaderDoesNotTriggerTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := streamed(`data: {"choices":[{"index":0,"delta":{"content":"one "}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
		c := openai.New(openai.Config{BaseURL: "http://provider", Name: "small", FirstByteTimeout: time.Second, HTTPClient: &http.Client{Transport: events}})
		var text string
		_, err := c.Stream(t.Context(), request("x"), func(d string) error {
			time.Sleep(2 * time.Second) // the clock of the synctest bubble
			text += d
			return nil
		})
		if err != nil || text != "one two" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestTimeoutCoversTheWholeCall(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Timeout = 80 * time.Millisecond
	s.On(llmtest.Match{}, llmtest.Silent("one "))
	_, _, err := collect(t.Context(), openai.New(cfg), request("x"))
	if e := modelError(t, err); e.Code != chat.CodeModelTimeout {
		t.Errorf("got %+v", e)
	}
}

func TestCancellingClosesTheUpstreamConnection(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	gate := llmtest.NewGate()
	s.On(llmtest.Match{}, llmtest.Answer{Chunks: []string{"one ", "two"}, Gates: map[int]*llmtest.Gate{1: gate}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-gate.Reached(); cancel() }()
	_, _, err := collect(ctx, c, request("x"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.WaitDisconnected(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestEmitErrorAbortsTheCall(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Silent("one "))
	stop := errors.New("enough")
	_, err := c.Stream(t.Context(), request("x"), func(string) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if err := s.WaitDisconnected(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// sent decodes the body of a request.
func sent(t *testing.T, r llmtest.Request) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(r.Body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTemperatureZeroIsSent(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if _, _, err := collect(t.Context(), c, request("x")); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	temperature, ok := sent(t, got)["temperature"].(float64)
	if !ok || temperature < 0 || temperature > 1e-6 {
		t.Errorf("temperature on the wire: %s", got.Body)
	}
	if got.Authorization != "Bearer "+key {
		t.Errorf("authorization %q", got.Authorization)
	}
}

func TestRejectedParametersAreOmittedAndRemembered(t *testing.T) {
	t.Parallel()
	has := func(param string) func(llmtest.Request) bool {
		return func(r llmtest.Request) bool { return strings.Contains(string(r.Body), `"`+param+`":`) }
	}
	for _, c := range []struct{ param, message string }{
		{"temperature", "Unsupported value: 'temperature' does not support 0 with this model."},
		{"max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
		{"stream_options", "Unrecognized request argument supplied: stream_options"},
	} {
		t.Run(c.param, func(t *testing.T) {
			s, m := start(t)
			s.On(llmtest.Match{Func: has(c.param)}, llmtest.Answer{Status: 400, Body: `{"error":{"message":"` + c.message + `"}}`})
			r := request("x")
			r.MaxTokens = 100
			for range 2 {
				if _, _, err := collect(t.Context(), m, r); err != nil {
					t.Fatal(err)
				}
			}
			if n := s.Count(llmtest.Match{}); n != 3 {
				t.Errorf("%d requests, want one refusal and two answers", n)
			}
		})
	}
}

func TestModelThatTheSDKRestrictsStillAnswers(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Name = "gpt-5.4-mini" // the SDK refuses a temperature and max_tokens for it before sending
	r := request("x")
	r.MaxTokens = 100
	if _, _, err := collect(t.Context(), openai.New(cfg), r); err != nil {
		t.Fatal(err)
	}
	if body := sent(t, s.Requests()[0]); body["max_completion_tokens"] != 100.0 || body["temperature"] != nil {
		t.Errorf("sent %v", body)
	}
}

func TestEmbedKeepsOrderAcrossBatches(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	texts := make([]string, 250)
	for i := range texts {
		texts[i] = strings.Repeat("w", i+1)
	}
	texts[7] = "  " // an empty text must not fail its batch
	got, err := c.Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	for _, i := range []int{0, 95, 96, 249} {
		want := llmtest.Vector(texts[i])
		for j := range want {
			if got[i][j] != want[j] {
				t.Fatalf("vector %d belongs to another text", i)
			}
		}
	}
	if n := s.Count(llmtest.Match{Kind: llmtest.Embeddings}); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestEmbedErrors(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Status(404, ""), llmtest.Answer{Body: `{"data":[]}`})
	_, err := c.Embed(t.Context(), []string{"a"})
	if e := modelError(t, err); !strings.Contains(e.Hint.Text, "EMBEDDING_MODEL_NAME") {
		t.Errorf("hint %q", e.Hint.Text)
	}
	_, err = c.Embed(t.Context(), []string{"a"})
	if e := modelError(t, err); !e.Retryable {
		t.Errorf("a missing vector: got %+v", e)
	}
	cfg := config(s)
	cfg.EmbeddingModel = ""
	if _, err := openai.New(cfg).Embed(t.Context(), []string{"a"}); !errors.Is(err, llm.ErrNoEmbeddings) {
		t.Errorf("got %v", err)
	}
}

func TestRetryAfterCanBeADate(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Status(503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)))
	_, _, err := collect(t.Context(), c, request("x"))
	if e := modelError(t, err); e.RetryAfter < 58*time.Minute || e.RetryAfter > time.Hour {
		t.Errorf("Retry-After %v", e.RetryAfter)
	}
}

func TestChosenModelAnswersEveryTask(t *testing.T) {
	s := llmtest.New(t)
	cfg := config(s)
	cfg.Choices = []string{"small", "other", "gpt-3.5-turbo"}
	m := openai.New(cfg)
	for _, c := range []struct {
		task   llm.Task
		chosen string
		want   string
	}{{llm.TaskInquire, "", "small"}, {llm.TaskCompare, "", "large"}, {llm.TaskInquire, "other", "other"}, {llm.TaskCompare, "other", "other"}, {llm.TaskCompare, "small", "small"}} {
		r := request("x")
		r.Task = c.task
		if _, _, err := collect(t.Context(), m, r.By(c.chosen)); err != nil {
			t.Fatal(err)
		}
		var in llm.Intent
		if _, err := m.Structured(t.Context(), r.By(c.chosen), llm.IntentSchema, &in); err != nil {
			t.Fatal(err)
		}
		asked := s.Requests()
		if n := len(asked); asked[n-1].Model != c.want || asked[n-2].Model != c.want {
			t.Errorf("%s with %q: %s and %s", c.task, c.chosen, asked[n-2].Model, asked[n-1].Model)
		}
	}
	if info := m.Info(); !info.Sees("") || !info.Sees("other") || info.Sees("gpt-3.5-turbo") {
		t.Errorf("%+v", info)
	}
}
