package record

import (
	"strings"

	"github.com/palaver-chat/palaver/db"
)

// maxAlike bounds the words that are alike, of all words of a search.
const maxAlike = 8 * MaxWords

// Flat are the words of a search and those that are alike, in one list: entry i has a
// text, the entry of the word that it is like (i for a word itself), and a weight.
type Flat struct {
	Texts   []string
	Word    []int
	Weights []float64
}

// Alike lists words once, at most MaxWords, and after them what is like them.
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
