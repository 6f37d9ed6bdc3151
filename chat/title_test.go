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

func TestTitleLeavesOutPolitePhrases(t *testing.T) {
	for message, want := range map[string]string{
		"Hello": "Hello", "hi there": "hi there", "please": "please", "Hit rate of the cache": "Hit rate of the cache",
		"Hi, can you please tell me the notice period?":                                           "Tell me the notice period?",
		"hello! what is the notice period":                                                        "What is the notice period",
		"Please summarize the Leave Policy, thanks!":                                              "Summarize the Leave Policy!",
		"summarize https://docs.google.com/document/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789/edit": "summarize docs.google.com",
		"Please compare https://www.example.com/a?b=c with http://other.example#d":                "Compare example.com with other.example",
		"Guten Tag, könnten Sie bitte den Vertrag zusammenfassen?":                                "Den Vertrag zusammenfassen?",
		"What is the notice period? I ask because I am about to leave the company in the summer.": "What is the notice period?",
		"Why? I ask because I am about to leave the company in the summer and need to know.":      "Why? I ask because I am about to leave the company in the…",
	} {
		require.Equal(t, want, TitleFrom(message), message)
	}
}

func TestTitleNamesTheDocumentWhenTheMessageSaysLittle(t *testing.T) {
	for message, want := range map[string]string{
		"Summarize this":              "Leave Policy: Summarize this",
		"Please summarize it":         "Leave Policy: Summarize it",
		"Worum geht es?":              "Leave Policy: Worum geht es?",
		"What is the notice period?":  "What is the notice period?",
		"How many days do staff get?": "How many days do staff get?",
	} {
		require.Equal(t, want, TitleWith(message, "Leave\nPolicy"), message)
	}
	require.Equal(t, "Summarize this", TitleWith("Summarize this", ""))
	require.LessOrEqual(t, utf8.RuneCountInString(TitleWith("Summarize this", strings.Repeat("Long name ", 20))), MaxTitle)
}

func TestTitleThatAModelWroteIsOnePlainLine(t *testing.T) {
	for text, want := range map[string]string{
		"Notice period of staff":              "Notice period of staff",
		" \"Notice period\".\nIt is about …":  "Notice period",
		"**Title:** Notice `period`":          "Notice period",
		"<img src=x onerror=alert(1)> Notice": "img src=x onerror=alert(1) Notice",
		"![x](https://evil.example)":          "",
		"":                                    "",
		"…":                                   "",
		"a\x00b\u202ec":                       "abc",
		strings.Repeat("x", 500):              "",
		strings.Repeat("word ", 30):           "word word word word word word word word word word word word…",
	} {
		got := WrittenTitle(text)
		require.Equal(t, want, got, "%q", text)
		require.LessOrEqual(t, utf8.RuneCountInString(got), MaxTitle)
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
