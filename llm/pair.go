package llm

// unanswered is what a model reads of a call whose result is not there.
const unanswered = "There is no result: the call was not finished."

// Paired is messages as every provider takes them: each tool call of an
// assistant is followed at once by exactly one tool message, in the order of the
// calls. A call without a result gets one that says so; a result without its
// call is left out. The given messages stay as they are.
func Paired(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == ToolRole {
			continue // its call does not stand before it
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

// distinct leaves out calls whose id an earlier one of the same message has.
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
