package agui

import (
	"context"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// maxHistory limits the messages of a snapshot. It has the newest ones.
const maxHistory = 500

// history returns the newest branch of a thread as messages. Of a running turn it has only
// the person's message. It is empty for a thread that does not exist.
func (h handlers) history(ctx context.Context, owner, thread string) ([]messageJSON, error) {
	list, _, err := h.History(ctx, owner, thread, "", "", maxHistory)
	if h.NotFound(err) {
		return []messageJSON{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]messageJSON, 0, len(list))
	for _, m := range list {
		out = append(out, show(m)...)
	}
	return out, nil
}

func show(m chat.Message) []messageJSON {
	one := messageJSON{ID: m.ID, Role: m.Role, Content: &m.Content, Metadata: map[string]any{"turn_id": m.TurnID}}
	switch m.Role {
	case "user":
		if id, ok := m.Metadata["client_turn_id"].(string); ok && id != "" && m.OpensTurn() {
			one.ID, _, _ = strings.Cut(id, "#")
		}
		return []messageJSON{one}
	case "system": // a question of the agent, or a notice
		if m.Metadata["kind"] != "question" {
			return nil
		}
		one.Role = "assistant"
		return []messageJSON{one}
	}
	var out []messageJSON
	if results := chat.ToolResults(m.Metadata); len(results) > 0 {
		calls := messageJSON{ID: m.ID + ".calls", Role: "assistant", Metadata: one.Metadata}
		var answers []messageJSON
		for _, r := range results {
			calls.ToolCalls = append(calls.ToolCalls, callJSON{r.ToolCallID, "function", functionJSON{r.Name, chat.Arguments(string(r.Arguments))}})
			answer := messageJSON{ID: resultID(r.ToolCallID), Role: "tool", ToolCallID: r.ToolCallID, Content: &r.Content}
			if r.IsError {
				answer.Error = r.Content
			}
			answers = append(answers, answer)
		}
		out = append(append(out, calls), answers...)
	}
	if citations := m.Metadata["citations"]; citations != nil {
		one.Metadata = map[string]any{"turn_id": m.TurnID, "citations": citations}
	}
	return append(out, one)
}
