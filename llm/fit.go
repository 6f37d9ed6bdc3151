package llm

import (
	"slices"
	"unicode/utf8"
)

// How far a text is shortened before whole messages go, in characters.
const (
	shortResult = 1600 // of a tool
	shortText   = 4000 // of an earlier message
	// Arguments longer than this, in bytes, go when nothing else is left.
	shortArguments = 400
)

// Fit makes a prompt no longer than tokens, as EstimatePrompt counts. System
// messages, the last message of the person and what stands last in the prompt
// stay; of the rest the oldest go first, at first shortened, then whole. A tool
// call goes with its results or stays with them. When even what must stay is too
// long, its longest texts are shortened until it fits or nothing is left to take
// away. The given messages stay as they are; the result is Paired.
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
	for i := 0; i < len(out) && over(); i++ { // old results first: they are the longest and the least missed
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
			// A conversation that begins with an answer to nothing confuses models, and
			// some providers refuse it.
			for i+n < last && out[i+n].Role != User && out[i+n].Role != System {
				n += len(unit(out, i+n))
			}
			out = slices.Delete(out, i, i+n)
			last -= n
			continue
		}
		i++
	}
	for i := last + 1; i < len(out) && over(); { // calls of this very turn
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

// latest reports whether message i belongs to the last exchange with tools.
func latest(messages []Message, i int) bool {
	for _, m := range messages[i:] {
		if m.Role != ToolRole {
			return false
		}
	}
	return true
}

// unit is message i with the results of its calls.
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
	messages[at].Text = shorten(messages[at].Text, max(least, longest/2))
	return true
}

// shorten keeps the beginning of a text, to n characters at most, and says so.
func shorten(text string, n int) string {
	const mark = "\n[… shortened]"
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:max(0, n-utf8.RuneCountInString(mark))]) + mark
}
