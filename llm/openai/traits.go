package openai

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// traits are a model's restrictions, learned from its rejections and kept for the
// life of the process.
type traits struct {
	mode             mode
	noTemperature    bool // accepts only its default temperature
	completionTokens bool // requires max_completion_tokens instead of max_tokens
	noStreamUsage    bool // does not support stream_options
	noTools          bool // does not support tools
	plainTools       bool // supports only plain tool schemas
	noReasoning      bool // supports tools only without reasoning
	shortIDs         bool // requires call ids of nine characters
	signatures       bool // requires a signature in each message's first call
	noImages         bool // has no vision
	vision           bool // has vision, by CHAT_MODEL_VISION
	context          int  // tokens of a prompt and its answer; 0: not known
	badImages        bool // rejected these pictures; not remembered
	noImageFormat    bool // Paint: does not support response_format
}

// mode is the way to get JSON from a model.
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
	if ok {
		return t
	}
	if c.cfg.ForcedTool {
		t.mode = byTool
	}
	t.signatures = c.cfg.Signatures
	t.context = c.cfg.ContextTokens
	switch c.cfg.Vision {
	case "on":
		t.vision = true
	case "off":
		t.noImages = true
	default:
		t.noImages = !takesPictures(model)
	}
	return t
}

func (c *Client) remember(model string, t traits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.badImages = false
	c.traits[model] = t
}

// learn finds the parameter to omit in a rejection. Each step makes the request
// plainer, so that the retries end.
func (t traits) learn(err error, to target) (traits, bool) {
	var e *llm.Error
	var refused *refusal
	if !errors.As(err, &e) || !errors.As(err, &refused) {
		return t, false
	}
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	case http.StatusUnsupportedMediaType, http.StatusInternalServerError, http.StatusNotImplemented: // some servers answer these to a picture
		to.tools, to.structured, to.paints, to.prompt = false, false, false, 0
		if !to.images || !mentions(strings.ToLower(refused.detail), noImageWords) {
			return t, false
		}
	default:
		return t, false
	}
	text := strings.ToLower(refused.detail)
	says := func(words ...string) bool { return mentions(text, words) }
	if to.prompt > 0 && says(tooLongWords...) {
		return t.smaller(text, to.prompt)
	}
	tools, images := to.tools && !t.noTools, to.images && !t.noImages && !t.badImages
	switch {
	case tools && !t.noReasoning && says("responses api", "/v1/responses"):
		t.noReasoning = true
	case tools && t.noReasoning && says("reasoning effort", "reasoning_effort"):
		t.noTools = true
	case !t.signatures && says("thought_signature", "thought signature"):
		t.signatures = true
	case !t.shortIDs && says("tool call id") && says("length of 9", "length 9"):
		t.shortIDs = true
	case !t.noStreamUsage && says("stream_options", "include_usage"):
		t.noStreamUsage = true
	case !t.completionTokens && says("max_completion_tokens", "maxcompletiontokens"):
		t.completionTokens = true
	case !t.noTemperature && says("temperature"):
		t.noTemperature = true
	case !t.noImageFormat && to.paints && says("response_format"):
		t.noImageFormat = true
	case to.structured && t.mode == bySchema && says("response_format", "json_schema", "json schema", "structured output", "responseformat", "response schema", "response_schema"):
		t.mode = byTool
	case to.structured && t.mode == byTool && says("tool", "function"):
		t.mode = byPrompt
	case tools && says(noToolWords...):
		t.noTools = true
	case tools && !t.plainTools && says("schema", "parameters", "properties", "function_declarations", "functiondeclaration"):
		t.plainTools = true
	case images && !t.vision && says(noImageWords...):
		t.noImages = true
	case images && says("image", "picture"): // too large or broken: another picture may work
		t.badImages = true
	default:
		return t, false
	}
	return t, true
}

func mentions(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Error texts for models without tools: Ollama, OpenRouter, vLLM, llama.cpp,
// OpenAI and compatible servers.
var noToolWords = []string{
	"support tool", "support function", "support the use of tool", "tool use is not supported", "tools is not supported", "tools are not supported",
	"function calling is not", "tool calling is not", "tool choice requires", "tools param requires", "argument supplied: tools",
	"parameter: 'tools'", "parameter: tools", "unknown field \"tools\"", "unknown name \"tools\"",
}

// Error texts for models without vision.
var noImageWords = []string{
	"support image", "support vision", "support multimodal", "image input is not", "images are not supported", "image input not supported",
	"image_url is only supported", "image_url is not supported", "unknown variant `image_url`", "not a multimodal", "missing data required for image input",
	"content must be a string", "only text content", "vision is not",
}

// refusal is a provider's text about a rejected request. Only learn reads all of
// it; the log gets an excerpt.
type refusal struct {
	detail string
}

func (r *refusal) Error() string { return clip(r.detail, 300) }

var (
	_ llm.Model   = (*Client)(nil)
	_ llm.Painter = (*Client)(nil)
)
