package retrieval

import (
	"cmp"
	"slices"

	"github.com/palaver-chat/palaver/chat"
)

// A passage is more likely to be the right one if the passages around it match, too: a rule
// treats its subject in several clauses but names it in only one of them. So a passage gains
// a share of the best score near it and of the best score in its document (bench/recall).
const (
	neighbourGain = 0.25
	neighbours    = 5 // passages before and after
	documentGain  = 0.3
)

// bySurroundings ranks hits by their own scores and by the scores of the hits around them.
func bySurroundings(hits []chat.Hit) []chat.Hit {
	inDocument := map[string][]chat.Hit{}
	for _, h := range hits {
		inDocument[h.DocID] = append(inDocument[h.DocID], h)
	}
	ranked := slices.Clone(hits)
	for i, h := range hits {
		nearby, anywhere := 0.0, 0.0
		for _, o := range inDocument[h.DocID] {
			anywhere = max(anywhere, o.Score)
			if distance := max(h.Ordinal-o.Ordinal, o.Ordinal-h.Ordinal); distance > 0 && distance <= neighbours {
				nearby = max(nearby, o.Score)
			}
		}
		ranked[i].Score += neighbourGain*nearby + documentGain*anywhere
	}
	slices.SortStableFunc(ranked, func(a, b chat.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}
