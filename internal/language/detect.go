package language

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	detectedBytes = 20_000 // of a text, by which its language is detected
	leastHits     = 1.0    // of stop words that only one language has
	lettersCount  = 0.5    // stop words, for which a word with letters of a language counts
)

// Detect returns the language of a text, as ISO 639-1: the one that its script is for, or the
// one most of whose stop words it has. It returns "" if the text does not tell.
func Detect(text string) string {
	text = Head(text, detectedBytes)
	if lang := byScript(text); lang != "" {
		return lang
	}
	scores := map[string]float64{}
	for _, w := range Words(text) {
		of := stopWordLanguages()[w]
		for _, lang := range of {
			scores[lang] += 1 / float64(len(of))
		}
		with := letterLanguages(w)
		for _, lang := range with {
			scores[lang] += lettersCount / float64(len(with))
		}
	}
	best, second := "", ""
	for _, lang := range detected {
		if best == "" || scores[lang] > scores[best] {
			best, second = lang, best
		} else if second == "" || scores[lang] > scores[second] {
			second = lang
		}
	}
	switch {
	case scores[best] >= leastHits && scores[best] > scores[second], neighbours[best+second] && scores[best]+scores[second] >= leastHits:
		return best
	case scores["uk"]+scores["bg"] <= scores["ru"] && mostly(text, unicode.Cyrillic):
		return "ru"
	}
	return ""
}

// neighbours are languages that a short text may not tell apart, and whose stems are alike.
var neighbours = Set{"dano": true, "noda": true, "cssk": true, "skcs": true}

// mostly reports whether most letters of a text belong to a script.
func mostly(text string, script *unicode.RangeTable) bool {
	letters, of := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(script, r) {
				of++
			}
		}
	}
	return 2*of > letters
}

// detected are the languages that stop words tell apart.
var detected = append([]string{"en"}, languages...)

// letterLanguages returns the languages that have all of a word's letters beside those that
// English or Russian and its neighbours share.
func letterLanguages(w string) []string {
	if isASCII(w) {
		return nil
	}
	var of []string
	for _, lang := range languages {
		special := false
		fits := !strings.ContainsFunc(w, func(r rune) bool {
			known := strings.ContainsRune(specialLetters()[lang], r)
			special = special || known
			return !known && strings.ContainsRune(specialLetters()[""], r)
		})
		if fits && special {
			of = append(of, lang)
		}
	}
	return of
}

// specialLetters are the letters by which a language is known, and by "" those of all languages.
var specialLetters = sync.OnceValue(func() map[string]string {
	letters := map[string]string{}
	for _, lang := range languages {
		if list, ok := lists["letters "+lang]; ok {
			letters[lang] = list
			letters[""] += list
		}
	}
	return letters
})

// englishWords are the words by which English is detected: stop words and what people begin with.
var englishWords = Union(stopWords, lists.Set("greetings and commands"))

// stopWordLanguages are the languages of each stop word.
var stopWordLanguages = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for _, lang := range detected {
		words := englishWords
		if lang != "en" {
			words = stopWordsOf()[lang]
		}
		for w := range words {
			of[w] = append(of[w], lang)
		}
	}
	return of
})

// Head returns the first bytes of a text, at most n, without part of a character.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// scripts are those that one language or nearly only one uses.
var scripts = []struct {
	lang  string
	table *unicode.RangeTable
}{
	{"th", unicode.Thai}, {"lo", unicode.Lao}, {"km", unicode.Khmer}, {"my", unicode.Myanmar}, {"ko", unicode.Hangul},
	{"el", unicode.Greek}, {"he", unicode.Hebrew}, {"hi", unicode.Devanagari},
}

// byScript returns the language of a text most of whose letters belong to a script that one
// language uses.
func byScript(text string) string {
	if isASCII(text) {
		return ""
	}
	counts, letters, kana, han := map[string]int{}, 0, 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			if unicode.IsLetter(r) {
				letters++
			}
			continue
		}
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		switch {
		case r < 0x370:
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		default:
			for _, s := range scripts {
				if unicode.Is(s.table, r) {
					counts[s.lang]++
				}
			}
		}
	}
	for lang, n := range counts {
		if 2*n > letters {
			return lang
		}
	}
	if 4*(han+kana) > letters { // one of them says as much as several letters
		if 10*kana > han {
			return "ja"
		}
		return "zh"
	}
	return ""
}
