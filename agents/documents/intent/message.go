package intent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// LanguageOf returns the language of what a message says to do, as ISO 639-1. One that does not
// tell, such as "2024?", is in the language of the message before it. It returns "" if none tells.
func LanguageOf(message string, recent []llm.Message) string {
	lang := language.Detect(Instruction(message))
	for i := len(recent) - 1; i >= 0 && lang == ""; i-- {
		if recent[i].Role == llm.User {
			lang = language.Detect(Instruction(recent[i].Text))
		}
	}
	return lang
}

// isInstruction reports whether s says what to do.
func isInstruction(s string) bool {
	s = language.Commands(s)
	return slices.ContainsFunc([]*lazyregexp.Regexp{summarizes, compares, audits, asksIfKept, inquires, question}, func(re *lazyregexp.Regexp) bool { return re.MatchString(s) })
}

// Instruction returns the part of a message that says what to do: all of a short message,
// and of a long one the line, or the first or last sentence, beside the pasted text.
func Instruction(message string) string {
	const longest, most = 240, 400 // of an instruction, in characters
	message = strings.TrimSpace(message)
	if utf8.RuneCountInString(message) <= longest && !strings.Contains(message, "\n") {
		return message
	}
	for i := range len(message) {
		if message[i] != '\n' && !strings.HasPrefix(message[i:], ": ") && !strings.HasPrefix(message[i:], ":\n") {
			continue
		}
		head := message[:i]
		if utf8.RuneCountInString(head) > longest {
			break
		}
		if isInstruction(head) && len(strings.TrimSpace(message[i+1:])) >= 20 {
			return strings.TrimSpace(head)
		}
	}
	if spans := sentence.Sentences(message); len(spans) > 1 {
		for _, s := range []sentence.Span{spans[0], spans[len(spans)-1]} {
			if len(s.Text) <= longest && isInstruction(s.Text) {
				return s.Text
			}
		}
	}
	if r := []rune(message); len(r) > most {
		return string(r[:most])
	}
	return message
}
