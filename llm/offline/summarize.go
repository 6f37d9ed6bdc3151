package offline

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// summarize picks the most central sentences of each document, in its order, by headings.
func summarize(f llm.Facts) string {
	ids := sources(f.Passages)
	if len(ids) == 0 {
		return "There is nothing to summarize: no readable passage was found."
	}
	each := max(3, 9/len(ids))
	var b strings.Builder
	for _, id := range ids {
		passages := passagesOf(f.Passages, id)
		picked := gather(passages, nil).central(each)
		if len(picked) == 0 {
			continue
		}
		b.WriteString("**" + titleOf(passages, id) + "**\n\n")
		last := ""
		for _, s := range picked {
			b.WriteString("- ")
			if h := plainTitle(language.WithoutClauseNumber(s.heading)); s.heading != "" && h != last {
				b.WriteString("**" + h + "**: ")
				last = h
			}
			b.WriteString(quote(s) + "\n")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "There is nothing to summarize: the documents hold no whole sentence."
	}
	return b.String()
}

// central picks the k sentences that are most similar to the whole text, in its order. It
// prefers early ones and those that differ from each other.
func (p *pool) central(k int) []excerpt {
	if len(p.excerpts) == 0 {
		return nil
	}
	weights := make([]float64, len(p.vocab.df))
	for _, s := range p.excerpts {
		norm := s.vec.norm()
		for _, e := range s.vec {
			weights[e.word] += e.weight / norm
		}
	}
	var centre vector
	for word, w := range weights {
		if w > 0 {
			centre = append(centre, entry{word, w})
		}
	}
	scores := make([]float64, len(p.excerpts))
	begins := map[string]bool{} // headings whose first sentence was seen
	for i, s := range p.excerpts {
		scores[i] = cosine(s.vec, centre) * (1 + 0.3/(1+float64(i)/4))
		if !begins[s.heading] {
			begins[s.heading] = true
			scores[i] *= 1.15
		}
		if n := len(strings.Fields(s.text)); n < 6 || n > 60 {
			scores[i] *= 0.6
		}
		if strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, ":") {
			scores[i] *= 0.5
		}
	}
	var picked []excerpt
	perHeading := map[string]int{}
	for len(picked) < min(k, len(p.excerpts)) {
		best, at := 0.0, -1
		for i, s := range p.excerpts {
			score := scores[i] / float64(1+perHeading[s.heading])
			for _, o := range picked {
				score -= 0.4 * scores[i] * cosine(s.vec, o.vec)
			}
			if score > best {
				best, at = score, i
			}
		}
		if at < 0 {
			break
		}
		picked = append(picked, p.excerpts[at])
		perHeading[p.excerpts[at].heading]++
		scores[at] = 0
	}
	slices.SortFunc(picked, func(a, b excerpt) int { return a.order - b.order })
	return picked
}
