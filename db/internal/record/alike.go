package record

import (
	"strings"

	"github.com/palaver-chat/palaver/db"
)

// maxAlike limits the similar words of a search, of all its words together.
const maxAlike = 8 * MaxWords

// Flat has the words of a search and the words similar to them in one list: entry i has a
// text, the index of the word that it is similar to (i for a word itself), and a weight.
type Flat struct {
	Texts   []string
	Word    []int
	Weights []float64
}

// Alike lists each word once, at most MaxWords, and after them the words similar to them.
func Alike(words []db.Word) Flat {
	var f Flat
	var kept []db.Word
	at := map[string]bool{}
	for _, w := range words {
		if len(kept) == MaxWords {
			break
		}
		if strings.TrimSpace(w.Text) != "" && !at[w.Text] {
			at[w.Text] = true
			f.add(w.Text, len(kept), 1)
			kept = append(kept, w)
		}
	}
	for i, w := range kept {
		for _, a := range w.Alike {
			if len(f.Texts) < len(kept)+maxAlike && strings.TrimSpace(a.Text) != "" {
				f.add(a.Text, i, min(max(a.Weight, 0), 1))
			}
		}
	}
	return f
}

func (f *Flat) add(text string, word int, weight float64) {
	f.Texts, f.Word, f.Weights = append(f.Texts, text), append(f.Word, word), append(f.Weights, weight)
}
