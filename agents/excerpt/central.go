package excerpt

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/llm"
)

// Central picks the k sentences that are most similar to the whole text, in its order. It
// prefers early ones and those that differ from each other.
func (p *Pool) Central(k int) []Excerpt {
	if len(p.Excerpts) == 0 {
		return nil
	}
	weights := make([]float64, len(p.Vocab.DF))
	for _, s := range p.Excerpts {
		norm := s.Vec.norm()
		for _, e := range s.Vec {
			weights[e.Word] += e.Weight / norm
		}
	}
	var centre Vector
	for word, w := range weights {
		if w > 0 {
			centre = append(centre, Entry{word, w})
		}
	}
	scores := make([]float64, len(p.Excerpts))
	begins := map[string]bool{} // headings whose first sentence was seen
	for i, s := range p.Excerpts {
		scores[i] = Cosine(s.Vec, centre) * (1 + 0.3/(1+float64(i)/4))
		if !begins[s.Heading] {
			begins[s.Heading] = true
			scores[i] *= 1.15
		}
		if n := len(strings.Fields(s.Text)); n < 6 || n > 60 {
			scores[i] *= 0.6
		}
		if strings.HasSuffix(s.Text, "?") || strings.HasSuffix(s.Text, ":") {
			scores[i] *= 0.5
		}
	}
	var picked []Excerpt
	perHeading := map[string]int{}
	for len(picked) < min(k, len(p.Excerpts)) {
		best, at := 0.0, -1
		for i, s := range p.Excerpts {
			score := scores[i] / float64(1+perHeading[s.Heading])
			for _, o := range picked {
				score -= 0.4 * scores[i] * Cosine(s.Vec, o.Vec)
			}
			if score > best {
				best, at = score, i
			}
		}
		if at < 0 {
			break
		}
		picked = append(picked, p.Excerpts[at])
		perHeading[p.Excerpts[at].Heading]++
		scores[at] = 0
	}
	slices.SortFunc(picked, func(a, b Excerpt) int { return a.Order - b.Order })
	return picked
}

// FirstOfEach returns the first sentence of each passage.
func (p *Pool) FirstOfEach(passages []llm.Passage) []Excerpt {
	var out []Excerpt
	seen := make([]bool, len(passages))
	for _, s := range p.Excerpts {
		if !seen[s.Passage] {
			seen[s.Passage] = true
			out = append(out, s)
		}
	}
	return out
}
