package record

import (
	"strings"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
)

// Limits of the terms of a search: those similar to its words, of all words together, and
// those of one word.
const (
	maxAlike     = 8 * MaxWords
	maxWordTerms = 100
)

// Group is a term of a search, with the terms that count as it.
type Group struct {
	Term  string
	Alike []Alike
}

// Alike is a term of the index that counts Weight times the term of its group.
type Alike struct {
	Term   string
	Weight float64
}

// Groups returns the terms of a search in texts of some languages. Only the first MaxWords
// words count. A term that occurs twice is one group. The other forms of a term count as much
// as it.
func Groups(words []db.Word, langs []string) []Group {
	var groups []Group
	at := map[string]int{}
	alike := 0
	seen := map[string]bool{}
	for _, w := range words {
		if len(seen) == MaxWords {
			break
		}
		if strings.TrimSpace(w.Text) == "" || seen[w.Text] {
			continue
		}
		seen[w.Text] = true
		var own []int
		for _, t := range wordTerms(w.Text, langs) {
			i, known := at[t.Forms[0]]
			if !known {
				i = len(groups)
				at[t.Forms[0]] = i
				groups = append(groups, Group{Term: t.Forms[0]})
			}
			for _, form := range t.Forms[1:] {
				groups[i].add(form, 1)
			}
			own = append(own, i)
		}
		for _, a := range w.Alike {
			if alike++; alike > maxAlike {
				break
			}
			for _, t := range wordTerms(a.Text, langs) {
				for _, form := range t.Forms {
					for _, i := range own {
						groups[i].add(form, min(max(a.Weight, 0), 1))
					}
				}
			}
		}
	}
	return groups
}

// add adds a term that counts as the group's, unless it is the same.
func (g *Group) add(term string, weight float64) {
	if term == g.Term {
		return
	}
	for i, a := range g.Alike {
		if a.Term == term {
			g.Alike[i].Weight = max(a.Weight, weight)
			return
		}
	}
	g.Alike = append(g.Alike, Alike{term, weight})
}

func wordTerms(word string, langs []string) []language.Term {
	terms := language.Query(language.Head(word, MaxWord), langs)
	return terms[:min(len(terms), maxWordTerms)]
}

// Match returns a boolean expression for the texts that have a word, for a full-text index
// with the operators and and or; "" if the word has no terms. quote quotes a term.
func Match(word string, langs []string, and, or string, quote func(string) string) string {
	var whole, pieces []string
	for _, t := range wordTerms(word, langs) {
		forms := make([]string, len(t.Forms))
		for i, f := range t.Forms {
			forms[i] = quote(f)
		}
		any := "(" + strings.Join(forms, or) + ")"
		if t.Whole {
			whole = append(whole, any)
		} else {
			pieces = append(pieces, any)
		}
	}
	if len(pieces) > 0 {
		whole = append(whole, "("+strings.Join(pieces, and)+")")
	}
	return strings.Join(whole, or)
}
