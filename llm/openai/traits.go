package openai

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
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
	noEffort         bool // does not support reasoning_effort
	noSystem         bool // has no system role
	alternate        bool // demands that people and the assistant take turns
	oneCall          bool // takes only one call in a message
	returnsReasoning bool // wants its reasoning back with its calls (DeepSeek, Kimi)
	thinksFirst      bool // begins with reasoning, without a tag that opens it
	output           int  // most tokens of an answer; 0: not known
	room             int  // tokens that it needs for reasoning, beside those of the answer
}

// The room that a model gets for its reasoning when an answer was empty, in tokens: at
// first, and at most.
const (
	firstRoom = 4096
	mostRoom  = 32 << 10
)

// roomier returns the traits for asking again after an empty answer. A model that the limit
// has stopped, or that has only thought, gets more room.
func (t traits) roomier(a answerState, stopped bool) traits {
	if (stopped || a.thought) && a.limit > 0 {
		t.room = min(max(firstRoom, t.room+a.limit), mostRoom)
	}
	return t
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

// learn finds the parameter to omit in a rejection. limit is the limit of tokens in the
// request. Each step makes the request plainer, so that the retries end.
func (t traits) learn(err error, to target, limit int) (traits, bool) {
	var e *llm.Error
	var refused *refusal
	if !errors.As(err, &e) || !errors.As(err, &refused) {
		return t, false
	}
	text := strings.ToLower(refused.detail)
	says := func(words ...string) bool { return mentions(text, words) }
	tools, images := to.tools && !t.noTools, to.images && !t.noImages && !t.badImages
	clear := false // the status says that the request is wrong, not the server
	switch e.Status {
	case 0, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		clear = true
	case http.StatusUnsupportedMediaType, http.StatusInternalServerError, http.StatusNotImplemented:
		// Some servers answer these to a request that they cannot take.
	default:
		if !refused.guessed {
			return t, false
		}
	}
	if to.paints {
		if !clear || t.noImageFormat || !says("response_format") {
			return t, false
		}
		t.noImageFormat = true
		return t, true
	}
	if limit > 0 && tooMuchOutput.MatchString(text) && !tooLong(text) {
		return t.shorter(text, limit)
	}
	if to.prompt > 0 && tooLong(text) {
		return t.smaller(text, to.prompt)
	}
	switch {
	case !t.noSystem && noSystemRole.MatchString(text):
		t.noSystem = true
	case !t.alternate && rolesAlternate.MatchString(text):
		t.alternate = true
	case tools && !t.returnsReasoning && says("reasoning_content"):
		t.returnsReasoning = true
	case !t.oneCall && says("single tool-call", "single tool call", "only one tool call", "one tool call at a time", "multiple tool calls"):
		t.oneCall = true
	case !t.noEffort && noReasoningEffort.MatchString(text) && !(tools && says("responses api", "/v1/responses")):
		t.noEffort = true
	case to.structured && t.mode != byPrompt && says("grammar"):
		t.mode = byPrompt
	case tools && !t.plainTools && says("grammar"):
		t.plainTools = true
	case tools && t.plainTools && says("grammar"):
		t.noTools = true
	case images && !t.vision && says(noImageWords...):
		t.noImages = true
	case !clear:
		return t, false
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
	case to.structured && t.mode == bySchema && says("response_format", "json_schema", "json schema", "structured output", "responseformat", "response schema", "response_schema"):
		t.mode = byTool
	case to.structured && t.mode == byTool && says("tool", "function"):
		t.mode = byPrompt
	case tools && says(noToolWords...):
		t.noTools = true
	case tools && !t.plainTools && says(schemaWords...):
		t.plainTools = true
	case tools && t.plainTools && says(schemaWords...):
		t.noTools = true
	case images && says("image", "picture"): // too large or broken: another picture may work
		t.badImages = true
	default:
		return t, false
	}
	return t, true
}

var (
	// No role for instructions: Gemma's and Mistral's templates, Gemini for Gemma.
	noSystemRole = lazyregexp.New(`system (?:role|message|prompt|instruction)s?[^.]{0,30}(?:not |n't |un)(?:be )?(?:support|allow|enabl)|(?:not|n't) support (?:the )?(?:system|developer)|(?:system|developer) instruction is not enabled|(?:unknown|invalid|unexpected|unsupported) role:? ?['"]?system`)
	// Templates that want turns: Mistral, Llama 2, Gemma, Qwen, Jinja's in vLLM and llama.cpp.
	rolesAlternate    = lazyregexp.New(`roles? must alternate|must alternate between|alternat\w+ (?:user|roles)|consecutive (?:\w+ )?(?:messages|roles)|same role|expected (?:last )?role|unexpected role|must (?:be|start|begin)\w* with (?:a |an )?['"]?user|first (?:non-system )?message must|system message must be (?:at the beginning|first)|only one system message|after role`)
	noReasoningEffort = lazyregexp.New(`reasoning[_. ]?effort|does not support (?:thinking|reasoning)|(?:thinking|reasoning) (?:is|are) not supported|budget_tokens|unsupported parameter.{0,20}reasoning`)
	schemaWords       = []string{"schema", "parameters", "properties", "function_declarations", "functiondeclaration"}
)

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

// refusal is a provider's text about a rejected request. Only learn reads detail; the log
// gets an excerpt of shown, which has no key.
type refusal struct {
	detail, shown string
	guessed       bool // the provider has named no status
}

func (r *refusal) Error() string { return clip(r.shown, 300) }

var (
	_ llm.Model   = (*Client)(nil)
	_ llm.Painter = (*Client)(nil)
)
