package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherFormsOfYears(t *testing.T) {
	require.Equal(t, []string{"2018"}, OtherSpellings("fy2018"))
	require.Equal(t, []string{"2018"}, OtherSpellings("fy18"))
	require.Equal(t, []string{"fy2018", "fy18"}, OtherSpellings("2018"))
	require.Empty(t, OtherSpellings("2218"))
}

func TestJoinedWords(t *testing.T) {
	joined := Joined("What is the margin of Best Buy in J. P. Morgan's report?")
	require.Contains(t, joined["best"], "bestbuy")
	require.Contains(t, joined["buy"], "bestbuy")
	require.Contains(t, joined["morgan"], "jpmorgan")
	require.NotContains(t, joined, "of")
}

func TestClauseNumbers(t *testing.T) {
	require.Equal(t, []string{"4.2", "§5", "12.4.3"}, ClauseNumbers("What do clause 4.2, § 5 and 12.4.3 say?"))
	require.Empty(t, ClauseNumbers("What does clause 4 say?"))
}
