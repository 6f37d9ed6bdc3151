package excerpt

import (
	"math"
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// Vector holds the weighted words of a text, sorted by word, so that sums over it are the
// same every time.
type Vector []Entry

// Entry is a word of a vector.
type Entry struct {
	Word   int
	Weight float64 // the count, until weigh turns it into a weight
}

// Vocabulary numbers words and counts the sentences that have each.
type Vocabulary struct {
	ids    map[string]int
	DF     []int
	figure []bool // numbers and months
	Total  int
	normal func(string) string
	lang   string // of the sentences
}

func newVocabulary(normal func(string) string, lang string) *Vocabulary {
	return &Vocabulary{ids: map[string]int{}, normal: normal, lang: lang}
}

// Count returns the vector of a text's content words, by how often they occur.
func (v *Vocabulary) Count(text string) Vector {
	n := map[int]float64{}
	for _, stem := range language.StemsIn(text, v.lang) {
		if stem = v.normal(stem); stem == "" {
			continue
		}
		id, ok := v.ids[stem]
		if !ok {
			id = len(v.DF)
			v.ids[stem] = id
			v.DF = append(v.DF, 0)
			v.figure = append(v.figure, language.IsFigureStem(stem))
		}
		n[id]++
	}
	out := make(Vector, 0, len(n))
	for id, c := range n {
		out = append(out, Entry{id, c})
	}
	slices.SortFunc(out, func(a, b Entry) int { return a.Word - b.Word })
	return out
}

// weigh turns the counts of the sentences into weights: rare words weigh more.
func (v *Vocabulary) weigh(excerpts []Excerpt) {
	v.Total = len(excerpts)
	for _, s := range excerpts {
		for _, e := range s.Vec {
			v.DF[e.Word]++
		}
	}
	for _, s := range excerpts {
		v.apply(s.Vec)
	}
}

func (v *Vocabulary) apply(x Vector) {
	for i, e := range x {
		x[i].Weight = (1 + math.Log(e.Weight)) * v.IDF(e.Word)
	}
}

// IDF is higher for words that few sentences have.
func (v *Vocabulary) IDF(word int) float64 {
	return math.Log(1 + (float64(v.Total)+1)/(float64(v.DF[word])+0.5))
}

// WithoutFigures returns x without numbers and months, or x when it has nothing else.
func (v *Vocabulary) WithoutFigures(x Vector) Vector {
	if out := slices.DeleteFunc(slices.Clone(x), func(e Entry) bool { return v.figure[e.Word] }); len(out) > 0 {
		return out
	}
	return x
}

// Query returns the weighted vector of a text that is not among the sentences.
func (v *Vocabulary) Query(text string) Vector {
	x := v.Count(text)
	v.apply(x)
	return x
}

func (x Vector) norm() float64 {
	var sum float64
	for _, e := range x {
		sum += e.Weight * e.Weight
	}
	return math.Sqrt(sum)
}

// Sum returns the sum of the weights.
func (x Vector) Sum() float64 {
	var sum float64
	for _, e := range x {
		sum += e.Weight
	}
	return sum
}

// Each calls f for every word that both have.
func (x Vector) Each(y Vector, f func(a, b Entry)) {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].Word < y[j].Word:
			i++
		case x[i].Word > y[j].Word:
			j++
		default:
			f(x[i], y[j])
			i++
			j++
		}
	}
}

// Cosine returns the similarity of two vectors.
func Cosine(x, y Vector) float64 {
	var dot float64
	x.Each(y, func(a, b Entry) { dot += a.Weight * b.Weight })
	if dot == 0 {
		return 0
	}
	return dot / (x.norm() * y.norm())
}

// Without returns x without the words of y.
func (x Vector) Without(y Vector) Vector {
	var out Vector
	for _, e := range x {
		if !slices.ContainsFunc(y, func(o Entry) bool { return o.Word == e.Word }) {
			out = append(out, e)
		}
	}
	return out
}
