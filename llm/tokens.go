package llm

import (
	"unicode"
	"unicode/utf8"
)

// imageTokens is the estimate for one picture; providers count between 250 and 1,500.
const imageTokens = 800

// EstimateTokens estimates the tokens of a text, rounded up, for providers that report
// no usage and for windows: four letters or digits of ASCII a token, two of most other
// scripts, one character of Chinese, Japanese, Korean and Thai, two marks of ASCII.
func EstimateTokens(text string) int {
	twelfths := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
			twelfths += 6
		case r < 0x80:
			twelfths += 3
		case r < 0x250: // Latin letters with accents
			twelfths += 5
		case r < 0xE00:
			twelfths += 6
		case r < 0x10000:
			twelfths += 12
		default: // emoji and rare characters
			twelfths += 24
		}
	}
	return (twelfths + 11) / 12
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
