package language

import (
	"slices"
	"strings"
	"testing"
)

func raws(tokens []Token) string {
	var out []string
	for _, t := range tokens {
		out = append(out, t.Raw)
	}
	return strings.Join(out, " ")
}

func TestTitleTokens(t *testing.T) {
	for title, want := range map[string]string{
		"BankNegara2024":               "bank negara 2024",
		"Remote Work Policy version 2": "remote work policy v2",
		"data-retention_rules.pdf":     "data retention rules",
		"notes.markdown":               "notes",
		"The Bank's Act":               "bank act",
		"Basel 3.1":                    "basel 3.1",
		"Straße":                       "strasse",
		"":                             "",
		"छुट्टी नीति 2024":             "छुट्टी नीति 2024",
		"விடுப்புக் கொள்கை":   "விடுப்புக் கொள்கை",
		"سياسةُ العملِ أيضًا": "سياسة العمل أيضا",
		"⚠\ufe0f Safety":      "safety",
	} {
		if got := raws(TitleTokens(title)); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func TestScanMarksPositionsStopWordsAndVersions(t *testing.T) {
	got := Scan("The policy, v2")
	want := []Word{
		{Token: Token{Stem: "the", Raw: "the"}, Stop: true},
		{Token: Token{Stem: Stem("policy"), Raw: "policy"}, Start: 4},
		{Token: Token{Stem: "v2", Version: true, Raw: "v2"}, Start: 12, Apart: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestIsYearOrVersion(t *testing.T) {
	for w, want := range map[string]bool{"2024": true, "1999": true, "v2": true, "v1.2": true, "3024": false, "12": false, "version": false} {
		if got := IsYearOrVersion(w); got != want {
			t.Errorf("%s: %t", w, got)
		}
	}
}
