package retrieval

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

const (
	spellingHits  = 30 // passages whose words correct a query
	shortMisspelt = 6  // characters of the shortest word that is corrected
	mostErrors    = 9
)

// Respell corrects words of a query that occur in no document that owner may see. It
// replaces them with similar words of the passages that the query's other words find. It
// returns the query unchanged when there is nothing to correct.
func (s *Searcher) Respell(ctx context.Context, owner, query string, docIDs []string) (string, error) {
	words := language.Distinct(language.ContentWords(query))
	counts, _, err := s.Store.WordCounts(ctx, owner, words)
	if err != nil {
		return query, err
	}
	var unknown []string
	for _, w := range words {
		if counts[w] == 0 && utf8.RuneCountInString(w) >= shortMisspelt && !strings.ContainsFunc(w, language.IsDense) {
			unknown = append(unknown, w)
		}
	}
	if len(unknown) == 0 || len(unknown) == len(words) {
		return query, nil
	}
	hits, err := s.Search(ctx, owner, query, docIDs, spellingHits)
	if err != nil {
		return query, err
	}
	for _, w := range unknown {
		best, closest := "", mostErrors
		for _, h := range hits {
			for _, x := range language.ContentWords(h.Text) {
				if d := language.Misspelt(w, x); d > 0 && d < closest {
					best, closest = x, d
				}
			}
		}
		if best != "" {
			query = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(w)).ReplaceAllLiteralString(query, best)
		}
	}
	return query, nil
}
