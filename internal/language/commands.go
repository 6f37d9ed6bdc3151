package language

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

//go:embed commands.txt
var commandsFile string

// commandWords maps words of other languages and typing errors to the English command.
// openingWords does the same, for words that count only where a request begins.
var commandWords, openingWords = readCommands()

func readCommands() (anywhere, atStart map[string]string) {
	anywhere, atStart = map[string]string{}, map[string]string{}
	for _, line := range strings.Split(commandsFile, "\n") {
		command, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		into := anywhere
		if rest, found := strings.CutPrefix(command, "start "); found {
			command, into = rest, atStart
		}
		for _, w := range strings.Fields(list) {
			into[w] = command
		}
	}
	return anywhere, atStart
}

// misspeltQuestionWords are typing errors in question words. They are stop words.
var misspeltQuestionWords = func() Set {
	s := Set{}
	for w, command := range commandWords {
		if QuestionWords[command] || command == "much" || command == "many" {
			s[w] = true
		}
	}
	return s
}()

// commands are the words whose misspellings are recognized, and notMisspelt are words
// that look like a misspelt command but are not.
var (
	commands    = strings.Fields("summarize summarise summary compare comparison difference differences overview audit check review verify outline")
	notMisspelt = lists.Set("not misspelt")
	politeWords = lists.Set("polite words")
)

const (
	shortCommand = 5 // from this length in characters on, a command may have one wrong
	longCommand  = 8 // from this length on, two
)

// Commands replaces misspelt commands, and commands in some other languages, with the
// English words that the rules know. Everything else stays as it is.
func Commands(message string) string {
	message = contraction.ReplaceAllString(phraseAgainst.ReplaceAllString(message, "against "), "$1 is")
	var out strings.Builder
	opening := true // only polite words so far
	for i := 0; i < len(message); {
		j := i
		for j < len(message) {
			r, size := utf8.DecodeRuneInString(message[j:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				break
			}
			j += size
		}
		if j == i {
			r, size := utf8.DecodeRuneInString(message[i:])
			if strings.ContainsRune(".!?:\n", r) {
				opening = true
			}
			out.WriteString(message[i : i+size])
			i += size
			continue
		}
		word := message[i:j]
		out.WriteString(command(word, opening, opening && inEnglish(message[j:])))
		opening = opening && politeWords[strings.ToLower(word)]
		i = j
	}
	return out.String()
}

var (
	phraseAgainst = lazyregexp.New(`(?i)\b(?:par rapport (?:à|a|au|aux|à la)|en vergelijking met|im vergleich mit|con respecto a|aan de hand van|op basis van|anhand(?: von| der| des)?|auf (?:basis|grundlage) (?:von|der|des)|au regard (?:de|du|des)|en base a)(?:$|[^\pL])`)
	// contraction is a question word with a verb, written without an apostrophe.
	contraction = lazyregexp.New(`(?i)\b(what|who|where|when|how)s\b`)
)

// inEnglish reports whether the next word shows that the text is English: "was the",
// "comment on".
func inEnglish(rest string) bool {
	words := Words(Truncate(rest, 30))
	return len(words) > 0 && afterOpening[words[0]]
}

var afterOpening = lists.Set("after opening")

// command returns the command that a word stands for, or the word itself.
func command(word string, opening, english bool) string {
	lower := strings.ToLower(word)
	if c := commandWords[lower]; c != "" {
		return c
	}
	if opening && !english && openingWords[lower] != "" {
		return openingWords[lower]
	}
	if c := misspelt(lower); c != "" && (opening || !shortVerb[c]) {
		return c
	}
	return word
}

// shortVerb are commands that resemble too many other words: their misspellings count only
// where a request begins.
var shortVerb = NewSet("audit check review verify outline")

// misspelt returns the command that a word misspells, or "".
func misspelt(word string) string {
	n := utf8.RuneCountInString(word)
	if n+1 < shortCommand || notMisspelt[word] {
		return ""
	}
	best, found := 3, ""
	for _, c := range commands {
		if c == word {
			return ""
		}
		most := 1
		if len(c) >= longCommand-1 && n >= longCommand-2 {
			most = 2
		}
		if word[0] != c[0] || abs(n-len(c)) > most {
			continue
		}
		// Two errors that change the end make another word: "compass", "compost".
		if d := edlib.OSADamerauLevenshteinDistance(word, c); d <= most && d < best && (d < 2 || strings.HasSuffix(word, c[len(c)-1:])) {
			best, found = d, c
		}
	}
	return found
}

func abs(n int) int { return max(n, -n) }
