package language

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

//go:embed irregular.txt
var irregularFile string

//go:embed equivalents.txt
var equivalentsFile string

// maxPhrase is the maximum number of words of an entry of equivalents.txt.
const maxPhrase = 5

// equivalents maps the stems of each entry of equivalents.txt to the single words of the
// entry's groups.
var equivalents = sync.OnceValue(func() map[string][]string {
	groups := map[string][]string{}
	for line := range strings.Lines(equivalentsFile) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var entries, single []string
		for entry := range strings.SplitSeq(line, ",") {
			words := Words(entry)
			entries = append(entries, phraseKey(words))
			if len(words) == 1 {
				single = append(single, words[0])
			}
		}
		for _, key := range entries {
			groups[key] = append(groups[key], single...)
		}
	}
	return groups
})

// phraseKey joins the stems of words with spaces.
func phraseKey(words []string) string {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = Stem(w)
	}
	return strings.Join(stems, " ")
}

// Equivalents returns everyday words with the same meaning as words of a text, by the stem
// of the word that they stand for. Those of a phrase ("time off") are listed under its last
// word that is no stop word.
func Equivalents(text string) map[string][]string {
	groups := equivalents()
	words := Words(text)
	out := map[string][]string{}
	at := "" // the stem of the last content word
	for end, last := range words {
		if !IsStopWord(last) {
			at = Stem(last)
		}
		for n := 1; n <= min(maxPhrase, end+1); n++ {
			for _, w := range groups[phraseKey(words[end+1-n:end+1])] {
				if at != "" && Stem(w) != at {
					out[at] = append(out[at], w)
				}
			}
		}
	}
	for stem, list := range out {
		out[stem] = Distinct(list)
	}
	return out
}

// ending is an ending of words that British and American English spell differently. least is
// the minimum number of bytes before it.
type ending struct {
	british, american string
	least             int
}

var endings = func() (all []ending) {
	for line := range strings.Lines(lists.text("endings")) {
		f := strings.Fields(line)
		least, _ := strconv.Atoi(f[2])
		all = append(all, ending{f[0], f[1], least})
	}
	return all
}()

// spelledApart are British words, with their American spelling, that no rule of endings
// covers.
var spelledApart = lists.Pairs("spelled apart")

var spelledApartUS = func() map[string]string {
	m := map[string]string{}
	for british, american := range spelledApart {
		m[american] = british
	}
	return m
}()

// OtherSpellings returns the British spellings of an American lower-case word and the
// reverse. It follows rules, so some results are not words.
func OtherSpellings(w string) []string {
	out := otherYears(w)
	for _, list := range []map[string]string{spelledApart, spelledApartUS} {
		if other, ok := list[w]; ok {
			out = append(out, other)
		}
	}
	for _, s := range endings {
		for _, d := range [2][2]string{{s.british, s.american}, {s.american, s.british}} {
			if head, ok := strings.CutSuffix(w, d[0]); ok && len(head) >= s.least {
				out = append(out, head+d[1])
			}
		}
	}
	return Distinct(out)
}

var fiscalYear = lazyregexp.New(`^(?:fy|cy|gj)((?:19|20)?\d\d)$`)

// otherYears returns other ways to write a year: FY18 and FY2018 for 2018, and the reverse.
func otherYears(w string) []string {
	if m := fiscalYear.FindStringSubmatch(w); m != nil {
		if len(m[1]) == 2 {
			return []string{"20" + m[1]}
		}
		return []string{m[1]}
	}
	if yearOrVersion.MatchString(w) && w[0] != 'v' {
		return []string{"fy" + w, "fy" + w[2:]}
	}
	return nil
}

// Joined returns what names may write as one word: "bestbuy" for the words "best" and "buy"
// beside each other, by each of these words that says something.
func Joined(text string) map[string][]string {
	const most = 3
	words, out := Words(text), map[string][]string{}
	for i := range words {
		for j := i + 2; j <= min(i+most, len(words)); j++ {
			if IsStopWord(words[i]) && len(words[i]) > 1 || IsStopWord(words[j-1]) && len(words[j-1]) > 1 {
				continue
			}
			joined := strings.Join(words[i:j], "")
			for _, w := range words[i:j] {
				if !IsStopWord(w) && len(w) > 1 {
					out[w] = append(out[w], joined)
				}
			}
		}
	}
	return out
}

// irregular maps each word of irregular.txt to the other words of its groups.
var irregular = sync.OnceValue(func() map[string][]string {
	forms := map[string][]string{}
	for line := range strings.Lines(irregularFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		group := strings.Fields(line)
		for i, w := range group {
			forms[w] = append(append(forms[w], group[:i]...), group[i+1:]...)
		}
	}
	return forms
})

// OtherForms returns the other forms of an irregular word. It also looks up the word's
// stem, so that "shows" has "shown".
func OtherForms(w string) []string {
	if forms := irregular()[w]; forms != nil {
		return forms
	}
	return irregular()[Stem(w)]
}
