package offline

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/llm"
)

// excerpt is a sentence that may be quoted.
type excerpt struct {
	passage int    // index into the facts' passages
	marker  int    // the passage's number; 0 for the message's own text
	text    string // verbatim
	heading string
	first   bool // the first after its heading
	order   int  // its number among all sentences
	vec     vector
}

// pool is the sentences of a request, with words weighed by how rare they are among them.
type pool struct {
	excerpts []excerpt
	vocab    *vocabulary
}

const maxSentences = 3000 // of one request

// gather cuts passages into sentences. If several passages of a document have the same
// sentence, it takes it once. It leaves out headings and fragments. normal rewrites stems;
// nil: they stay.
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
			if fragment(s.Text) || seen[same] || len(p.excerpts) == maxSentences {
				continue
			}
			seen[same] = true
			p.excerpts = append(p.excerpts, excerpt{passage: i, marker: x.N, text: s.Text, heading: heading, first: first, order: len(p.excerpts)})
			first = false
		}
	}
	p.weigh(normal)
	return p
}

// excerptsOf cuts a message's text into sentences.
func excerptsOf(text string) []excerpt {
	var out []excerpt
	for _, s := range sentence.Sentences(text) {
		if !s.Heading && !fragment(s.Text) && len(out) < maxSentences {
			out = append(out, excerpt{passage: -1, text: s.Text, order: len(out)})
		}
	}
	return out
}

func (p *pool) weigh(normal func(string) string) {
	if normal == nil {
		normal = func(s string) string { return s }
	}
	p.vocab = newVocabulary(normal)
	for i := range p.excerpts {
		p.excerpts[i].vec = p.vocab.count(p.excerpts[i].text)
	}
	p.vocab.weigh(p.excerpts)
}

// fragment reports whether a sentence is too short to quote.
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

// verbatim returns the part of a sentence that is quoted: all of a short sentence. It cuts at
// what looks like a citation, because a quotation must not leave out its middle.
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
