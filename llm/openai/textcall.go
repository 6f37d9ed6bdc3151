package openai

import (
	"encoding/json"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// In these forms models write calls without JSON around them: Qwen3-Coder and Llama,
// MiniMax and Claude, GLM.
var (
	callNamed  = lazyregexp.New(`(?s)<(?:function=|invoke name=)"?([^">\s]{1,128})"?\s*>(.*?)(?:</function>|</invoke>|\z)`)
	argument   = lazyregexp.New(`(?s)<parameter(?:=| name=)"?([^">]{1,128})"?\s*>\n?(.*?)\n?</parameter>`)
	glmName    = lazyregexp.New(`^\s*(?:<[^>]{1,40}>)?\s*([a-zA-Z0-9_.:/-]{1,128})\s*(?:\n|<arg_key>)`)
	glmPair    = lazyregexp.New(`(?s)<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	nameBefore = lazyregexp.New(`[a-zA-Z0-9_./-]{1,128}`)
)

// textCalls reads the calls in a stretch of text. It returns none for a text that is no
// call. JSON alone is a call only with the name of an offered tool.
func (c *calls) textCalls(text string) []llm.ToolCall {
	var out []llm.ToolCall
	add := func(name, arguments string) {
		if name = strings.TrimSpace(name); name != "" && len(out) < llm.MaxCalls && len(arguments) <= llm.MaxCallArguments {
			out = append(out, llm.ToolCall{Name: c.resolveName(name), Arguments: arguments})
		}
	}
	for _, m := range callNamed.FindAllStringSubmatch(text, -1) {
		if raw := candidates(m[2]); len(raw) > 0 && !strings.Contains(m[2], "<parameter") {
			add(m[1], string(raw[0]))
		} else {
			add(m[1], named(argument.FindAllStringSubmatch(m[2], -1)))
		}
	}
	if len(out) > 0 {
		return out
	}
	if m := glmName.FindStringSubmatch(text); m != nil && strings.Contains(text, "<arg_key>") {
		add(m[1], named(glmPair.FindAllStringSubmatch(text, -1)))
		return out
	}
	bare := strings.HasPrefix(strings.TrimSpace(text), "{")
	rest := text
	for range 4 * llm.MaxCalls {
		at := strings.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		before := rest[:at]
		var raw json.RawMessage
		dec := json.NewDecoder(strings.NewReader(rest[at:]))
		if dec.Decode(&raw) != nil {
			rest = rest[at+1:]
			continue
		}
		rest = rest[at+int(dec.InputOffset()):]
		var one struct {
			Name       string          `json:"name"`
			Arguments  json.RawMessage `json:"arguments"`
			Parameters json.RawMessage `json:"parameters"`
			Function   *struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		}
		_ = json.Unmarshal(raw, &one) // another shape has no name
		if one.Function != nil {
			one.Name, one.Arguments = one.Function.Name, one.Function.Arguments
		}
		if one.Arguments == nil {
			one.Arguments = one.Parameters
		}
		switch {
		case one.Name != "" && (!bare || c.offered[c.resolveName(one.Name)]):
			f := fragment{}
			f.Function.Arguments = one.Arguments
			add(one.Name, f.arguments())
		default: // Kimi and DeepSeek write the name before the arguments
			for _, word := range nameBefore.FindAllString(before, -1) {
				if name := c.resolveName(word); c.offered[name] {
					add(name, string(raw))
					break
				}
			}
		}
	}
	return out
}

// named returns the arguments of pairs of a name and a value. A value that is JSON has
// that type.
func named(pairs [][]string) string {
	out := map[string]any{}
	for _, p := range pairs {
		value := strings.TrimSpace(p[2])
		var v any = value
		if json.Valid([]byte(value)) {
			v = json.RawMessage(value)
		}
		out[strings.TrimSpace(p[1])] = v
	}
	b, _ := json.Marshal(out) // texts and valid JSON: it cannot fail
	return string(b)
}
