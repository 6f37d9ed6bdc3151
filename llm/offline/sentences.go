package offline

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/sentence"
)

// sent is a sentence that may be quoted.
type sent struct {
	passage int    // index into the facts' passages
	marker  int    // the passage's number; 0 for the message's own text
	text    string // verbatim
	heading string
	first   bool // right under its heading
	order   int  // place among all sentences
	vec     vector
}

// pool is the sentences of a request with their words weighed against each
// other.
type pool struct {
	sents []sent
	vocab *vocabulary
}

const maxSentences = 3000 // of one request

// gather cuts passages into sentences. Sentences that overlapping passages
// share are taken once; headings and fragments are left out. normal may rewrite
// stems (nil: as they are).
func gather(passages []llm.Passage, normal func(string) string) *pool {
	p := &pool{}
	seen := map[string]bool{}
	for i, x := range passages {
		heading, first := strings.TrimSpace(x.Heading), false
		for _, s := range sentence.Sentences(x.Text) {
			if s.Heading {
				heading, first = s.Text, true
				continue
			}
			same := x.DocID + "\x00" + strings.Join(strings.Fields(s.Text), " ")
			if fragment(s.Text) || seen[same] || len(p.sents) == maxSentences {
				continue
			}
			seen[same] = true
			p.sents = append(p.sents, sent{passage: i, marker: x.N, text: s.Text, heading: heading, first: first, order: len(p.sents)})
			first = false
		}
	}
	p.weigh(normal)
	return p
}

// own cuts a message's text into sentences.
func own(text string) []sent {
	var out []sent
	for _, s := range sentence.Sentences(text) {
		if !s.Heading && !fragment(s.Text) && len(out) < maxSentences {
			out = append(out, sent{passage: -1, text: s.Text, order: len(out)})
		}
	}
	return out
}

func (p *pool) weigh(normal func(string) string) {
	if normal == nil {
		normal = func(s string) string { return s }
	}
	p.vocab = newVocabulary(normal)
	for i := range p.sents {
		p.sents[i].vec = p.vocab.count(p.sents[i].text)
	}
	p.vocab.weigh(p.sents)
}

// fragment reports whether a sentence is too little to quote.
func fragment(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters < 8 || len(strings.Fields(s)) < 3
}

var bracketed = regexp.MustCompile(`\[\d+\]`)

const longestQuote = 420 // characters

// verbatim is the part of a sentence that is quoted: all of a short one. What
// could be taken for a citation is cut around, since nothing may be left out in
// the middle of a quotation.
func verbatim(s string) string {
	if bracketed.MatchString(s) {
		s = longest(bracketed.Split(s, -1))
	}
	if r := []rune(s); len(r) > longestQuote {
		s = string(r[:longestQuote])
		if cut := strings.LastIndexAny(s, " \n"); cut > 0 {
			s = s[:cut]
		}
	}
	return strings.TrimSpace(s)
}
