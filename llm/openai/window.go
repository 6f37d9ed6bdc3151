package openai

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// leastContext is the smallest window that a rejection can teach, in tokens.
const leastContext = 1024

// Error texts for prompts that are longer than the model's window: OpenAI and vLLM,
// Anthropic, Gemini, Mistral, Ollama and llama.cpp.
var tooLongWords = []string{
	"context length", "context_length", "context window", "context size", "maximum context", "prompt is too long", "prompt too long",
	"input is too long", "input length exceeds", "input token count", "too many tokens", "num_ctx",
}

// windowSize finds the window in a rejection.
var windowSize = regexp.MustCompile(`(?:context length (?:is|of)|context size[^0-9]{0,4}|context window (?:is|of)|tokens allowed[^0-9]{0,4}|>)\s*\(?(\d{3,9})|(\d{3,9})(?: tokens)? maximum`)

// smaller learns a smaller window from the rejection of a prompt of about prompt tokens.
// When text has no number, it tries three quarters of the prompt.
func (t traits) smaller(text string, prompt int) (traits, bool) {
	text = strings.ReplaceAll(text, ",", "")
	next := 0
	if m := windowSize.FindStringSubmatch(text); m != nil {
		next, _ = strconv.Atoi(m[1] + m[2])
	}
	if next < leastContext || t.context > 0 && next >= t.context { // known already: our estimate of tokens is too low
		next = prompt * 3 / 4
		if t.context > 0 {
			next = min(next, t.context*3/4)
		}
	}
	if next < leastContext {
		return t, false
	}
	t.context = next
	return t, true
}

// replyTokens returns the length that an answer may have in a model's window, in tokens.
func (t traits) replyTokens(wanted int) int {
	if t.context == 0 || wanted > 0 && wanted < t.context/4 {
		return wanted
	}
	return t.context / 4
}

// fit cuts a prompt to the model's window, if it is known, with room for the answer and
// for tools, and for the difference between our estimate of tokens and the model's count.
func (t traits) fit(messages []llm.Message, tools []llm.Tool, reply int) []llm.Message {
	if t.context == 0 {
		return messages
	}
	room := (t.context-t.replyTokens(reply))*17/20 - llm.EstimateTools(tools)
	return llm.Fit(messages, max(room, t.context/4))
}
