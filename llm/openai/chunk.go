package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// chunk is the part of a stream's event, or of a whole answer, that we use. Its types
// take whatever providers send: a defect of a field that is not needed costs nothing.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *tokens         `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  loose           `json:"object"`
}

type choice struct {
	Index        count `json:"index"`
	Delta        words `json:"delta"`
	Message      words `json:"message"` // of a whole answer
	FinishReason loose `json:"finish_reason"`
}

// failed reports whether the chunk is an error.
func (c chunk) failed() bool {
	return len(c.Error) > 0 && string(c.Error) != "null" || c.Object == "error"
}

// words is a delta of a message, or a whole one.
type words struct {
	Content   content   `json:"content"`
	Refusal   content   `json:"refusal"`
	ToolCalls fragments `json:"tool_calls"`
	Function  *function `json:"function_call"` // the older form of one call

	// Reasoning has different names. A message that has it under two names has it twice.
	ReasoningContent content `json:"reasoning_content"` // DeepSeek, vLLM, Kimi, Qwen, Z.ai
	Reasoning        content `json:"reasoning"`         // OpenRouter, Groq, Ollama, vLLM
	Thinking         content `json:"thinking"`
	Details          details `json:"reasoning_details"` // OpenRouter, MiniMax
	Extra            struct {
		Google struct {
			Thought bool `json:"thought"` // the content is reasoning
		} `json:"google"`
	} `json:"extra_content"`
}

// thoughts returns the message's reasoning that is apart from its text.
func (m words) thoughts() string {
	out := ""
	for _, text := range []string{m.ReasoningContent.all(), m.Reasoning.all(), m.Thinking.all(), string(m.Details)} {
		if text != "" {
			out = text
			break
		}
	}
	out += m.Content.thoughts
	if m.Extra.Google.Thought {
		out += m.Content.text
	}
	return out
}

// said returns the message's text.
func (m words) said() string {
	if m.Extra.Google.Thought {
		return m.Refusal.text
	}
	return m.Content.text + m.Refusal.text
}

// content is a text, or a list of parts, some of which are the model's reasoning.
type content struct{ text, thoughts string }

func (c content) all() string { return c.thoughts + c.text }

func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if text, ok := plainText(b); ok {
		c.text = text
		return nil
	}
	if json.Unmarshal(b, &c.text) == nil {
		return nil
	}
	parts := []json.RawMessage{b}
	_ = json.Unmarshal(b, &parts) // else one part
	for _, raw := range parts {
		var p struct {
			Type      string          `json:"type"`
			Text      content         `json:"text"`
			Thinking  content         `json:"thinking"`
			Reasoning content         `json:"reasoning"`
			Summary   content         `json:"summary"`
			Thought   json.RawMessage `json:"thought"` // Gemini: true
		}
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		c.thoughts += p.Thinking.all() + p.Reasoning.all() + p.Summary.all()
		switch {
		case string(p.Thought) == "true", p.Type != "" && p.Type != "text" && p.Type != "output_text":
			c.thoughts += p.Text.all()
		default:
			c.text += p.Text.text
			c.thoughts += p.Text.thoughts
		}
	}
	return nil
}

// plainText returns a JSON string without escapes, as most tokens are, and "" for null.
func plainText(b []byte) (text string, ok bool) {
	switch {
	case string(b) == "null":
		return "", true
	case len(b) < 2 || b[0] != '"' || bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b):
		return "", false
	}
	return string(b[1 : len(b)-1]), true
}

// details is the readable text of OpenRouter's reasoning_details.
type details string

func (d *details) UnmarshalJSON(b []byte) error {
	var c content
	_ = c.UnmarshalJSON(b) // it has no error
	*d = details(c.all())
	return nil
}

// fragments are the parts of tool calls in a delta. Anything but a list has none.
type fragments []fragment

func (f *fragments) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	_ = json.Unmarshal(b, &list)
	for _, raw := range list {
		var one fragment
		if json.Unmarshal(raw, &one) == nil {
			*f = append(*f, one)
		}
	}
	return nil
}

// loose is a text; a number is its digits, anything else nothing.
type loose string

func (l *loose) UnmarshalJSON(b []byte) error {
	s, ok := plainText(b)
	var n json.Number
	if ok {
		*l = loose(s)
		return nil
	}
	if json.Unmarshal(b, &s) != nil && json.Unmarshal(b, &n) == nil {
		s = n.String()
	}
	*l = loose(s)
	return nil
}

// count is a number that is not negative; a text of digits is one, too.
type count int

func (n *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	if err == nil && f >= 0 && f < math.MaxInt32 {
		*n = count(f)
	}
	return nil
}

// tokens is a provider's count.
type tokens struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
}

func (u *tokens) UnmarshalJSON(b []byte) error {
	type plain tokens
	_ = json.Unmarshal(b, (*plain)(u)) // another shape is no count
	return nil
}
