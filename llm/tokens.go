package llm

import "unicode/utf8"

// EstimateTokens guesses how many tokens a text is, for providers that do not
// say: four characters a token, rounded up.
func EstimateTokens(text string) int {
	return (utf8.RuneCountInString(text) + 3) / 4
}

// EstimatePrompt is EstimateTokens over a prompt, with four tokens a message for
// its frame.
func EstimatePrompt(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += EstimateTokens(m.Text) + 4
	}
	return n
}
