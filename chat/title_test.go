package chat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestANameIsOneLine(t *testing.T) {
	for name, want := range map[string]string{
		"": "", " \n\t": "", "Leave Policy": "Leave Policy",
		"  a\r\n\n b\u2028c\u2029d\u0085e\v\f f": "a b c d e f",
		"a\u001b[31mb\u007f":                     "a [31mb",
		"\u202eevil\u202c \u2066x\u2069":         "evil x",
		"ملف العمل 2031":                         "ملف العمل 2031",
		"a\x00b":                                 "a\x00b",
	} {
		require.Equal(t, want, OneLine(name), "%q", name)
	}
}

func TestTitleIsTheBeginningOfTheMessageCutBetweenWords(t *testing.T) {
	for message, want := range map[string]string{
		"":                          "",
		"Short":                     "Short",
		"  two\n lines ":            "two lines",
		strings.Repeat("a", 60):     strings.Repeat("a", 60),
		strings.Repeat("ä", 100):    strings.Repeat("ä", 59) + "…",
		strings.Repeat("\xff", 100): strings.Repeat("\uFFFD", 59) + "…",
		"What are the capital requirements for banks in the new circular?": "What are the capital requirements for banks in the new…",
	} {
		got := TitleFrom(message)
		require.Equal(t, want, got)
		require.LessOrEqual(t, utf8.RuneCountInString(got), MaxTitle)
	}
}
