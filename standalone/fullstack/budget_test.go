package fullstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// insatiable scripts a model that calls tools as long as it may, and then answers.
func insatiable(model *llmtest.Server) {
	model.On(llmtest.Match{Kind: llmtest.Stream, Func: func(r llmtest.Request) bool { return len(r.Tools) > 0 }},
		llmtest.Calls(llmtest.Call("find_in_document", object{"document": "Liquidity circular", "words": "ratio"})))
	model.On(llmtest.Match{Kind: llmtest.Stream, Func: func(r llmtest.Request) bool {
		return len(r.Tools) == 0 && strings.Contains(string(r.Body), "Answer now")
	}},
		llmtest.Text("The ratio is at least 100 percent [1]."))
}

// Rule T16.
func TestTurnThatReachesALimitAnswersWithWhatItHasFound(t *testing.T) {
	t.Parallel()
	for notice, limit := range map[string]struct {
		option stacktest.Option
		left   string // of which the model is told
	}{
		"steps_used":  {stacktest.Flag("turn-max-steps", "6"), " steps (a step is one message of yours"},
		"tokens_used": {stacktest.Flag("turn-max-tokens", "12000"), " tokens"},
		"cost_used":   {stacktest.Flag("turn-max-cost-usd", "0.004"), " US dollars"},
	} {
		t.Run(notice, func(t *testing.T) {
			t.Parallel()
			_, model, c := scripted(t, limit.option, stacktest.Flag("chat-model-name", "gpt-5-mini"))
			doc := c.upload("Liquidity circular", circular)
			insatiable(model)
			for _, agent := range []string{"documents", "assistant"} {
				const effort = "thorough"
				asked := len(model.Requests())
				events := newTalk(t, c.url, c.client).ask("What is the ratio, in "+agent+effort+"?", object{"agent": agent, "effort": effort, "tagged_doc_ids": []string{doc}})
				end := last(events)
				require.Equal(t, "response", end.Type, "%s %s: %+v", agent, effort, end)
				require.Equal(t, "The ratio is at least 100 percent [1].", end.Response)
				require.Len(t, end.Citations, 1, "%s %s", agent, effort)
				var notices []string
				calls := 0
				for _, e := range events {
					switch {
					case e.Type == "notice" && e.Code != "plan":
						notices = append(notices, e.Code)
					case e.Type == "tool_call":
						calls++
					}
				}
				require.Equal(t, []string{notice}, notices, "%s %s", agent, effort)
				require.Positive(t, calls)
				var told []string
				for _, r := range model.Requests()[asked:] {
					if r.Kind == llmtest.Stream && len(r.Tools) > 0 {
						_, left, found := strings.Cut(string(r.Body), "You have left: ")
						require.True(t, found)
						left, _, _ = strings.Cut(left, ".\"")
						told = append(told, left)
					}
				}
				require.Contains(t, told[0], limit.left)
				require.NotEqual(t, told[0], told[len(told)-1], "it becomes less")
			}
		})
	}
}

// Rule T16: calls before the answer may use up a limit, too.
func TestTurnWithASmallLimitAnswersOnceItCan(t *testing.T) {
	t.Parallel()
	for flag, value := range map[string]string{"turn-max-steps": "1", "turn-max-tokens": "1", "turn-max-cost-usd": "0.0000001"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			_, model, c := scripted(t, stacktest.Flag(flag, value), stacktest.Flag("chat-model-name", "gpt-5-mini"))
			c.upload("Liquidity circular", circular)
			insatiable(model)
			for _, agent := range []string{"documents", "assistant"} {
				for _, effort := range []string{"quick", "normal", "thorough"} {
					end := last(newTalk(t, c.url, c.client).ask("What is the ratio of the Liquidity circular?", object{"agent": agent, "effort": effort}))
					require.Equal(t, "response The ratio is at least 100 percent [1].", end.Type+" "+end.Response, "%s, %s: %s", agent, effort, end.Code)
				}
			}
		})
	}
}
