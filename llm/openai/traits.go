package openai

import (
	"errors"
	"net/http"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// traits is what a model was found not to take. Found out by its refusals and
// remembered for the life of the process.
type traits struct {
	mode             mode
	noTemperature    bool // refuses any temperature but its own
	completionTokens bool // wants max_completion_tokens for max_tokens
	noStreamUsage    bool // does not know stream_options
}

// mode is how a model is brought to answer in JSON.
type mode int

const (
	bySchema mode = iota // response_format json_schema
	byTool               // one tool, which it must call
	byPrompt             // the schema stands in the prompt
)

func (c *Client) known(model string) traits {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.traits[model]
	if !ok && c.cfg.ForcedTool {
		t.mode = byTool
	}
	return t
}

func (c *Client) remember(model string, t traits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traits[model] = t
}

// learn reads out of a refusal which parameter to leave out. It only ever moves
// towards a plainer request, so trying again ends.
func (t traits) learn(err error, structured bool) (traits, bool) {
	var e *llm.Error
	var refused *refusal
	if !errors.As(err, &e) || !errors.As(err, &refused) {
		return t, false
	}
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return t, false
	}
	text := strings.ToLower(refused.detail)
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case !t.noStreamUsage && says("stream_options", "include_usage"):
		t.noStreamUsage = true
	case !t.completionTokens && says("max_completion_tokens", "maxcompletiontokens"):
		t.completionTokens = true
	case !t.noTemperature && says("temperature"):
		t.noTemperature = true
	case structured && t.mode == bySchema && says("response_format", "json_schema", "json schema", "structured output", "responseformat", "response schema", "response_schema"):
		t.mode = byTool
	case structured && t.mode == byTool && says("tool", "function"):
		t.mode = byPrompt
	default:
		return t, false
	}
	return t, true
}

// refusal is what a provider said about a request that it did not take. Only
// learn reads all of it; the log gets an excerpt.
type refusal struct {
	detail string
}

func (r *refusal) Error() string { return clip(r.detail, 300) }

var _ llm.Model = (*Client)(nil)
