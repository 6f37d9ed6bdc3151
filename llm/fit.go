package llm

import (
	"slices"
	"unicode/utf8"
)

// Texts are shortened to these lengths, in characters, before messages are removed.
const (
	shortResult = 1600 // of a tool
	shortText   = 4000 // of an earlier message
	// Longer arguments, in bytes, are replaced when nothing else can be shortened.
	shortArguments = 400
)

// Fit shortens a prompt to at most tokens, as EstimatePrompt counts. It keeps
// system messages, the last user message and the last message of the prompt. Of
// the rest it shortens the oldest messages first, then removes them. A tool call
// and its results are kept or removed together. When the messages that must stay
// are still too long, their longest texts are shortened as far as possible. Fit
// does not change its input; the result is Paired.
func Fit(messages []Message, tokens int) []Message {
	out := Paired(messages)
	if EstimatePrompt(out) <= tokens {
		return out
	}
	last := len(out) - 1
	for last >= 0 && out[last].Role != User {
		last--
	}
	over := func() bool { return EstimatePrompt(out) > tokens }
	for i := 0; i < len(out) && over(); i++ { // old tool results first: they are the longest and matter least
		if out[i].Role == ToolRole && !latest(out, i) {
			out[i].Text = shorten(out[i].Text, shortResult)
		}
	}
	for i := 0; i < last && over(); i++ {
		if out[i].Role != System {
			out[i].Text = shorten(out[i].Text, shortText)
		}
	}
	for i := 0; i < len(out) && over(); {
		if i < last && out[i].Role != System {
			n := len(unit(out, i))
			// A prompt must not begin with an answer: it confuses models, and some
			// providers refuse it.
			for i+n < last && out[i+n].Role != User && out[i+n].Role != System {
				n += len(unit(out, i+n))
			}
			out = slices.Delete(out, i, i+n)
			last -= n
			continue
		}
		i++
	}
	for i := last + 1; i < len(out) && over(); { // tool calls of the current turn
		n := len(unit(out, i))
		if i+n == len(out) {
			break
		}
		if out[i].Role == System {
			i += n
			continue
		}
		out = slices.Delete(out, i, i+n)
	}
	for over() && shortenLongest(out) {
	}
	for i := 0; i < len(out) && over(); i++ {
		for k, c := range out[i].Calls {
			if len(c.Arguments) > shortArguments {
				out[i].Calls[k].Arguments = `{"shortened":true}`
			}
		}
	}
	return out
}

// latest reports whether message i is one of the tool results at the end.
func latest(messages []Message, i int) bool {
	return !slices.ContainsFunc(messages[i:], func(m Message) bool { return m.Role != ToolRole })
}

// unit returns message i with the results of its calls.
func unit(messages []Message, i int) []Message {
	return messages[i : i+1+len(messages[i].Calls)]
}

// shortenLongest halves the longest text; false when all are short.
func shortenLongest(messages []Message) bool {
	const least = 200
	at, longest := -1, least
	for i, m := range messages {
		if n := utf8.RuneCountInString(m.Text); n > longest {
			at, longest = i, n
		}
	}
	if at < 0 {
		return false
	}
	if n := max(least, longest/2); messages[at].Role == User {
		messages[at].Text = shortenMiddle(messages[at].Text, n)
	} else {
		messages[at].Text = shorten(messages[at].Text, n)
	}
	return true
}

const shortenedMark = "\n[… shortened]"

// shortenMiddle cuts a text to n characters. The last third of them is the end of the text,
// because prompts about documents have the question there.
func shortenMiddle(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	n = max(0, n-utf8.RuneCountInString(shortenedMark)-1)
	return string(r[:n-n/3]) + shortenedMark + "\n" + string(r[len(r)-n/3:])
}

// shorten cuts a text to n characters and marks it as shortened.
func shorten(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:max(0, n-utf8.RuneCountInString(shortenedMark))]) + shortenedMark
}
