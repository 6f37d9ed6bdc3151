package language

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestContentWords(t *testing.T) {
	for in, want := range map[string]string{
		"What is the Bank's capital buffer?": "bank capital buffer",
		"Don't send e-mail to 2 addresses!":  "send mail 2 addresses",
		"Größe, café":                        "größe café",
		"'quoted' ’curly’ it’s":              "quoted curly",
		"":                                   "",
		"The of and":                         "",
	} {
		if got := strings.Join(ContentWords(in), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A turn compares thousands of words with its question, so the cost per word matters.
func TestPlainWordsAreNotCopied(t *testing.T) {
	text := strings.Repeat("capital buffers of banks ", 1000)
	if n := testing.AllocsPerRun(10, func() { ContentWords(text) }); n > 100 {
		t.Errorf("%.0f allocations for 4000 words", n)
	}
}

func TestFormsOfAWordHaveTheSameStem(t *testing.T) {
	for _, pair := range [][2]string{{"buffers", "buffer"}, {"reporting", "reported"}, {"outsourced", "outsourcing"}, {"policies", "policy"}} {
		if Stem(pair[0]) != Stem(pair[1]) {
			t.Errorf("%s is %s, %s is %s", pair[0], Stem(pair[0]), pair[1], Stem(pair[1]))
		}
	}
	for _, w := range []string{"größe", "2025", "a", strings.Repeat("y", 100)} {
		if Stem(w) != w {
			t.Errorf("%s became %s", w, Stem(w))
		}
	}
}

func FuzzStemsAreWholeCharacters(f *testing.F) {
	for _, s := range []string{"One. Two.\nThree", "# T\n\n- a. b\n- c", "é. 語。\u2028x", "Art. 5. J. ", "| a | b |\n> q"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range Stems(strings.ToValidUTF8(s, "?")) {
			if w == "" || !utf8.ValidString(w) {
				t.Fatalf("word %q", w)
			}
		}
	})
}

func TestWordsSplitAtApostrophesAndHyphens(t *testing.T) {
	want := []string{"the", "bank", "s", "e", "mail", "of", "größe", "2½"}
	if got := Words("The Bank's e-mail of GRÖßE 2½!"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
