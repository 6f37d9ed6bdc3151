package llm

import "unicode/utf8"

// imageTokens is the estimate for one picture; providers count between 250 and 1,500.
const imageTokens = 800

// EstimateTokens estimates the tokens of a text at four characters per token,
// rounded up, for providers that report no usage.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + 3) / 4
}

// EstimatePrompt estimates a prompt with its pictures and tool calls, plus four
// tokens of overhead per message.
func EstimatePrompt(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += EstimateTokens(m.Text) + len(m.Images)*imageTokens + EstimateCalls(m.Calls) + 4
	}
	return n
}

// EstimateCalls estimates tool calls.
func EstimateCalls(calls []ToolCall) int {
	n := 0
	for _, c := range calls {
		n += EstimateTokens(c.Name) + EstimateTokens(c.Arguments) + 4
	}
	return n
}

// EstimateTools estimates the definitions of tools.
func EstimateTools(tools []Tool) int {
	n := 0
	for _, t := range tools {
		n += EstimateTokens(t.Name) + EstimateTokens(t.Description) + EstimateTokens(string(t.Schema)) + 8
	}
	return n
}
