package intent

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/internal/language"
)

// maxRemark is the number of words of the longest remark that people make about themselves.
const maxRemark = 8

var (
	// closing are greetings that end a conversation or an exchange.
	closing = lists.Set("closing")
	// feedback matches the words of a remark on an answer: "that was not very helpful",
	// "exactly what I needed".
	feedback = regexp.MustCompile(`^(?:(?:hm+|oh|well|ok|okay|no|yes|sorry|but|and|just) )*(?:(?:that|this|it|you|your answer|the answer)(?: (?:is|was|were|are|s|re|isn t|wasn t))? )?(?:not )?` +
		`(?:(?:very|so|really|quite|too|exactly|just|precisely|all|a|an|the|any|much|completely|totally|pretty|more|of|at) )*` +
		`(?:(?:helpful|unhelpful|useful|useless|good|bad|wrong|right|correct|incorrect|clear|perfect|nonsense|enough|nice|funny|interesting|help|makes sense)(?: (?:answer|one|work|job|enough|at all|thanks))*` +
		`|what (?:i|we) (?:need|needed|want|wanted|mean|meant|asked|asked for|expected|hoped for|was looking for|were looking for|am looking for))$`)
	// aboutSelf begins a remark of people about themselves.
	aboutSelf = language.NewSet("i we im ill well ive")
	// asking are words that make such a remark a request.
	asking      = language.Union(language.QuestionWords, lists.Set("asking"))
	exclamation = regexp.MustCompile(`^\s*\pL{2,12}\s*!+\s*$`)
	clauseEnds  = ",.!;:\n–—"
)

// onlyRemarks reports whether a message only thanks, praises, says goodbye or judges an
// answer, maybe with a remark about the person: "ok, I'm off to lunch now, bye".
func onlyRemarks(message string) bool {
	if strings.Contains(message, "?") {
		return false
	}
	if exclamation.MatchString(message) {
		return isExclamation(message)
	}
	closes := false
	for _, clause := range strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(clauseEnds, r) }) {
		words := language.Words(clause)
		switch {
		case feedback.MatchString(strings.Join(words, " ")):
			closes = true
		case !slices.ContainsFunc(words, func(w string) bool { return !greetings[w] && !courtesies[w] }):
			closes = closes || hasAny(words, closing)
		case !isOwnRemark(words):
			return false
		}
	}
	return closes
}

// isExclamation reports whether a single word with an exclamation mark asks for nothing:
// "Heureka!".
func isExclamation(message string) bool {
	w := strings.ToLower(strings.TrimFunc(message, func(r rune) bool { return !unicode.IsLetter(r) }))
	return !AsksForDocuments(message) && !language.TitleNouns[w] && !asksForWork[w] && !asking[w] && !language.IsStopWord(w)
}

// isOwnRemark reports whether people say something about themselves and ask for nothing.
func isOwnRemark(words []string) bool {
	words = words[slices.IndexFunc(append(slices.Clone(words), "i"), func(w string) bool { return !greetings[w] && !leading[w] }):]
	if len(words) == 0 || len(words) > maxRemark || !aboutSelf[words[0]] {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool { return asking[w] || asksForWork[w] || language.TitleNouns[w] })
}

var leading = language.NewSet("and so but now anyway")
