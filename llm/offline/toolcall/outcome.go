package toolcall

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// Callable returns the calls of requests that have all their arguments.
func Callable(requests []Request) []llm.ToolCall {
	var calls []llm.ToolCall
	for _, w := range requests {
		if len(w.missing) == 0 {
			calls = append(calls, w.call)
		}
	}
	return Numbered(calls)
}

// Numbered returns the calls with ids, as many as one reply may have.
func Numbered(calls []llm.ToolCall) []llm.ToolCall {
	calls = calls[:min(len(calls), llm.MaxCalls)]
	for i := range calls {
		calls[i].ID = "call_" + strconv.Itoa(i+1)
	}
	return calls
}

var passageTag = lazyregexp.New(`<passage id="(\d+)"`)

// HasPassages reports whether a tool's result shows passages.
func HasPassages(content string) bool { return passageTag.MatchString(content) }

// ShownPassages returns the passages that a search's result shows, or all if it does not
// say which.
func ShownPassages(passages []llm.Passage, content string) []llm.Passage {
	shown := map[int]bool{}
	for _, m := range passageTag.FindAllStringSubmatch(content, -1) {
		n, err := strconv.Atoi(m[1])
		shown[n] = err == nil
	}
	if len(shown) == 0 {
		if len(passages) > 0 && strings.Contains(content, "Nothing was found") {
			return nil
		}
		return passages
	}
	var out []llm.Passage
	for _, p := range passages {
		if shown[p.N] {
			out = append(out, p)
		}
	}
	return out
}

var servedPicture = lazyregexp.New(`!\[[^\]\n]{0,200}\]\(/api/attachments/[A-Za-z0-9-]{1,64}\)`)

// Outcome describes the result of a call in a language.
func Outcome(u llm.ToolUse, lang string) string {
	content := strings.TrimSpace(u.Content)
	said := func(m messages.Message) string { return m.In(lang, messages.Params{"tool": "`" + u.Call.Name + "`"}) }
	switch {
	case u.IsError && strings.HasPrefix(content, "The person rejected this call"):
		reason := strings.TrimPrefix(strings.TrimPrefix(content, "The person rejected this call"), ":")
		return said(messages.ToolRejected) + reasonSentence(reason, lang)
	case u.IsError:
		return said(messages.ToolNoResult) + " " + OneLine(content)
	case u.Call.Name == "generate_image":
		if picture := servedPicture.FindString(content); picture != "" {
			return messages.PictureHere.In(lang, nil) + "\n\n" + picture + "\n\n" + messages.PicturePlaceholder.In(lang, nil)
		}
	}
	if content == "" {
		return said(messages.ToolEmpty)
	}
	return said(messages.ToolReturned) + "\n\n" + fenced(clipped(content))
}

// Outcomes describes the results of the tools that an action's answer does not use.
func Outcomes(f llm.Facts, text, lang string) string {
	var b strings.Builder
	for _, u := range f.Used {
		if u.Call.Name != "search_documents" || u.IsError {
			b.WriteString("\n\n" + Outcome(u, lang))
		}
	}
	for _, w := range Requests(f, text, true) {
		b.WriteString("\n\n" + w.MissingNote(lang))
	}
	return b.String()
}

// reasonSentence quotes a person's reason, or is empty.
func reasonSentence(reason, lang string) string {
	if reason = strings.Trim(strings.TrimSpace(reason), "."); reason == "" {
		return ""
	}
	return " " + messages.ToolRejectedWhy.In(lang, messages.Params{"reason": OneLine(reason)})
}

// fenced puts a text into a code fence that it cannot close.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence
}

const longestShown = 4000 // characters of a result

func clipped(text string) string {
	if utf8.RuneCountInString(text) <= longestShown {
		return text
	}
	return string([]rune(text)[:longestShown]) + "\n…"
}

// OneLine puts a text on one line and shortens it.
func OneLine(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > 500 {
		return string(r[:500]) + "…"
	}
	return string(r)
}

// MissingNote says which arguments a call needs.
func (w Request) MissingNote(lang string) string {
	example := "call " + w.tool.Name
	var names []string
	for _, m := range w.missing {
		names = append(names, "`"+m+"`")
		example += " " + m + "=…"
	}
	return messages.ToolMissing.In(lang, messages.Params{"tool": "`" + w.tool.Name + "`", "names": messages.Joined(lang, names), "example": "`" + example + "`"})
}
