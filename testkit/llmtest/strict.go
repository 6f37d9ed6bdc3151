package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// chatMessage is a message in wire format.
type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// malformed returns why a strict provider would reject a chat request; empty for
// a valid one. It applies the rules of the strictest: calls and results match,
// names and ids have the right form, no message is empty.
func malformed(c completion) string {
	if len(c.Messages) == 0 {
		return "messages must not be empty"
	}
	names := map[string]bool{}
	for i, t := range c.Tools {
		switch {
		case t.Type != "function" || !toolName.MatchString(t.Function.Name):
			return fmt.Sprintf("invalid 'tools[%d].function.name'", i)
		case names[t.Function.Name]:
			return fmt.Sprintf("tools[%d]: duplicate name %s", i, t.Function.Name)
		}
		names[t.Function.Name] = true
		var schema struct {
			Type string `json:"type"`
		}
		if p := t.Function.Parameters; len(p) > 0 && string(p) != "null" && (json.Unmarshal(p, &schema) != nil || schema.Type != "object") {
			return fmt.Sprintf("invalid schema for function %s: type must be object", t.Function.Name)
		}
	}
	open := map[string]bool{} // calls without a result yet
	for i, m := range c.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
		}
		problem := ""
		switch m.Role {
		case "system", "developer":
			problem = content(m.Content, false)
		case "user":
			problem = content(m.Content, true)
		case "assistant":
			if len(m.ToolCalls) == 0 {
				problem = content(m.Content, false)
			}
			for _, call := range m.ToolCalls {
				var args map[string]any
				switch {
				case call.ID == "" || len(call.ID) > 40 || open[call.ID]:
					problem = fmt.Sprintf("invalid tool call id %q", call.ID)
				case call.Type != "function" || !toolName.MatchString(call.Function.Name):
					problem = fmt.Sprintf("invalid tool call %q", call.Function.Name)
				case json.Unmarshal([]byte(call.Function.Arguments), &args) != nil || args == nil:
					problem = "tool call arguments must be a JSON object"
				}
				open[call.ID] = true
			}
			if len(m.ToolCalls) > 0 && len(c.Tools) == 0 {
				problem = "tool calls in the messages need 'tools'"
			}
		case "tool":
			if !open[m.ToolCallID] {
				problem = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
			} else {
				problem = content(m.Content, false)
			}
			delete(open, m.ToolCallID)
		default:
			problem = fmt.Sprintf("invalid role %q", m.Role)
		}
		if problem != "" {
			return fmt.Sprintf("messages[%d]: %s", i, problem)
		}
	}
	if len(open) > 0 {
		return "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
	}
	return ""
}

// content returns what is wrong with a message's content.
func content(raw json.RawMessage, images bool) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if strings.TrimSpace(s) == "" {
			return "content must not be empty"
		}
		return ""
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return "content must be a text or a list of parts"
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && strings.TrimSpace(p.Text) != "":
		case p.Type == "image_url" && images:
			head, data, ok := strings.Cut(p.ImageURL.URL, ";base64,")
			if _, err := base64.StdEncoding.DecodeString(data); !ok || err != nil || !strings.HasPrefix(head, "data:image/") {
				return "image_url must be a data URL of a picture"
			}
		default:
			return fmt.Sprintf("invalid content part %q", p.Type)
		}
	}
	return ""
}
