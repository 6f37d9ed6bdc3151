package openai

import (
	"encoding/json"

	api "github.com/sashabaranov/go-openai"

	"github.com/palaver-chat/palaver/llm"
)

// arrange puts messages into the order that the model demands.
func (t traits) arrange(messages []llm.Message) []llm.Message {
	if t.oneCall {
		messages = oneByOne(messages)
	}
	if t.noSystem {
		messages = systemAsUser(messages)
	}
	if t.alternate || t.noSystem {
		messages = alternating(messages)
	}
	return messages
}

// oneByOne gives each call a message of its own, with its result after it.
func oneByOne(messages []llm.Message) []llm.Message {
	var out []llm.Message
	for i, m := range messages {
		switch {
		case m.Role == llm.ToolRole: // after its call
		case len(m.Calls) < 2:
			out = append(out, messages[i:min(i+1+len(m.Calls), len(messages))]...)
		default:
			for k, c := range m.Calls {
				one := llm.Message{Role: m.Role, Calls: []llm.ToolCall{c}, Reasoning: m.Reasoning}
				if k == 0 {
					one.Text = m.Text
				}
				out = append(out, one, messages[i+1+k])
			}
		}
	}
	return out
}

// systemAsUser puts system messages before the next message of the person.
func systemAsUser(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role == llm.System {
			m.Role = llm.User
		}
		out = append(out, m)
	}
	return out
}

// alternating returns messages in which people and the assistant take turns: system
// messages are one message at the beginning, neighbours of one role are one message, the
// person begins, and an assistant's message stands between a result and a person's message.
func alternating(messages []llm.Message) []llm.Message {
	var system, out []llm.Message
	for _, m := range messages {
		last := len(out) - 1
		switch {
		case m.Role == llm.System && len(system) > 0:
			system[0].Text += "\n\n" + m.Text
		case m.Role == llm.System:
			system = append(system, m)
		case m.Role == llm.Assistant && last < 0:
			out = append(out, llm.Message{Role: llm.User, Text: "(The conversation goes on.)"}, m)
		case last >= 0 && m.Role == llm.User && out[last].Role == llm.User:
			out[last].Text = joined(out[last].Text, m.Text)
			out[last].Images = append(out[last].Images[:len(out[last].Images):len(out[last].Images)], m.Images...)
		case last >= 0 && m.Role == llm.Assistant && out[last].Role == llm.Assistant && len(out[last].Calls) == 0:
			m.Text = joined(out[last].Text, m.Text)
			out[last] = m
		case last >= 0 && m.Role == llm.User && out[last].Role == llm.ToolRole:
			out = append(out, llm.Message{Role: llm.Assistant, Text: "(No answer was written.)"}, m)
		default:
			out = append(out, m)
		}
	}
	return append(system, out...)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// body returns a request's JSON, with what the SDK has no field for: signatures, and the
// reasoning before calls.
func (t traits) body(req api.ChatCompletionRequest, messages []llm.Message) ([]byte, error) {
	raw, err := json.Marshal(req)
	if err != nil || !t.signatures && !t.returnsReasoning {
		return raw, err
	}
	thoughts := map[string]string{} // by the id of the first call
	for _, m := range messages {
		if len(m.Calls) > 0 {
			thoughts[wireID(m.Calls[0].ID, t.shortIDs)] = m.Reasoning
		}
	}
	return t.completed(raw, thoughts)
}

// limitOf returns the limit of tokens in a request.
func limitOf(req api.ChatCompletionRequest) int {
	return max(req.MaxCompletionTokens, req.MaxTokens) //lint:ignore SA1019 most OpenAI-compatible servers expect it
}
