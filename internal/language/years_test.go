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

func TestCodesOfAQuestionAreOneWord(t *testing.T) {
	for question, want := range map[string][]string{
		"What do clause 4.2, § 5 and 12.4.3 say?":       {"clause", "4.2", "§5", "12.4.3"},
		"What does clause 4 say?":                       {"clause", "4"},
		"Who paid 1,190.00 for the XR-200?":             {"paid", "1,190.00", "xr-200"},
		"Whose number is 0170 1234567?":                 {"number", "0170 1234567"},
		"Which account is DE89 3704 0044 0532 0130 00?": {"account", "de89 3704 0044 0532 0130 00"},
		"Is the well-known HR-POL-11 in force?":         {"well", "known", "force", "hr-pol-11"},
	} {
		require.Equal(t, want, AskedWords(question), question)
	}
}
