package retrieval

import (
	"context"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hbollon/go-edlib"

	"github.com/palaver-chat/palaver/internal/language"
)

const (
	spellingHits  = 30 // passages whose words correct a query
	shortMisspelt = 6  // from this length in characters on, a word may have one typing error
	longMisspelt  = 9  // from this length on, two
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
		if counts[w] == 0 && utf8.RuneCountInString(w) >= shortMisspelt {
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
		best, closest := "", longMisspelt
		for _, h := range hits {
			for _, x := range language.ContentWords(h.Text) {
				if d := errorsIn(w, x); d > 0 && d < closest {
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

// errorsIn returns the number of typing errors that turn x into w; 0 if w is no likely
// misspelling of x.
func errorsIn(w, x string) int {
	n, m := utf8.RuneCountInString(w), utf8.RuneCountInString(x)
	most := 1
	if n >= longMisspelt {
		most = 2
	}
	if w[0] != x[0] || max(n-m, m-n) > most || m < shortMisspelt-1 || strings.HasPrefix(w, x) || strings.HasPrefix(x, w) {
		return 0
	}
	if d := edlib.OSADamerauLevenshteinDistance(w, x); d <= most {
		return d
	}
	return 0
}
