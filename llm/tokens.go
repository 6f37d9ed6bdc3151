package llm

import "unicode/utf8"

// imageTokens is what a picture is taken to be; providers count between 250 and
// 1,500.
const imageTokens = 800

// EstimateTokens guesses how many tokens a text is, for providers that do not
// say: four characters a token, rounded up.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + 3) / 4
}

// EstimatePrompt is EstimateTokens over a prompt, its pictures and tool calls
// included, with four tokens a message for its frame.
func EstimatePrompt(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += EstimateTokens(m.Text) + len(m.Images)*imageTokens + EstimateCalls(m.Calls) + 4
	}
	return n
}

// EstimateCalls is EstimateTokens over tool calls.
func EstimateCalls(calls []ToolCall) int {
	n := 0
	for _, c := range calls {
		n += EstimateTokens(c.Name) + EstimateTokens(c.Arguments) + 4
	}
	return n
}

// EstimateTools is EstimateTokens over the definitions of tools.
func EstimateTools(tools []Tool) int {
	n := 0
	for _, t := range tools {
		n += EstimateTokens(t.Name) + EstimateTokens(t.Description) + EstimateTokens(string(t.Schema)) + 8
	}
	return n
}
