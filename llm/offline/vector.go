package offline

import (
	"math"
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// vector holds the weighted words of a text, sorted by word, so that sums over it are the
// same every time.
type vector []entry

type entry struct {
	word   int
	weight float64 // the count, until weigh turns it into a weight
}

// vocabulary numbers words and counts the sentences that have each.
type vocabulary struct {
	ids    map[string]int
	df     []int
	figure []bool // numbers and months
	total  int
	normal func(string) string
}

func newVocabulary(normal func(string) string) *vocabulary {
	return &vocabulary{ids: map[string]int{}, normal: normal}
}

// count returns the vector of a text's content words, by how often they occur.
func (v *vocabulary) count(text string) vector {
	n := map[int]float64{}
	for _, stem := range language.Stems(text) {
		if stem = v.normal(stem); stem == "" {
			continue
		}
		id, ok := v.ids[stem]
		if !ok {
			id = len(v.df)
			v.ids[stem] = id
			v.df = append(v.df, 0)
			v.figure = append(v.figure, language.IsFigureStem(stem))
		}
		n[id]++
	}
	out := make(vector, 0, len(n))
	for id, c := range n {
		out = append(out, entry{id, c})
	}
	slices.SortFunc(out, func(a, b entry) int { return a.word - b.word })
	return out
}

// weigh turns the counts of the sentences into weights: rare words weigh more.
func (v *vocabulary) weigh(excerpts []excerpt) {
	v.total = len(excerpts)
	for _, s := range excerpts {
		for _, e := range s.vec {
			v.df[e.word]++
		}
	}
	for _, s := range excerpts {
		v.apply(s.vec)
	}
}

func (v *vocabulary) apply(x vector) {
	for i, e := range x {
		x[i].weight = (1 + math.Log(e.weight)) * v.idf(e.word)
	}
}

func (v *vocabulary) idf(word int) float64 {
	return math.Log(1 + (float64(v.total)+1)/(float64(v.df[word])+0.5))
}

// withoutFigures returns x without numbers and months, or x when it has nothing else.
func (v *vocabulary) withoutFigures(x vector) vector {
	if out := slices.DeleteFunc(slices.Clone(x), func(e entry) bool { return v.figure[e.word] }); len(out) > 0 {
		return out
	}
	return x
}

// query returns the weighted vector of a text that is not among the sentences.
func (v *vocabulary) query(text string) vector {
	x := v.count(text)
	v.apply(x)
	return x
}

func (x vector) norm() float64 {
	var sum float64
	for _, e := range x {
		sum += e.weight * e.weight
	}
	return math.Sqrt(sum)
}

func (x vector) sum() float64 {
	var sum float64
	for _, e := range x {
		sum += e.weight
	}
	return sum
}

// each calls f for every word that both have.
func (x vector) each(y vector, f func(a, b entry)) {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].word < y[j].word:
			i++
		case x[i].word > y[j].word:
			j++
		default:
			f(x[i], y[j])
			i++
			j++
		}
	}
}

func cosine(x, y vector) float64 {
	var dot float64
	x.each(y, func(a, b entry) { dot += a.weight * b.weight })
	if dot == 0 {
		return 0
	}
	return dot / (x.norm() * y.norm())
}

// without returns x without the words of y.
func (x vector) without(y vector) vector {
	var out vector
	for _, e := range x {
		if !slices.ContainsFunc(y, func(o entry) bool { return o.word == e.word }) {
			out = append(out, e)
		}
	}
	return out
}
