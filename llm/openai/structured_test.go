package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/openai"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

var good = llm.Intent{Action: chat.Compare, Confidence: chat.High, Actions: []chat.Action{chat.Compare}, Reasoning: "r"}

const goodText = `{"action":"compare","confidence":"high","enable_web_search":false,"multi_action_detected":false,"actions":["compare"],"reasoning":"r"}`

func TestStructuredModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		forced bool
		refuse func(*llmtest.Server)
		modes  []string // of the requests that two calls make
	}{
		{"schema", false, func(*llmtest.Server) {}, []string{"json_schema", "json_schema"}},
		{"falls back to a tool and remembers", false, (*llmtest.Server).RefuseSchema, []string{"json_schema", "tool", "tool"}},
		{"falls back to the prompt and remembers", false, func(s *llmtest.Server) { s.RefuseSchema(); s.RefuseTools() },
			[]string{"json_schema", "tool", "prompt", "prompt"}},
		{"begins with a tool", true, func(*llmtest.Server) {}, []string{"tool", "tool"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := llmtest.New(t)
			cfg := config(s)
			cfg.ForcedTool = c.forced
			m := openai.New(cfg)
			s.On(llmtest.Match{Schema: llm.IntentSchema.Name}, llmtest.JSON(good))
			c.refuse(s)
			for range 2 {
				var got llm.Intent
				usage, err := m.Structured(t.Context(), request("compare them"), llm.IntentSchema, &got)
				if err != nil {
					t.Fatal(err)
				}
				if got.Action != chat.Compare || got.Confidence != chat.High || usage.Calls != 1 {
					t.Errorf("got %+v, %+v", got, usage)
				}
			}
			var modes []string
			for _, r := range s.Requests() {
				modes = append(modes, r.Mode)
			}
			if strings.Join(modes, " ") != strings.Join(c.modes, " ") {
				t.Errorf("requests %v, want %v", modes, c.modes)
			}
		})
	}
}

func TestWireSchemaOmitsWhatStrictModesReject(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	var q llm.WebQuery
	if _, err := c.Structured(t.Context(), request("capital rules"), llm.WebQuerySchema, &q); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); strings.Contains(body, "maxLength") || !strings.Contains(body, `"strict":true`) {
		t.Errorf("sent %s", body)
	}
	if q.Query != "capital rules" {
		t.Errorf("query %q", q.Query)
	}
}

func TestInvalidAnswerIsRepairedOnce(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Text(`{"action":"dance"}`), llmtest.Text("```json\n"+goodText+"\n```"))
	var got llm.Intent
	usage, err := c.Structured(t.Context(), request("compare them"), llm.IntentSchema, &got)
	if err != nil || got.Action != chat.Compare {
		t.Fatalf("got %+v, %v", got, err)
	}
	if usage.Calls != 2 {
		t.Errorf("usage %+v: both calls count", usage)
	}
	second := s.Requests()[1]
	if !strings.Contains(second.LastUser, "action") || !strings.Contains(string(second.Body), "dance") {
		t.Errorf("the repair does not show the answer and its error: %s", second.Body)
	}
}

func TestUnparseableAnswerKeepsItsUsage(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Text("I would rather not."), llmtest.Text(""))
	var got llm.Intent
	usage, err := c.Structured(t.Context(), request("x"), llm.IntentSchema, &got)
	if !errors.Is(err, llm.ErrUnparseable) {
		t.Fatalf("got %v", err)
	}
	if usage.Calls != 2 || usage.TokensIn == 0 {
		t.Errorf("usage %+v", usage)
	}
	if n := s.Count(llmtest.Match{}); n != 2 {
		t.Errorf("%d requests: one repair only", n)
	}
	if strings.Contains(err.Error(), "rather") {
		t.Errorf("the error carries the model's text: %v", err)
	}
}

func TestFailedRepairKeepsTheFirstCallsUsage(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	s.On(llmtest.Match{}, llmtest.Text("no"), llmtest.Status(503, ""))
	var got llm.Intent
	usage, err := c.Structured(t.Context(), request("x"), llm.IntentSchema, &got)
	if e := modelError(t, err); !e.Retryable || usage.Calls != 1 {
		t.Errorf("got %+v, usage %+v", e, usage)
	}
}
