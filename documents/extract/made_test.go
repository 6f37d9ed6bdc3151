package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each file in testdata/made was made for one thing that readers of documents get wrong. The
// right reading, or the reason why there is none, is in the file of the same name with ".want".
func TestFilesThatWereMadeForOneThingAreReadRight(t *testing.T) {
	files, err := filepath.Glob("testdata/made/*")
	require.NoError(t, err)
	read := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".want") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := os.ReadFile(file + ".want")
			require.NoError(t, err)
			typ, ok := All().Detect(file, "", raw)
			require.True(t, ok)
			text, err := All().Text(t.Context(), typ, raw)
			if err != nil {
				text = err.Error()
			}
			require.Equal(t, strings.TrimRight(string(want), "\n"), strings.TrimRight(text, "\n"))
		})
		read++
	}
	require.Greater(t, read, 40)
}

// Word gives both letters of a ligature the box of its glyph.
func TestLettersOfArabicLigaturesAreInTheirOrder(t *testing.T) {
	at := func(r rune, left, right float32) glyph { return glyph{r: r, left: left, right: right, size: 12} }
	for want, row := range map[string][]glyph{
		"الإن": {at('ا', 12, 15), at('إ', 6, 12), at('ل', 6, 12), at('ن', 0, 6)},
		"الن":  {at('ا', 12, 15), at('ل', 6, 12), at('ن', 0, 6)},
		"الله": {at('ا', 6, 12), at('ل', 6, 12), at('ل', 6, 12), at('ه', 6, 12)},
	} {
		turnLigatures(row)
		require.Equal(t, want, plain(row))
	}
}

// Word draws some marks before their letter, behind a space that is as narrow as they are.
func TestMarksOfArabicStandBehindTheirLetters(t *testing.T) {
	at := func(r rune, left, right float32) glyph { return glyph{r: r, left: left, right: right, size: 12} }
	for want, row := range map[string][]glyph{
		"أيضًا":  {at('أ', 20, 23), at('ي', 17, 20), at(' ', 10, 10), at('ً', 8, 8), at('ض', 7, 17), at('ا', 4, 7)},
		"في ضًا": {at('ف', 26, 29), at('ي', 23, 26), at(' ', 17, 23), at('ً', 8, 8), at('ض', 7, 17), at('ا', 4, 7)},
		"ضًا":    {at('ض', 7, 17), at('ً', 8, 8), at('ا', 4, 7)},
	} {
		require.Equal(t, want, plain(afterTheirLetters(row)))
	}
}

func TestAWordInLatinLettersStandsApartFromTheArabicOneAfterIt(t *testing.T) {
	letters := func(s string) (row []glyph) {
		for _, r := range s {
			row = append(row, glyph{r: r, size: 12})
		}
		return row
	}
	for in, want := range map[string]string{"و Pythonمن": "و Python من", "بالWi-Fi في": "بالWi-Fi في", "xضً": "x ضً"} {
		require.Equal(t, want, plain(apartFromLatin(letters(in))))
	}
}

// A glyph may have two of the same letter, and be drawn twice.
func TestLettersOfAGlyphThatAreTheSameStay(t *testing.T) {
	for drawn, want := range map[string]string{"حبيبي": "حبيبي", "حبيحبي": "حبي", "fifi": "fi", "ff": "ff", "ffi": "ffi", "AAA": "A", "A": "A"} {
		row := []glyph{{r: 'x', left: 1, right: 2, size: 9}}
		for _, r := range drawn {
			row = append(row, glyph{r: r, left: 2, right: 9, size: 9})
		}
		require.Equal(t, "x"+want, plain(new(native).once(row, 1)))
	}
}
