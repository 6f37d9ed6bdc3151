package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Most questions of these sets have hardly any words in common with their answers.
func TestEverydayQuestionsAreFoundAndNeverWorseThanByBM25(t *testing.T) {
	for _, name := range []string{"policies", "contracts"} {
		s, err := everyday(name)
		require.NoError(t, err)
		lines, err := measureIn(t.Context(), "sqlite", s, nil, options{k: 10})
		require.NoError(t, err)
		require.Len(t, lines, 4)
		require.Empty(t, tooLow(name, "sqlite", lines, map[string]float64{}, 0.02))
		for _, l := range lines {
			if l.ranking == product {
				require.Greater(t, l.recall, 0.7, "%s, %s", name, l.part)
			}
		}
	}
}

func TestRankingBelowBM25IsAProblem(t *testing.T) {
	lines := []line{{part: tuned, ranking: rankings[0].name, recall: 0.9}, {part: tuned, ranking: product, recall: 0.87}}
	require.Len(t, tooLow("x", "sqlite", lines, map[string]float64{}, 0.02), 1)
	require.Len(t, tooLow("x", "sqlite", lines, map[string]float64{tuned: 0.9}, 0.04), 0)
	require.Len(t, tooLow("x", "sqlite", lines, map[string]float64{tuned: 0.95}, 0.04), 1)
}
