package chat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTitleIsTheBeginningOfTheMessageCutBetweenWords(t *testing.T) {
	for message, want := range map[string]string{
		"":                          "",
		"Short":                     "Short",
		"  two\n lines ":            "two lines",
		strings.Repeat("a", 60):     strings.Repeat("a", 60),
		strings.Repeat("ä", 100):    strings.Repeat("ä", 59) + "…",
		strings.Repeat("\xff", 100): strings.Repeat("\xff", 59) + "…",
		"What are the capital requirements for banks in the new circular?": "What are the capital requirements for banks in the new…",
	} {
		got := TitleFrom(message)
		require.Equal(t, want, got)
		require.LessOrEqual(t, utf8.RuneCountInString(got), MaxTitle)
	}
}
