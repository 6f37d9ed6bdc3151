package sentence

import (
	"strings"
	"unicode"

	porter "github.com/blevesearch/go-porterstemmer"
)

// Words returns the content words of text in order, in lower case, repeats
// kept: runs of letters and digits (as FTS5's unicode61 sees them) without stop
// words and without single letters.
func Words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, separates) {
		w = bare(strings.ToLower(w))
		if w != "" && !stop[w] && !single(w) {
			out = append(out, w)
		}
	}
	return out
}

// Stems is Words, each reduced to its stem, so that "buffers" meets "buffer".
func Stems(text string) []string {
	out := Words(text)
	for i, w := range out {
		out[i] = Stem(w)
	}
	return out
}

// bare strips a possessive ("bank's") and drops other apostrophes ("don't").
func bare(w string) string {
	for _, poss := range []string{"'s", "’s"} {
		if head, ok := strings.CutSuffix(w, poss); ok && head != "" {
			w = head
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(w, "'", ""), "’", "")
}

func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
}

func single(w string) bool { return len(w) == 1 && (w[0] < '0' || w[0] > '9') }

// Stem is the Porter stem of a lower-case word, the one that FTS5 uses. Words
// that are not plain English letters stay as they are.
func Stem(w string) string {
	if len(w) < 3 || len(w) > 64 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	return string(porter.StemWithoutLowerCasing([]rune(w)))
}

// StopWord reports whether a lower-case word carries no content of its own.
func StopWord(w string) bool { return stop[w] }

var stop = set(`a about above after again all also am an and any are as at be because been before being below
between both but by can else cannot could did do does doing done down during each either etc for from further get had has have
having he her here hers him his how however i if in into is it its itself just let like many may me might more most much
must my near neither no nor not of off on once one only or other our ours out over own per please rather same shall she
should since so some such than that the their theirs them then there therefore these they this those though through thus to
too under until up upon us very was we were what whatever when where whether which while who whom whose why will with
within without would yet you your yours im ive dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt
wouldnt hasnt havent hadnt thats whats theres lets tell give show say says said explain describe know want need find`)

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
