package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// maxTools is how many tools one request may offer; OpenAI takes no more.
const maxTools = 128

// encode translates messages into wire format, by the model's traits. In a request
// without tools it writes calls and results as text, because some providers
// reject them there.
func encode(t traits, messages []llm.Message, tools bool) []api.ChatCompletionMessage {
	messages = llm.Paired(messages)
	if !tools {
		messages = callsAsText(messages)
	}
	messages = t.arrange(messages)
	out := make([]api.ChatCompletionMessage, 0, len(messages))
	for _, m := range messages {
		w := api.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
		switch {
		case m.Role == llm.ToolRole:
			w.ToolCallID = wireID(m.CallID, t.shortIDs)
			if strings.TrimSpace(w.Content) == "" {
				w.Content = "(The tool returned nothing.)"
			}
		case len(m.Calls) > 0:
			w.ToolCalls = make([]api.ToolCall, len(m.Calls))
			for i, c := range m.Calls {
				w.ToolCalls[i] = api.ToolCall{ID: wireID(c.ID, t.shortIDs), Type: api.ToolTypeFunction,
					Function: api.FunctionCall{Name: wireName(c.Name), Arguments: chat.Arguments(c.Arguments)}}
			}
		case m.Role == llm.User && len(m.Images) > 0:
			t.picture(&w, m.Images)
		case strings.TrimSpace(w.Content) == "":
			continue // some providers reject an empty message
		}
		out = append(out, w)
	}
	return out
}

// picture adds pictures to a message, or a text that says how many there are.
func (t traits) picture(w *api.ChatCompletionMessage, images []llm.Image) {
	if t.noImages || t.badImages {
		w.Content = strings.TrimSpace(fmt.Sprintf("%s\n\n[%d attached: you cannot see pictures. Say so if it matters.]", w.Content, len(images)))
		return
	}
	if strings.TrimSpace(w.Content) != "" {
		w.MultiContent = append(w.MultiContent, api.ChatMessagePart{Type: api.ChatMessagePartTypeText, Text: w.Content})
	}
	w.Content = ""
	for _, image := range images {
		w.MultiContent = append(w.MultiContent, api.ChatMessagePart{Type: api.ChatMessagePartTypeImageURL, ImageURL: &api.ChatMessageImageURL{
			URL: "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data)}})
	}
}

// callsAsText writes tool calls and their results into user messages. In assistant
// messages the model would imitate them.
func callsAsText(messages []llm.Message) []llm.Message {
	var out []llm.Message
	calls := map[string]llm.ToolCall{}
	for _, m := range messages {
		if m.Role == llm.ToolRole {
			c := calls[m.CallID]
			m = llm.Message{Role: llm.User, Text: fmt.Sprintf("[The tool %s was called with %s and returned:]\n%s", wireName(c.Name), chat.Arguments(c.Arguments), m.Text)}
		}
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		m.Calls = nil
		if last := len(out) - 1; last >= 0 && m.Role == llm.User && out[last].Role == llm.User && len(calls) > 0 {
			out[last].Text += "\n\n" + m.Text // models of some servers require alternating roles
			out[last].Images = append(out[last].Images[:len(out[last].Images):len(out[last].Images)], m.Images...)
			continue
		}
		out = append(out, m)
	}
	return out
}

var notInID = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// wireID returns a call id that providers accept: at most 40 characters, or
// exactly nine when short.
func wireID(id string, short bool) string {
	if !short && id != "" && len(id) <= 40 && !notInID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	if short {
		return hex.EncodeToString(sum[:])[:9]
	}
	return "call_" + hex.EncodeToString(sum[:12])
}

// wireName returns a valid tool name.
func wireName(name string) string {
	if name = notInID.ReplaceAllString(name, "_"); name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

// encodeTools translates the tools of a request, by the model's traits.
func encodeTools(t traits, tools []llm.Tool) []api.Tool {
	var out []api.Tool
	seen := map[string]bool{}
	for _, tool := range tools {
		if seen[tool.Name] || len(out) == maxTools {
			continue
		}
		seen[tool.Name] = true
		f := &api.FunctionDefinition{Name: tool.Name, Description: tool.Description, Parameters: tool.Schema}
		if len(tool.Schema) == 0 {
			f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if t.plainTools {
			f.Parameters = plainParameters(tool.Schema)
		}
		out = append(out, api.Tool{Type: api.ToolTypeFunction, Function: f})
	}
	return out
}

// plainParameters reduces a tool's schema to the keywords that every provider
// supports; nil when it has no properties.
func plainParameters(schema json.RawMessage) any {
	var v map[string]any
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	out := basic(v, 0)
	out["type"] = "object"
	if properties, _ := out["properties"].(map[string]any); len(properties) == 0 {
		return nil
	}
	return out
}

func basic(v map[string]any, depth int) map[string]any {
	const deepest = 8
	out := map[string]any{}
	if depth > deepest {
		return out
	}
	for _, key := range []string{"type", "description", "enum", "required"} {
		if value, ok := v[key]; ok {
			out[key] = value
		}
	}
	if several, ok := out["type"].([]any); ok { // ["string", "null"]
		delete(out, "type")
		for _, one := range several {
			if one != "null" {
				out["type"] = one
				break
			}
		}
	}
	if one, ok := v["const"]; ok && out["enum"] == nil {
		out["enum"] = []any{one}
	}
	if items, ok := v["items"].(map[string]any); ok {
		out["items"] = basic(items, depth+1)
	} else if out["type"] == "array" {
		out["items"] = map[string]any{"type": "string"}
	}
	if properties, ok := v["properties"].(map[string]any); ok {
		plain := map[string]any{}
		for name, p := range properties {
			p, _ := p.(map[string]any)
			plain[name] = basic(p, depth+1)
		}
		out["properties"] = plain
	}
	if len(out) == 0 || out["type"] == nil && out["enum"] == nil {
		out["type"] = "string"
		for _, key := range []string{"anyOf", "oneOf", "allOf"} { // the first alternative that is not null
			list, _ := v[key].([]any)
			for _, one := range list {
				if one, ok := one.(map[string]any); ok && one["type"] != nil && one["type"] != "null" {
					plain := basic(one, depth+1)
					if d, ok := out["description"]; ok {
						plain["description"] = d
					}
					return plain
				}
			}
		}
	}
	return out
}
