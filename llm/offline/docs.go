package offline

import (
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/sentence"
)

// token is a word of a title or message as names are matched by: in lower case,
// stemmed; "BankNegara2024" is three.
type token struct {
	text    string // stemmed
	version bool   // v2, 2024
	raw     string
}

func (t token) is(o token) bool { return t.text == o.text && t.version == o.version }

var (
	extension = regexp.MustCompile(`(?i)\.(?:pdf|docx?|txt|md|html?)$`)
	versionRe = regexp.MustCompile(`^(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)*)$`)
	versionNo = regexp.MustCompile(`(?i)\b(?:version|ver|rev|revision)[ .]?(\d)`)
)

// word is a word of a message, where it stands.
type word struct {
	token
	stop  bool
	start int  // in characters
	apart bool // something other than a gap stands before it: a new phrase begins
}

// scan cuts at everything that is no letter or digit, between letters and
// digits and where a small letter meets a capital one.
func scan(text string) []word {
	var out []word
	var letters []rune
	start, apart := 0, false
	flush := func() {
		w := strings.ToLower(strings.Trim(string(letters), ".'’"))
		letters = letters[:0]
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		w = strings.ReplaceAll(w, "ß", "ss")
		if w == "" {
			return
		}
		x := word{token: token{w, versionRe.MatchString(w), w}, start: start, apart: apart}
		if !x.version {
			x.text, x.stop = sentence.Stem(w), sentence.StopWord(w)
		}
		out = append(out, x)
		apart = false
	}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case r == '.' && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]), r == '\'', r == '’':
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			apart = apart || strings.ContainsRune(",;:.!?()[]{}\"“”«»\n", r)
			continue
		case len(letters) > 0 && unicode.IsUpper(r) && unicode.IsLower(letters[len(letters)-1]),
			len(letters) > 0 && unicode.IsDigit(r) && unicode.IsLetter(letters[len(letters)-1]) && !isV(letters),
			len(letters) > 0 && unicode.IsLetter(r) && unicode.IsDigit(letters[len(letters)-1]):
			flush()
		}
		if len(letters) == 0 {
			start = i
		}
		letters = append(letters, r)
	}
	flush()
	return out
}

// plain is a text without what only looks like words: an extension at its end,
// "version 2" for v2.
func plain(text string) string {
	return versionNo.ReplaceAllString(extension.ReplaceAllString(text, ""), "v$1")
}

// tokens are the words of a name that tell something.
func tokens(text string) []token {
	var out []token
	for _, w := range scan(plain(text)) {
		if !w.stop {
			out = append(out, w.token)
		}
	}
	return out
}

func isV(word []rune) bool { return len(word) == 1 && (word[0] == 'v' || word[0] == 'V') }

// title is a document with its name's tokens.
type title struct {
	llm.Document
	tokens []token
}

// namer matches names against a registry.
type namer struct {
	titles []title
	df     map[string]int
	joined map[string][]token // "banknegara" → bank, negara
}

func newNamer(docs []llm.Document) *namer {
	n := &namer{df: map[string]int{}, joined: map[string][]token{}}
	for _, d := range docs {
		t := title{d, tokens(d.Title)}
		if len(t.tokens) == 0 {
			continue
		}
		seen := map[string]bool{}
		for _, tok := range t.tokens {
			if !seen[tok.text] {
				seen[tok.text] = true
				n.df[tok.text]++
			}
		}
		n.titles = append(n.titles, t)
		for i := range t.tokens {
			for j := i + 2; j <= min(len(t.tokens), i+4); j++ {
				raw := ""
				for _, tok := range t.tokens[i:j] {
					raw += tok.raw
				}
				n.joined[raw] = t.tokens[i:j]
			}
		}
	}
	return n
}

// read is a text's words, those that a title writes apart taken apart.
func (n *namer) read(text string) []word {
	var out []word
	for _, w := range scan(plain(text)) {
		parts, ok := n.joined[w.raw]
		if !ok || w.version {
			out = append(out, w)
			continue
		}
		for i, p := range parts {
			out = append(out, word{token: p, start: w.start, apart: i == 0 && w.apart})
		}
	}
	return out
}

// weight of a title's word: rare ones tell more, "policy" tells little.
func (n *namer) weight(word string) float64 {
	w := math.Log(1 + float64(len(n.titles)+1)/float64(n.df[word]+1))
	if docStems[word] {
		w /= 2
	}
	return w
}

var docStems = func() map[string]bool {
	m := map[string]bool{}
	for w := range docNouns {
		m[sentence.Stem(w)] = true
	}
	return m
}()
