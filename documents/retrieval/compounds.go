package retrieval

import (
	"context"
	"slices"

	"github.com/palaver-chat/palaver/internal/language"
)

// maxSplit is the number of long words up to which the compounds of a question are split.
const maxSplit = 8

// parts returns the two words that a compound consists of, for those of the words of a
// question that are in no passage: "kündigung" and "frist" for "kündigungsfrist". Passages have
// both. Of several ways to split a word it takes the one with the most frequent words.
func (s *Searcher) parts(ctx context.Context, owner, question string, absent []string) (map[string][]string, error) {
	long := compoundsAmong(question, absent)
	out := make(map[string][]string, len(long))
	for _, w := range long {
		var candidates []string
		splits := language.Splits(w)
		for _, split := range splits {
			candidates = append(candidates, split.First, split.Last)
		}
		counts, _, err := s.Store.WordCounts(ctx, owner, language.Distinct(candidates))
		if err != nil {
			return nil, err
		}
		most := 0
		for _, split := range splits {
			if n := counts[split.First] * counts[split.Last]; n > most {
				most, out[w] = n, []string{split.First, split.Last}
			}
		}
	}
	return out, nil
}

// compoundsAmong returns the words of a question that may be compounds.
func compoundsAmong(question string, words []string) []string {
	long := slices.DeleteFunc(language.Distinct(words), func(w string) bool { return len(language.Splits(w)) == 0 })
	if len(long) > maxSplit || len(long) > 0 && !language.MayCompound(question) {
		return nil
	}
	return long
}

// splitCompounds puts the parts of compounds that are in no passage in their place.
func (s *Searcher) splitCompounds(ctx context.Context, owner, question string, words []string) ([]string, error) {
	long := compoundsAmong(question, words)
	if len(long) == 0 {
		return words, nil
	}
	counts, _, err := s.Store.WordCounts(ctx, owner, long)
	if err != nil {
		return nil, err
	}
	parts, err := s.parts(ctx, owner, question, slices.DeleteFunc(long, func(w string) bool { return counts[w] > 0 }))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range words {
		if two, ok := parts[w]; ok {
			out = append(out, two...)
		} else {
			out = append(out, w)
		}
	}
	return out, nil
}
