package offline

import (
	"cmp"
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

//go:embed tables.txt
var tableWords string

// phrases are the lists of tables.txt as patterns, by name.
var phrases = sync.OnceValue(func() map[string]*lazyregexp.Regexp {
	out := map[string]*lazyregexp.Regexp{}
	for name, list := range language.ReadLists(tableWords) {
		var entries []string
		for e := range strings.SplitSeq(list, "|") {
			if e = strings.TrimSpace(e); e != "" {
				entries = append(entries, e)
			}
		}
		slices.SortFunc(entries, func(a, b string) int { return len(b) - len(a) })
		for i, e := range entries {
			before, open := strings.CutSuffix(e, "*")
			if entries[i] = regexp.QuoteMeta(before); open {
				entries[i] += `\pL*`
			}
		}
		out[name] = lazyregexp.New(`(?:` + strings.Join(entries, "|") + `)`)
	}
	return out
})

// is reports whether a text is one of the entries of a list.
func is(list, text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	m := phrases()[list].FindStringIndex(text)
	return m != nil && m[0] == 0 && m[1] == len(text)
}

// span is a range of bytes of a question.
type span struct{ start, end int }

func (s span) has(at int) bool { return s.start <= at && at < s.end }

// find returns the places of the entries of a list in a text of small letters, as whole words.
func find(list, text string) (out []span) {
	if phrases()[list] == nil { // a dimension without an adjective
		return nil
	}
	for _, m := range phrases()[list].FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:m[0]])
		after, _ := utf8.DecodeRuneInString(text[m[1]:])
		first, _ := utf8.DecodeRuneInString(text[m[0]:])
		last, _ := utf8.DecodeLastRuneInString(text[:m[1]])
		if !(letterOrDigit(before) && letterOrDigit(first)) && !(letterOrDigit(after) && letterOrDigit(last)) {
			out = append(out, span{m[0], m[1]})
		}
	}
	return out
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// word is a word of a question.
type word struct {
	text  string // in small letters
	stems language.Set
	at    int
	// filler words say nothing about what is asked.
	filler bool
	// name: it is written as one, with a capital within the question.
	name bool
}

func (w word) end() int { return w.at + len(w.text) }

// tableQuestion is a question as the search in tables reads it.
type tableQuestion struct {
	text    string // in small letters
	words   []word
	said    map[string][]span // places of the lists of tables.txt
	years   []int             // in their order
	figures []figures.Figure
	days    []figures.Day
	now     time.Time
	voice   voice // of the answer
}

var wordPattern = lazyregexp.New(`[\pL\pN\pM]+`)

func readQuestion(text, lang string, now time.Time) tableQuestion {
	q := tableQuestion{text: strings.ToLower(text), said: map[string][]span{}, now: now}
	asked := language.NewSet(strings.Join(language.AskedWords(text), " "))
	for w := range maps.Clone(asked) { // codes of several pieces
		for _, part := range language.Words(w) {
			asked[part] = true
		}
	}
	for _, m := range wordPattern.FindAllStringIndex(q.text, -1) {
		w := word{text: q.text[m[0]:m[1]], at: m[0]}
		w.stems = stemsOf(w.text, lang)
		first, _ := utf8.DecodeRuneInString(text[min(m[0], len(text)):])
		w.name = len(q.words) > 0 && lang != "de" && unicode.IsUpper(first)
		w.filler = language.IsStopWord(w.text) || !asked[w.text]
		q.words = append(q.words, w)
	}
	for name := range phrases() {
		q.said[name] = find(name, q.text)
	}
	q.years = yearsIn(q.text)
	for _, f := range figures.Find(text) {
		switch {
		case !f.Day.IsZero():
			q.days = append(q.days, f.Day)
		case f.IsYear():
		default:
			q.figures = append(q.figures, f)
		}
	}
	for _, list := range []string{"not", "except"} { // "non-vested" is a name
		q.said[list] = slices.DeleteFunc(q.said[list], func(s span) bool { return strings.HasPrefix(q.text[s.end:], "-") })
	}
	q.readComparisons()
	for _, list := range operations { // "at most 500" asks for no maximum
		q.said[list] = slices.DeleteFunc(q.said[list], func(s span) bool {
			return slices.ContainsFunc(slices.Concat(q.said["above"], q.said["below"]), func(b span) bool {
				return b.start <= s.start && s.end <= b.end && slices.ContainsFunc(q.figures, func(f figures.Figure) bool { return follows(b, f) })
			})
		})
	}
	if m := yearRange.FindStringSubmatch(q.text); m != nil && (q.says("average") || q.says("sum") || q.says("max") || q.says("min")) {
		from, _ := strconv.Atoi(m[1]) // digits
		to, _ := strconv.Atoi(m[2])
		for y := min(from, to) + 1; y < max(from, to); y++ {
			q.years = append(q.years, y)
		}
	}
	return q
}

// readComparisons reads "less stock than": the words around what is compared. "plus petit que" is less.
func (q tableQuestion) readComparisons() {
	const longest = 40 // bytes between the two words
	for _, than := range q.said["than"] {
		for list, bound := range map[string]string{"more": "above", "less": "below"} {
			for _, s := range q.said[list] {
				if s.end < than.start && than.start-s.end <= longest && than.start-s.end > 1 {
					if slices.ContainsFunc(q.said["little"], func(l span) bool { return l.start > s.end && l.end < than.start }) {
						bound = map[string]string{"above": "below", "below": "above"}[bound]
					}
					q.said[bound] = append(q.said[bound], than)
					q.said["compares"] = append(q.said["compares"], s)
				}
			}
		}
	}
}

// comparesOtherwise reports whether a figure is compared in words that are not understood: "closer than 5" or
// "more than the usual 5". No column has to be equal to it.
func (q tableQuestion) comparesOtherwise() bool {
	const farthest = 40 // bytes between "than" and the figure
	for _, than := range q.said["than"] {
		before := strings.TrimSpace(q.text[:than.start])
		if q.text[than.start:than.end] != "than" && !strings.HasSuffix(before, "er") {
			continue
		}
		understood := slices.ContainsFunc(slices.Concat(q.said["above"], q.said["below"], q.said["before"], q.said["after"]), func(b span) bool {
			return b.start <= than.start && than.end <= b.end
		})
		for _, f := range q.figures {
			if f.Start >= than.end && f.Start-than.end <= farthest {
				if !understood || !follows(than, f) {
					return true
				}
				break
			}
		}
	}
	return false
}

// operations are the lists of what is asked of many rows, the first that is said first.
var operations = []string{"count", "average", "max", "min", "last day", "first day", "sum"}

// follows reports whether a figure stands right behind "more than" or the like.
func follows(bound span, f figures.Figure) bool {
	return f.Start >= bound.end && f.Start-bound.end <= 6
}

// limit is an amount that something is above (sign 1) or below (sign -1), or that it has exactly (sign 0).
type limit struct {
	figures.Figure
	sign  float64
	equal bool   // the amount itself is no exception
	words []span // that say so
}

func (l limit) holds(v, bound float64) bool { return l.sign*v > l.sign*bound || l.equal && v == bound }

// limits returns the amounts that a question sets as limits: "more than 500", "at most 20", and "negative" unless
// that is a word of the table.
func (q tableQuestion) limits(t *openTable) (out []limit) {
	for _, f := range q.figures {
		for _, list := range []string{"above", "below", "exactly"} {
			for _, s := range q.said[list] {
				if follows(s, f) {
					equal := list == "exactly" || is("or equal", q.text[s.start:s.end])
					out = append(out, limit{f, signs[list], equal, []span{s, {f.Start, f.End}}})
				}
			}
		}
	}
	for _, list := range []string{"positive", "negative"} {
		if len(q.said[list]) == 0 || t.has(list) {
			continue
		}
		for _, s := range q.said[list] {
			l := limit{figures.Figure{Text: "0", Values: []float64{0}, Scale: 1}, signs[list], false, []span{s}}
			if not := q.endsAt("not", s.start); not.end > 0 {
				l.sign, l.equal, l.words = -l.sign, true, append(l.words, not)
			}
			out = append(out, l)
		}
	}
	return out
}

var signs = map[string]float64{"above": 1, "positive": 1, "below": -1, "negative": -1}

// has reports whether a name or a text of a table has an entry of a list.
func (t openTable) has(list string) bool {
	return slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return anyIs(list, c.Name) }) ||
		slices.ContainsFunc(t.Rows, func(row tables.Row) bool {
			return slices.ContainsFunc(row.Cells, func(c tables.Cell) bool { return !c.IsNumber && anyIs(list, c.Text) })
		})
}

// spellApart writes the compounds of a question as two words if the last of them is in the name of
// a column, and the first is one of the table's own words, a place of stock, or says what to do with
// the column: "Gesamtbestand" asks for the total of "Bestand".
func spellApart(question string, t *openTable) string {
	if !language.Compounding(t.lang) {
		return question
	}
	own := language.NewSet(strings.Join(language.Words(t.title+" "+t.Heading+" "+t.Caption), " "))
	for _, c := range t.Columns {
		for _, w := range language.Words(c.Name) {
			own[w] = true
		}
	}
	known := func(first string) bool {
		for _, part := range []string{first, strings.TrimSuffix(first, "s"), strings.TrimSuffix(first, "n"), strings.TrimSuffix(first, "en")} {
			if slices.ContainsFunc(append([]string{"in stock", "thing"}, operations...), func(list string) bool { return is(list, part) }) || own[part] {
				return true
			}
		}
		return false
	}
	return wordPattern.ReplaceAllStringFunc(question, func(x string) string {
		low := strings.ToLower(x)
		for w := range own {
			if sameWord(w, low, t.lang) {
				return x
			}
		}
		if len(low) != len(x) {
			return x
		}
		for at := range low {
			first, last := low[:at], low[at:]
			if utf8.RuneCountInString(last) >= leastPart && known(first) && slices.ContainsFunc(t.Columns, func(c tables.Column) bool {
				return slices.ContainsFunc(language.Words(c.Name), func(w string) bool {
					return sameWord(w, last, t.lang) || endsWith(w, last, t.lang)
				})
			}) {
				if is("in stock", first) {
					return x[at:]
				}
				return x[:at] + " " + x[at:]
			}
		}
		return x
	})
}

const leastPart = 4 // characters of a part of a compound

// sameWord reports whether two words are forms of one. Scandinavian nouns have their article as an ending.
func sameWord(a, b, lang string) bool {
	if language.StemIn(a, lang) == language.StemIn(b, lang) {
		return true
	}
	if lang != "sv" && lang != "da" && lang != "no" {
		return false
	}
	return slices.ContainsFunc([]string{"et", "en", "t", "n"}, func(article string) bool {
		return a == b+article || b == a+article
	})
}

// endsWith reports whether a word is a compound that ends with another one, in any of its forms.
func endsWith(compound, head, lang string) bool {
	stem := language.StemIn(head, lang)
	at := strings.LastIndex(compound, stem)
	return at >= leastPart-1 && len(stem) >= leastPart && sameWord(compound[at:], head, lang)
}

// yearRange matches "from 2017 to 2019".
var yearRange = lazyregexp.New(`\b((?:19|20)\d\d)\s*(?:-|–|to|and|through|until|bis|und|à|et|a|y|tot|en)\s*((?:19|20)\d\d)\b`)

// stemsOf returns the forms by which a word is compared: in English and in the language of the
// table. "Sun" is "Sunday".
func stemsOf(w, lang string) language.Set {
	stems := language.Set{w: true, language.Stem(w): true, language.StemIn(w, lang): true}
	if day := cmp.Or(weekdays()[w], weekdays()[strings.TrimSuffix(w, "s")]); day != "" {
		stems[day] = true
	}
	return stems
}

// weekdays are the names of the days of the week in all languages, also short ones, with the name of their list.
var weekdays = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for name, list := range language.ReadLists(tableWords) {
		if strings.HasPrefix(name, "weekday ") {
			for e := range strings.SplitSeq(list, "|") {
				out[strings.TrimSpace(e)] = name
			}
		}
	}
	return out
})

func (q tableQuestion) says(list string) bool { return len(q.said[list]) > 0 }

// match returns the words of the question that all of the words of a text are; nil if one of them
// is missing. Fillers of the text need not be there.
func (q tableQuestion) match(text, lang string) (used []int) {
	for _, w := range language.Words(text) {
		i := q.index(w, lang)
		switch {
		case i >= 0:
			used = append(used, i)
		case !language.IsStopWord(w):
			return nil
		}
	}
	if !slices.ContainsFunc(used, func(i int) bool {
		return !q.words[i].filler || len(used) == 1 && q.words[i].text == strings.ToLower(strings.TrimSpace(text)) && hasDigitOrUpper(text)
	}) {
		return nil
	}
	return used
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

func hasDigitOrUpper(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) }) && len(s) > 1
}

// some returns the words of the question that are in a text, without fillers.
func (q tableQuestion) some(text, lang string) (used []int) {
	for _, w := range language.Words(text) {
		if i := q.index(w, lang); i >= 0 && !q.words[i].filler {
			used = append(used, i)
		}
	}
	return used
}

// column returns the words of the question that are in the name of a column, or that a compound in
// it ends with: "Preis" in "Stückpreis". "Year" in "In which year" names none.
func (q tableQuestion) column(name, lang string) []int {
	period := q.in(q.said["period"])
	used := q.some(name, lang)
	if len(used) == 0 && language.Compounding(lang) {
		for _, w := range language.Words(name) {
			for i, x := range q.words {
				if !x.filler && endsWith(w, x.text, lang) {
					used = append(used, i)
				}
			}
		}
	}
	return slices.DeleteFunc(used, func(i int) bool { return slices.Contains(period, i) })
}

// index returns the word of the question that is w; -1 if there is none. The first part of a
// compound is the word: "Rechnungen" in "Rechnungsnummer".
func (q tableQuestion) index(w, lang string) int {
	stems := stemsOf(w, lang)
	for i, x := range q.words {
		for s := range x.stems {
			if stems[s] {
				return i
			}
		}
	}
	if language.Compounding(lang) {
		const least = 5 // bytes of a part of a compound
		for i, x := range q.words {
			if stem := language.StemIn(x.text, lang); len(stem) >= least && !x.filler && strings.HasPrefix(w, stem) || sameWord(w, x.text, lang) {
				return i
			}
		}
	}
	return -1
}

// in returns the words that lie in one of the spans.
func (q tableQuestion) in(spans []span) (used []int) {
	for i, w := range q.words {
		if slices.ContainsFunc(spans, func(s span) bool { return s.has(w.at) }) {
			used = append(used, i)
		}
	}
	return used
}

var parts = lazyregexp.New(`(?i)[?？;]\s+(?:(?:and|und|et|y|en)\s+)?|,?\s+(?:and|und|et|y|en)\s+`)

var opensQuestion = lazyregexp.New(`(?i)^(?:what|which|who|when|where|why|how|is|are|do|does|was|were|list|show|was|welche\w*|wer|wann|wo|wie|warum|quels?|quelles?|qui|quand|où|comment|combien|qué|quién|cuá\w+|cuándo|dónde|cómo|wat|welke|wie|wanneer|waar|hoe\w*)\b`)

// Parts cuts a question that has several parts into them: sentences with a question mark, and
// what follows "and" if it is a question of its own. Parts that are no question belong to the
// part before them.
func Parts(question string) []string {
	question = strings.TrimSpace(question)
	var out []string
	from := 0
	for _, m := range parts.FindAllStringIndex(question, -1) {
		if m[1] < len(question) && opensQuestion.MatchString(question[m[1]:]) && opensQuestion.MatchString(strings.TrimSpace(question[from:m[0]])) {
			out = append(out, strings.TrimSpace(question[from:m[0]]))
			from = m[1]
		}
	}
	const most = 5
	if out = append(out, strings.TrimSpace(question[from:])); len(out) > most {
		return []string{question}
	}
	return out
}
