package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// compounding are the languages that write several nouns as one word.
var compounding = NewSet("da de fi nl no sv")

// Compounding reports whether a language writes several nouns as one word.
func Compounding(lang string) bool { return compounding[lang] }

// linking are the letters that may stand between the parts of such a word.
var linking = []string{"", "s", "n", "en", "es", "er"}

const (
	shortestPart     = 4  // characters of a part of a compound
	longestCompound  = 40 // characters of a compound that is split
	mostJoined       = 6  // words of a question that may be the parts of a compound
	shortestCompound = 2*shortestPart + 1
)

// Split is a way to read a word as a compound of two.
type Split struct{ First, Last string }

// MayCompound reports whether a question may have compounds: it is in a language with such
// words, or too short to tell its language.
func MayCompound(question string) bool {
	lang := Detect(question)
	return lang == "" || compounding[lang]
}

// Splits returns the ways to read a lower-case word as a compound of two, with letters that
// link them or without. Most of the parts are no words; the caller looks them up.
func Splits(word string) (splits []Split) {
	letters := []rune(word)
	if len(letters) < shortestCompound || len(letters) > longestCompound || slices.ContainsFunc(letters, notInCompound) {
		return nil
	}
	for cut := shortestPart; cut <= len(letters)-shortestPart; cut++ {
		first, last := string(letters[:cut]), string(letters[cut:])
		for _, link := range linking {
			if part, ok := strings.CutSuffix(first, link); ok && utf8.RuneCountInString(part) >= shortestPart {
				splits = append(splits, Split{part, last})
			}
		}
	}
	return splits
}

func notInCompound(r rune) bool { return !unicode.In(r, unicode.Latin) }

// Compounds returns the compounds that two words of a question may form, by each of the two:
// Kündigungsfrist for "Frist" and "Kündigung". Most of them are no words. Questions in
// languages without compounds, or of many words, have none.
func Compounds(question string) map[string][]string {
	if !compounding[Detect(question)] {
		return nil
	}
	words := slices.DeleteFunc(Distinct(AskedWords(question)), func(w string) bool {
		return utf8.RuneCountInString(w) < shortestPart || strings.ContainsFunc(w, notInCompound)
	})
	if len(words) > mostJoined {
		return nil
	}
	out := map[string][]string{}
	for _, first := range words {
		for _, last := range words {
			if first == last {
				continue
			}
			for _, link := range linking {
				joined := first + link + last
				out[first], out[last] = append(out[first], joined), append(out[last], joined)
			}
		}
	}
	return out
}
