package llm

// unanswered is the result that a model reads for a call without a result.
const unanswered = "There is no result: the call was not finished."

// Paired returns messages in the form that every provider accepts: exactly one
// tool message follows each tool call, in the order of the calls. A call without
// a result gets one that says so; a result without a call is dropped. The input
// does not change.
func Paired(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == ToolRole {
			continue // no call precedes it
		}
		if m.Role != Assistant {
			m.Calls = nil
		}
		m.Calls = distinct(m.Calls)
		out = append(out, m)
		results := map[string]Message{}
		for i+1 < len(messages) && messages[i+1].Role == ToolRole {
			i++
			if _, twice := results[messages[i].CallID]; !twice {
				results[messages[i].CallID] = messages[i]
			}
		}
		for _, c := range m.Calls {
			result, ok := results[c.ID]
			if !ok {
				result = Message{Role: ToolRole, CallID: c.ID, Text: unanswered}
			}
			out = append(out, result)
		}
	}
	return out
}

// distinct drops calls that repeat the id of an earlier call.
func distinct(calls []ToolCall) []ToolCall {
	seen := map[string]bool{}
	var out []ToolCall
	for _, c := range calls {
		if !seen[c.ID] {
			seen[c.ID] = true
			out = append(out, c)
		}
	}
	return out
}
