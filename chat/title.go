package chat

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine puts a name on one line: every run of blanks, line breaks and control characters
// becomes one blank. Characters that change the direction of a text are dropped: they could
// make a name look like another one. The NUL character stays, so that the API rejects it.
func OneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		case r != 0 && unicode.IsControl(r):
			return ' '
		}
		return r
	}, name)
	return strings.Join(strings.Fields(name), " ")
}

// MaxTitle is the length of a title made from a message, in characters.
const MaxTitle = 60

// TitleFrom returns the beginning of a message without polite phrases, cut between words,
// with the host of each link in its place: the title of a conversation until there is a
// better one.
func TitleFrom(message string) string {
	title := plainRequest(link.ReplaceAllString(OneLine(message), "$1"))
	if utf8.RuneCountInString(title) > MaxTitle {
		if first := firstSentence.FindString(title); utf8.RuneCountInString(first) >= minSentence && utf8.RuneCountInString(first) <= MaxTitle {
			return strings.TrimRight(first, ". ")
		}
	}
	return CutTitle(title)
}

// TitleWith returns the title of a conversation whose first message was answered from one
// document: the message, with the document's name before it when the message alone says
// little, as "Summarize this" does.
func TitleWith(message, document string) string {
	title := TitleFrom(message)
	document = OneLine(document)
	if document == "" || !isVague(title) {
		return title
	}
	return CutTitle(document + ": " + title)
}

const minSentence = 12 // characters of a first sentence that can be a title

var (
	link          = regexp.MustCompile(`(?i)\bhttps?://(?:www\.)?([^\s/?#]+)\S*`)
	firstSentence = regexp.MustCompile(`^.*?[.?!](?: |$)`)
	greeting      = regexp.MustCompile(`(?i)^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend))(?: (?:there|palaver|everybody|all|zusammen))?(?:[,.!: -]+|$))+`)
	politeStart   = regexp.MustCompile(`(?i)^(?:(?:please|bitte|kindly)[, ]+|(?:can|could|would|will) you (?:please |kindly )?|(?:kannst du|könntest du|können sie|könnten sie) (?:bitte |mir bitte |mir )?|i (?:would like|want|need) (?:you )?to |tell me )`)
	politeEnd     = regexp.MustCompile(`(?i)[, ]+(?:please|bitte|thanks|thank you|danke|vielen dank)([.!?]*)$`)
)

// plainRequest drops a greeting and "please". A message that is nothing else stays.
func plainRequest(message string) string {
	title := greeting.ReplaceAllString(message, "")
	title = politeStart.ReplaceAllString(title, "")
	title = strings.TrimSpace(politeEnd.ReplaceAllString(title, "$1"))
	if title == "" || title == message {
		return message
	}
	r, size := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(r)) + title[size:]
}

// common are words that do not tell one conversation from another.
var common = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`a about above an and briefly contents count describe document documents does doc explain file for from give in is it key list main me of on overview paper
		page pages points please report say says short summarise summarize summary tell text that the these this those to what which
		alles auf aus bitte das dem den der des die dies diese diesem diesen dieser dieses dokument datei ein eine einer es erkläre fasse fassen für ist kurz mir sagt steht text und von was worum geht zusammen zusammenfassen zusammenfassung über`) {
		words[w] = true
	}
	return words
}()

func isVague(title string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !common[w] {
			return false
		}
	}
	return true
}

// maxWritten bounds what a model may write for a title, in characters.
const maxWritten = 200

// WrittenTitle returns the title that a model has written, as one line of plain text; ""
// when the model wrote something else.
func WrittenTitle(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = OneLine(strings.ToValidUTF8(line, ""))
	if i := strings.IndexByte(line, ':'); i >= 0 && titleLabel[strings.ToLower(strings.Trim(line[:i], "*# "))] {
		line = line[i+1:]
	}
	line = strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>[]{}`*#|\\\x00", r) {
			return -1
		}
		return r
	}, line)
	line = strings.Trim(line, " \"'“”„‘’«».,;:-_")
	if n := utf8.RuneCountInString(line); n < 2 || n > maxWritten || strings.Contains(line, "://") {
		return ""
	}
	return CutTitle(line)
}

var titleLabel = map[string]bool{"title": true, "titel": true, "conversation title": true}

// CutTitle cuts a title between words, at MaxTitle.
func CutTitle(title string) string {
	if utf8.RuneCountInString(title) <= MaxTitle {
		return title
	}
	end, n := 0, 0 // before the last character that fits
	for end = range title {
		if n++; n == MaxTitle {
			break
		}
	}
	head := title[:end]
	if i := strings.LastIndexByte(head, ' '); i > 0 && title[end] != ' ' {
		head = head[:i]
	}
	return strings.TrimRight(head, " ,;:.-") + "…"
}
