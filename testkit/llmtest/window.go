package llmtest

import (
	"fmt"
	"unicode/utf8"
)

// Window is the size of the model's context.
type Window struct {
	Tokens int  // 0: no limit
	Refuse bool // a longer prompt is an error; otherwise its oldest messages are dropped silently, as Ollama does
}

// SetWindow bounds the prompts of new calls.
func (s *Server) SetWindow(w Window) { s.windowed.Store(&w) }

func (s *Server) window() Window {
	if w := s.windowed.Load(); w != nil {
		return *w
	}
	return Window{}
}

// tokens counts a prompt. A token has a little less than four characters.
func (Window) tokens(c completion) int {
	characters := 0
	for _, m := range c.Messages {
		characters += utf8.RuneCountInString(text(m.Content)) + 16
		for _, call := range m.ToolCalls {
			characters += utf8.RuneCountInString(call.Function.Name + call.Function.Arguments)
		}
	}
	for _, t := range c.Tools {
		characters += utf8.RuneCountInString(t.Function.Name + string(t.Function.Parameters))
	}
	return characters * 10 / 37
}

// apply drops the oldest messages of a prompt that is too long, except system messages and
// the last message, or says why the prompt is refused.
func (w Window) apply(c *completion) (cut bool, refused string) {
	if w.Tokens == 0 || w.tokens(*c) <= w.Tokens {
		return false, ""
	}
	if w.Refuse {
		return false, fmt.Sprintf("the request exceeds the available context size (%d tokens), try increasing it", w.Tokens)
	}
	for i := 0; i < len(c.Messages)-1 && w.tokens(*c) > w.Tokens; {
		if c.Messages[i].Role == "system" {
			i++
			continue
		}
		c.Messages = append(c.Messages[:i:i], c.Messages[i+1:]...)
	}
	return true, ""
}
