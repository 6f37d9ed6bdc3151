package retrieval

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARatioIsSearchedByTheAmountsThatItIsComputedFrom(t *testing.T) {
	for query, want := range map[string][]string{
		"Has Contoso's quick ratio improved?":        {"current", "assets", "liabilities"},
		"What was the capex in 2024?":                {"purchases", "property"},
		"gross margins of the last three years":      {"gross", "profit", "cost", "sales"},
		"What does the statement of income say?":     {"operations", "earnings"},
		"How much PP&E is there at the year's end?":  {"property", "plant", "equipment"},
		"What is the notice period?":                 nil,
		"How quick is the ratio of staff to guests?": nil,
	} {
		got := accountWords(query)
		require.Subset(t, got, want, query)
		require.Equal(t, len(want) == 0, len(got) == 0, query)
	}
}
