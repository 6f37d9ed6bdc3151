package mention

import (
	"math"
	"slices"

	"github.com/palaver-chat/palaver/agents/documents/intent"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// title is a document with its name's tokens.
type title struct {
	llm.Document
	tokens []language.Token
}

// titleIndex finds the documents of a list by their names.
type titleIndex struct {
	titles []title
	df     map[string]int
	joined map[string][]language.Token // "banknegara" → bank, negara
}

func newTitleIndex(docs []llm.Document) *titleIndex {
	n := &titleIndex{df: map[string]int{}, joined: map[string][]language.Token{}}
	for _, d := range docs {
		t := title{d, language.TitleTokens(d.Title)}
		if len(t.tokens) == 0 {
			continue
		}
		seen := map[string]bool{}
		for _, tok := range t.tokens {
			if !seen[tok.Stem] {
				seen[tok.Stem] = true
				n.df[tok.Stem]++
			}
		}
		n.titles = append(n.titles, t)
		for i := range t.tokens {
			for j := i + 2; j <= min(len(t.tokens), i+4); j++ {
				raw := ""
				for _, tok := range t.tokens[i:j] {
					raw += tok.Raw
				}
				n.joined[raw] = t.tokens[i:j]
			}
		}
	}
	return n
}

// read scans a text. Words that a title writes apart are split.
func (n *titleIndex) read(text string) []language.Word {
	var out []language.Word
	for _, w := range language.Scan(language.NormalizeName(text)) {
		parts, ok := n.joined[w.Raw]
		if !ok || w.Version {
			out = append(out, w)
			continue
		}
		for i, p := range parts {
			out = append(out, language.Word{Token: p, Start: w.Start, Apart: i == 0 && w.Apart})
		}
	}
	return out
}

// weight is higher for words that few titles have, and lower for nouns like "policy".
func (n *titleIndex) weight(word string) float64 {
	w := math.Log(1 + float64(len(n.titles)+1)/float64(n.df[word]+1))
	if docStems[word] {
		w /= 2
	}
	return w
}

var docStems = intent.DocumentNouns.Stems()

// TwoVersions returns the places of two versions of a document in a list, in their order.
func TwoVersions(docs []llm.Document) (i, j int, ok bool) {
	n := newTitleIndex(docs)
	for i, d := range docs {
		if others := n.otherVersions(d); len(others) > 0 {
			j := slices.IndexFunc(docs, func(o llm.Document) bool { return o.ID == others[0].ID })
			return min(i, j), max(i, j), true
		}
	}
	return 0, 0, false
}
