package intent

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// maxTalk is the number of words of the longest message that rules take for small talk.
const maxTalk = 14

var (
	// greetings are words of a message that greets, thanks, or says goodbye. One of
	// them makes it small talk when the others are courtesies.
	greetings  = lists.Set("greetings")
	courtesies = lists.Set("courtesies")
	closing    = lists.Set("closing") // greetings that end an exchange
	// asking and asksForWork are words of requests.
	asking      = language.Union(language.QuestionWords, lists.Set("asking"))
	asksForWork = lists.Set("asks for work")

	greetsByName = pattern("greets by name")
	judges       = pattern("judges the answer") // "that was not very helpful"
)

// IsTalk reports whether a message asks for no work: it greets, thanks, says goodbye, judges
// an answer, or asks who answers here. It recognizes clear cases only, in a few languages.
func IsTalk(message string) bool {
	words := language.Words(message)
	if len(words) == 0 || len(words) > maxTalk {
		return false
	}
	if m := greetsByName.FindStringSubmatch(strings.TrimSpace(message)); m != nil && !asksForAny(language.Words(m[1])) {
		return true
	}
	return isCourtesy(words) || asksAboutUs(words) || asksAboutUs(language.Words(leadsUp.ReplaceAllString(message, ""))) || onlyRemarks(message)
}

func asksForAny(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return asking[w] || asksForWork[w] || language.TitleNouns[w] || summaryWords[w] || compareWords[w] || auditVerbs[w] || language.IsStopWord(w)
	})
}

func isCourtesy(words []string) bool {
	greets := false
	for _, w := range words {
		if !greetings[w] && !courtesies[w] {
			return false
		}
		greets = greets || greetings[w] || w == "good" && slices.Contains(words, "day") || w == "tag" || w == "abend"
	}
	return greets
}

// onlyRemarks reports whether a message only thanks, says goodbye or judges an answer, maybe
// with a remark of people about themselves: "ok, I'm off to lunch now, bye".
func onlyRemarks(message string) bool {
	closes := false
	for _, clause := range strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(",.!:;\n–—", r) }) {
		words := language.Words(clause)
		own := max(0, slices.IndexFunc(words, func(w string) bool { return !greetings[w] && !leading[w] }))
		switch {
		case judges.MatchString(strings.Join(words, " ")):
			closes = true
		case !slices.ContainsFunc(words, func(w string) bool { return !greetings[w] && !courtesies[w] }):
			closes = closes || hasAny(words, closing)
		case !aboutSelf[words[own]] || len(words) > 8 || slices.ContainsFunc(words[own:], func(w string) bool { return asking[w] || asksForWork[w] || language.TitleNouns[w] }):
			return false
		}
	}
	return closes && !strings.Contains(message, "?")
}

// aboutSelf begins a remark of people about themselves, maybe after leading words.
var (
	aboutSelf = language.NewSet("i we im ill well ive")
	leading   = language.NewSet("and so but now anyway")
)

// address has the words of a language that address us, and the other words of questions
// about us. A question with no further words is a question about us.
type address struct{ you, others language.Set }

var (
	addresses = func() (all []address) {
		for _, l := range []string{"English", "German", "Dutch", "French", "Spanish"} {
			all = append(all, address{lists.Set("you, " + l), lists.Set("beside you, " + l)})
		}
		return all
	}()
	// askingUs are words that begin a question about us.
	askingUs = language.Union(language.QuestionWords, lists.Set("asking us"))
	// questionsAboutUs do not address us: "how does this work".
	questionsAboutUs = lists.Phrases("questions about us")
)

// asksAboutUs reports whether a message, after greetings and courtesies, is a question about
// us and about nothing else.
func asksAboutUs(words []string) bool {
	for i, w := range words {
		rest := words[i:]
		if questionsAboutUs[strings.Join(rest, " ")] || len(rest) > 1 && askingUs[w] && slices.ContainsFunc(addresses, func(a address) bool {
			return hasAny(rest, a.you) && !slices.ContainsFunc(rest, func(w string) bool { return !a.you[w] && !a.others[w] })
		}) {
			return true
		}
		if !greetings[w] && !courtesies[w] {
			return false
		}
	}
	return false
}

var (
	// leadsUp matches words that introduce a question and are not part of it.
	leadsUp = pattern("leads up")
	// beside matches what stands around a request: a greeting with a name before it,
	// pleasantries, and the end of a letter with a name.
	beside = []*lazyregexp.Regexp{
		lazyregexp.New(lists.Pattern("signs")), lazyregexp.New(lists.Pattern("addresses")), lazyregexp.New(lists.Pattern("pleasantries")),
	}
)

// WithoutTalk drops greetings before a request, the signature after it, and words that
// introduce a question: "Quick one before my three o'clock: how long is …?", "I wonder
// whether …". It returns the message unchanged when nothing else would be left.
func WithoutTalk(message string) string {
	rest := strings.TrimSpace(message)
	for _, re := range beside {
		if bare := strings.TrimSpace(re.ReplaceAllString(rest, "$1")); bare != rest && len(SubjectWords(bare)) > 0 {
			return WithoutTalk(bare)
		}
	}
	if lead := leadsUp.FindString(rest); lead != "" && len(SubjectWords(rest[len(lead):])) > 0 {
		rest = strings.TrimSpace(rest[len(lead):])
	}
	for i, r := range rest {
		if !strings.ContainsRune(",.!:;\n–—", r) {
			continue
		}
		lead, after := rest[:i], strings.TrimSpace(rest[i+len(string(r)):])
		words, asked := language.Words(lead), language.Words(after)
		if isCourtesy(words) && after != "" {
			return WithoutTalk(after)
		}
		if r == ':' && len(asked) > 2 && questionWords[asked[0]] && strings.HasSuffix(after, "?") && !AsksForDocuments(lead) && !strings.Contains(lead, "?") {
			return after
		}
	}
	return rest
}

var questionWords = language.Union(language.QuestionWords, lists.Set("question words"))
