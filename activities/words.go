package activities

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the lower-case runs of letters and digits of a text; an apostrophe
// or hyphen inside a word splits it.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// connecting are words of a message that only mentions documents: verbs of the
// actions, prepositions, polite phrases, and nouns for a document. They add nothing to
// the action.
var connecting = set(`
summarize summarise summarizing summary summaries overview recap compare comparing comparison contrast
audit auditing check review verify inquire inquiry ask
a an the this these all both each of and or plus with to against versus vs between from in for on using
please kindly can could would you i we want like need me us let s lets do make give write create
document documents doc docs file files set sets`)

// documentNouns are common nouns for a document.
var documentNouns = set(`
document documents doc docs file files paper papers pdf text texts
policy policies circular circulars contract contracts agreement agreements regulation regulations
guideline guidelines guidance report reports email emails mail letter letters memo memos manual manuals
handbook handbooks standard standards act acts law laws rule rules rulebook directive directives notice notices
statement statements procedure procedures code framework brief note notes version versions draft drafts
attachment attachments addendum annex appendix book article articles publication whitepaper`)

// pointing are words by which a message refers to something said before.
var pointing = set(`
this that these those it its they them their he she both former latter same previous earlier above another other others
one ones first second third last again also`)

// determiners stand before a noun without naming it.
var determiners = set(`
a an the this that these those my our your his her its their any some each every all both other another same
two three four five six several many few
previous earlier above said such which what attached uploaded new old latest current recent of in on to for and or with`)

// common are words too frequent to tell documents or subjects apart.
var common = union(connecting, determiners, pointing, set(`
is are was were be been being am has have had does did done will shall should may might must can't
who whom whose where when why how what which there here then than so as at by about into over under after before
not no yes if but only just very much many more most less least few tell show explain describe list find get
say says said mean means know see want our ours yours mine he she him
regarding concerning according`))

func union(sets ...map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, s := range sets {
		for w := range s {
			out[w] = true
		}
	}
	return out
}

// onlyConnecting reports whether all words of text are connecting ones.
func onlyConnecting(text string) bool {
	return !slices.ContainsFunc(words(text), func(w string) bool { return !connecting[w] })
}

// contentWords are the words that carry a subject.
func contentWords(text string) []string {
	return slices.DeleteFunc(words(text), func(w string) bool { return common[w] })
}

// findName finds name in text at word bounds, ignoring case, from a byte offset on;
// -1 when it is not found.
func findName(text, name string, from int) (start, end int) {
	if name == "" {
		return -1, -1
	}
	for i := from; i < len(text); {
		if n, ok := foldPrefix(text[i:], name); ok && atWordBounds(text, i, i+n) {
			return i, i + n
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return -1, -1
}

// foldPrefix reports whether text begins with name, ignoring case, and the length of
// that prefix in bytes.
func foldPrefix(text, name string) (int, bool) {
	n := 0
	for _, want := range name {
		got, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || unicode.ToLower(got) != unicode.ToLower(want) {
			return 0, false
		}
		n += size
	}
	return n, true
}

// atWordBounds reports whether text[i:j] begins and ends at word bounds.
func atWordBounds(text string, i, j int) bool {
	wordish := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	first, _ := utf8.DecodeRuneInString(text[i:])
	last, _ := utf8.DecodeLastRuneInString(text[:j])
	after, _ := utf8.DecodeRuneInString(text[j:])
	return !(wordish(before) && wordish(first)) && !(wordish(last) && wordish(after))
}

// replaceNames replaces every name in text, with an @ before it, by mark. It begins
// with the longest names, because they may contain others.
func replaceNames(text string, names []string, mark string) string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	lower := strings.ToLower(text)
	for _, name := range names {
		if !strings.Contains(lower, strings.ToLower(name)) { // fast path
			continue
		}
		var out strings.Builder
		from := 0
		for {
			i, j := findName(text, name, from)
			if i < 0 {
				break
			}
			out.WriteString(strings.TrimSuffix(text[from:i], "@"))
			out.WriteString(mark)
			from = j
		}
		if from > 0 {
			out.WriteString(text[from:])
			text = out.String()
		}
	}
	return text
}

// truncate keeps the first n characters.
func truncate(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// unique keeps the first of each, in order.
func unique(ids []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, id := range ids {
		if id != "" && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
