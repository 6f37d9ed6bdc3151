package intent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
)

// maxTalk is the number of words of the longest message that rules take for small talk.
const maxTalk = 14

var (
	// greetings are words of a message that greets, thanks, or says goodbye. One of
	// them makes it small talk when the others are courtesies.
	greetings  = lists.Set("greetings")
	courtesies = lists.Set("courtesies")
	// questionsAboutUs are whole messages, without greetings, as words.
	questionsAboutUs = lists.Phrases("questions about us")
)

// IsTalk reports whether a message asks for no work: it greets, thanks, says goodbye,
// or asks who answers here. It recognizes clear cases only, in a few languages.
func IsTalk(message string) bool {
	words := language.Words(message)
	if len(words) == 0 || len(words) > maxTalk {
		return false
	}
	return isCourtesy(words) || greetsByName(message) || asksAboutUs(words) || onlyRemarks(message)
}

// namedGreeting matches a greeting with one or two words for who is greeted: "Hi giraffe".
// It does not match a code, which would be the name of a document.
var namedGreeting = regexp.MustCompile(`(?i)^(?:good (?:morning|afternoon|evening)|hi|hello|hey|hiya|howdy|hallo|hoi|moin|salut|bonjour|bonsoir|hola|ciao)(?: there)?,? (\pL+(?: \pL+)?)[ !.,]*$`)

// greetsByName reports whether a message is a greeting with a name, which no list can know.
func greetsByName(message string) bool {
	m := namedGreeting.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return false
	}
	for _, w := range language.Words(m[1]) {
		if asksForWork[w] || askingUs[w] || language.IsStopWord(w) {
			return false
		}
	}
	return !AsksForDocuments(m[1])
}

// asksForWork are words of short requests after a greeting.
var asksForWork = lists.Set("asks for work")

var (
	// leadsIn matches words that introduce a question about us: "can you tell me what you can
	// do".
	leadsIn = regexp.MustCompile(`^(?:(?:so|and|please|ok|okay|well|now|just) )*(?:(?:(?:can|could|would|will) you (?:please )?|please )?(?:tell|show|explain|describe)(?: to)?(?: me| us)? |i (?:want|would like|d like|wanted) to know |do you know )?`)
	// endsWith matches words after a question about us that add nothing.
	endsWith = regexp.MustCompile(` (?:please|palaver|exactly|actually|here|with (?:my|our|the|these) (?:documents|files)|bitte|alsjeblieft|for me|for us|then|(?:für|fuer) mich|pour moi|voor mij|por m[ií])$`)
	// aboutUs matches questions about us: whole messages, as words.
	aboutUs = regexp.MustCompile(`^` + lists.Pattern("about us") + `$`)
)

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

// asksAboutUs looks for a question about us after greetings and courtesies.
func asksAboutUs(words []string) bool {
	for i := range words {
		if isAboutUs(strings.Join(words[i:], " ")) {
			return true
		}
		if !greetings[words[i]] && !courtesies[words[i]] {
			return false
		}
	}
	return false
}

// asksYou reports whether a text is a question about us and about nothing else.
func asksYou(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 || !askingUs[words[0]] {
		return false
	}
	return slices.ContainsFunc(addresses, func(a address) bool {
		return hasAny(words, a.you) && !slices.ContainsFunc(words, func(w string) bool { return !a.you[w] && !a.others[w] })
	})
}

// address has the words of a language that address us, and the other words of questions
// about us. A question with no further words is a question about us.
type address struct{ you, others language.Set }

var addresses = func() (all []address) {
	for _, l := range []string{"English", "German", "Dutch", "French", "Spanish"} {
		all = append(all, address{lists.Set("you, " + l), lists.Set("beside you, " + l)})
	}
	return all
}()

// askingUs are words that begin a question about us.
var askingUs = language.Union(language.QuestionWords, lists.Set("asking us"))

// isAboutUs reports whether the words are a question about us, also after "can you tell
// me" or before "for me, please".
func isAboutUs(text string) bool {
	for {
		if core := text[len(leadsIn.FindString(text)):]; questionsAboutUs[text] || questionsAboutUs[core] || aboutUs.MatchString(text) || aboutUs.MatchString(core) || asksYou(core) {
			return true
		}
		end := endsWith.FindStringIndex(text)
		if end == nil {
			return false
		}
		text = text[:end[0]]
	}
}

// leadsUp matches introductory words that are not part of the question.
var leadsUp = regexp.MustCompile(`(?i)^(?:please,? |so,? |well,? |just )*(?:(?:i|we)(?:['’]m| am| are|['’]re| was| were)? (?:just |only |also |still )?(?:wonder(?:ing)?|unsure|not sure|curious|asking myself|looking for|(?:need|want|like|trying|would like) to (?:know|find out|understand))|i['’]d like to know|(?:any|no) idea|(?:do|would) you (?:happen to )?know|(?:(?:can|could|would) you )?(?:please )?(?:tell|remind) me|wondering|looking for|not sure|unsure|need to know|(?:list|show|name|find|give me|tell me) (?:me )?(?:everything|all|anything)(?: that| which)?)(?: if| whether| about|:)? `)

var (
	// addressed matches a greeting with a name, or thanks to somebody, before a request.
	addressed = regexp.MustCompile(`^(?i:hi|hello|hey|hiya|dear|hallo|hoi|bonjour|salut|hola|thanks|thank you|cheers|good (?:morning|afternoon|evening))(?i: there| all| team| everyone)?,?(?: \p{Lu}\pL+){0,2}[,.!\n–—-]\s*`)
	// pleasantries matches sentences before a request that are not part of it.
	pleasantries = regexp.MustCompile(`^(?i:(?:(?:i|we) )?hope (?:you|this|all|everything)\b[^.?!\n]{0,60}|(?:so |very )?sorry (?:to|for|about) (?:both|disturb|troubl|interrupt|ask|the (?:late|many|another))[^.?!\n]{0,60}|(?:(?:i(?:['’]ve| have)?(?: got)?|just|here is) )*(?:an?(?:other)? |one )?(?:more |last )?(?:quick|short|small|simple|silly|stupid) (?:question|one|thing)[^.?!:\n]{0,40}|(?:it(?:['’]s| is) me|long time no see|me again|happy (?:new year|\w+day))[^.?!\n]{0,40})[.!:\n]\s*` +
		`|^(?i:it['’]s|this is|i['’]m|i am|my name is) \p{Lu}\pL+(?: \p{Lu}\pL+)?(?: (?:from|in|of|at|here)\b[^.?!\n]{0,40})?[.!\n]\s*`)
	// signature matches the end of a letter, with at most three words of a name.
	signature = regexp.MustCompile(`([.?!\n])\s*(?i:(?:many |with |and )?(?:thanks|thank you|thx|cheers|(?:best|kind|warm|many) (?:regards|wishes)|regards|sincerely|yours|best|bye|danke|merci|gracias|grazie|bedankt)(?: (?:you|truly|sincerely|a lot|a million|so much|very much|in advance|again|for (?:your|the|any) \w+))*)[\s,.!–—-]*(?:\p{Lu}[\pL.]*(?: \p{Lu}[\pL.]*){0,2})?[\s.!]*$`)
)

// WithoutTalk drops greetings before a request, the signature after it, and words that
// introduce a question: "Quick one before my three o'clock: how long is …?", "I wonder
// whether …". It returns the message unchanged when nothing else would be left.
func WithoutTalk(message string) string {
	rest := strings.TrimSpace(message)
	for _, bare := range []string{
		signature.ReplaceAllString(rest, "$1"),
		rest[len(addressed.FindString(rest)):],
		rest[len(pleasantries.FindString(rest)):],
	} {
		if bare = strings.TrimSpace(bare); bare != rest && len(SubjectWords(bare)) > 0 {
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
		words := language.Words(lead)
		if len(words) > 0 && len(words) < maxTalk && isCourtesy(words) && after != "" {
			return WithoutTalk(after)
		}
		if r == ':' && beginsQuestion(after) && strings.HasSuffix(after, "?") && !AsksForDocuments(lead) && !strings.Contains(lead, "?") {
			return after
		}
	}
	return rest
}

var questionWords = language.Union(language.QuestionWords, lists.Set("question words"))

func beginsQuestion(s string) bool {
	words := language.Words(s)
	return len(words) > 2 && questionWords[words[0]]
}
