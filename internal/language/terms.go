package language

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// TermsVersion is the version of the rules of Terms. Add one with each change of what texts are
// indexed by: documents with another version are indexed again.
const TermsVersion = 3

// Term is a word of a search, or a piece of one. Its forms are the terms of the index that it
// matches, the most likely first.
type Term struct {
	Forms []string
	// Whole: the forms stand for the whole word, as xr200 does for "XR-200", and not for a
	// piece of it.
	Whole bool
}

// Index returns the terms by which a text of a language is found, in order, with repeats. They
// consist of letters, marks and digits, and need no further splitting: the folded stems of the
// words; the words themselves if they have accents; numbers without what groups their digits;
// codes and telephone numbers in one piece; and, in scripts without spaces, pairs of characters.
func Index(text, lang string) []string {
	t := tokenizer{langs: []string{lang}, indexing: true}
	t.read(text)
	return t.terms
}

// Query returns the terms that a word of a search may match in texts of some languages. The
// word may consist of pieces, such as "XR-200", "1,190.00" or 出差住宿.
func Query(word string, langs []string) []Term {
	t := tokenizer{langs: langs}
	t.read(word)
	return t.queried
}

// TermsOf returns the terms of a text as a set, without English stop words.
func TermsOf(text, lang string) Set {
	t := tokenizer{langs: []string{lang}, indexing: true, content: lang == "" || lang == "en"}
	t.read(text)
	s := make(Set, len(t.terms))
	for _, w := range t.terms {
		s[w] = true
	}
	return s
}

// kind is the kind of a piece of a text.
type kind int

const (
	kindGap       kind = iota
	kindWord           // of letters, or of letters and digits
	kindDigits         // a number
	kindDense          // of a script without spaces
	kindHangul         // Korean
	kindInvisible      // part of the word around it
)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case '0' <= r && r <= '9':
			return kindDigits
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return kindWord
		}
		return kindGap
	case r == '\u00ad', r == '\u200c', r == '\u200d', r == '\u2060', r == 'ـ':
		return kindInvisible
	case IsDense(r):
		return kindDense
	case unicode.Is(unicode.Hangul, r):
		return kindHangul
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		return kindWord
	}
	return kindGap
}

// IsDense reports whether a character belongs to a script that puts no spaces between words.
func IsDense(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r <= 0xeff: // Thai and Lao
	case r >= 0x1000 && r <= 0x109f, r >= 0xaa60 && r <= 0xaa7f, r >= 0xa9e0 && r <= 0xa9ff: // Burmese
	case r >= 0x1780 && r <= 0x17ff: // Khmer
	case r == 'ー', r == '々', r == '〇':
	default:
		return IsIdeograph(r)
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// piece is a run of characters of one kind.
type piece struct {
	kind       kind
	text       string
	start, end int // bytes
}

const (
	longestTerm = 120 // bytes
	mostPieces  = 9   // of a number or a code
)

type tokenizer struct {
	langs    []string
	indexing bool
	content  bool // leaves out English stop words

	text    string
	recent  []piece // that may belong together
	terms   []string
	queried []Term
}

func (t *tokenizer) read(text string) {
	t.text = composed(text)
	if t.indexing {
		t.terms = make([]string, 0, len(t.text)/4)
	}
	for at := 0; at < len(t.text); {
		p := t.next(at)
		if p.end == at { // a gap
			_, size := utf8.DecodeRuneInString(t.text[at:])
			at += size
			continue
		}
		at = p.end
		if n := len(t.recent); n > 0 && !t.joins(t.recent[n-1], p) {
			t.flush()
		}
		t.recent = append(t.recent, p)
	}
	t.flush()
}

// next returns the piece that begins at a byte; an empty one if there is a gap.
func (t *tokenizer) next(at int) piece {
	p := piece{start: at, end: at}
	for p.end < len(t.text) && isPlain(t.text[p.end]) { // most words
		p.end++
	}
	if p.end > at && (p.end == len(t.text) || t.text[p.end] < utf8.RuneSelf && kindOf(rune(t.text[p.end])) == kindGap && t.text[p.end] != '\'' && t.text[p.end] != '`') {
		p.kind, p.text = kindWord, t.text[at:p.end]
		return p
	}
	p.end = at
	for p.end < len(t.text) && '0' <= t.text[p.end] && t.text[p.end] <= '9' { // most numbers
		p.end++
	}
	if p.end > at && (p.end == len(t.text) || t.text[p.end] < utf8.RuneSelf && kindOf(rune(t.text[p.end])) == kindGap) {
		p.kind, p.text = kindDigits, t.text[at:p.end]
		return p
	}
	p.end = at
	clean := true
	for i, r := range t.text[at:] {
		k := kindOf(r)
		switch {
		case k == kindInvisible && p.kind != kindGap:
			clean = false
		case at+i < p.end: // within a line end
			continue
		case k == kindGap && p.kind == kindDense && lineEnd(t.text[at+i:]) > 0:
			clean = false
			p.end = at + i + lineEnd(t.text[at+i:])
			continue
		case k == kindGap && p.kind == kindWord && isApostrophe(r) && startsLetter(t.text[at+i+utf8.RuneLen(r):]):
		case k == kindGap || k == kindInvisible:
			return t.cut(p, clean)
		case p.kind == kindGap:
			p.kind = k
		case k == kindWord && p.kind == kindWord && changesDirection(t.text[at:at+i], r): // Arabic and Hebrew put no space after "and", or before a word of theirs
			return t.cut(p, clean)
		case k == p.kind, k == kindDigits && p.kind == kindWord, k == kindWord && unicode.IsMark(r):
		case k == kindWord && p.kind == kindDigits: // 5a
			p.kind = kindWord
		default:
			return t.cut(p, clean)
		}
		p.end = at + i + utf8.RuneLen(r)
	}
	return t.cut(p, clean)
}

// lineEnd returns the length of the line end, and the spaces around it, with which a text begins, if a script
// without spaces goes on in the next line: a word may be broken there. Otherwise it returns 0.
func lineEnd(text string) int {
	rest, found := strings.CutPrefix(strings.TrimLeft(text, " \t"), "\n")
	rest = strings.TrimLeft(rest, " \t")
	if next, _ := utf8.DecodeRuneInString(rest); !found || !IsDense(next) {
		return 0
	}
	return len(text) - len(rest)
}

// changesDirection reports whether of the letters before r and r itself one is Latin and the other
// one is of a script that is written from right to left.
func changesDirection(before string, r rune) bool {
	if r < utf8.RuneSelf && before[len(before)-1] < utf8.RuneSelf { // most letters
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsLetter(last) && unicode.IsLetter(r) && isFromRight(last) != isFromRight(r) && (unicode.Is(unicode.Latin, last) || unicode.Is(unicode.Latin, r))
}

func isFromRight(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc
}

func isPlain(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func (t *tokenizer) cut(p piece, clean bool) piece {
	p.text = t.text[p.start:p.end]
	if !clean {
		p.text = strings.Map(func(r rune) rune {
			if k := kindOf(r); k == kindInvisible || k == kindGap && p.kind == kindDense {
				return -1
			}
			return r
		}, p.text)
	}
	return p
}

func isApostrophe(r rune) bool {
	return r == '\'' || r == '’' || r == '‘' || r == '`' || r == '´' || r == '׳' || r == '״'
}

func startsLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) && !IsDense(r)
}

// joins reports whether two neighbouring pieces may be parts of one number or code.
func (t *tokenizer) joins(a, b piece) bool {
	if a.kind > kindDigits || b.kind > kindDigits || b.start-a.end > 3 {
		return false
	}
	between := t.text[a.end:b.start]
	switch between {
	case "-", "‐", "‑":
		return true
	case " ", "/", ".", ",", "'", "’", " / ", " - ", ") ", " (", ")", "(", "·":
		return hasDigit(a.text) && hasDigit(b.text) || between == " " && b.kind == kindDigits && isCode(a.text)
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// isCode reports whether a word consists of a few capital letters, as in "ISO 9001".
func isCode(s string) bool {
	if len(s) > 5 {
		return false
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// flush adds the terms of the recent pieces: of what they are together, and of each.
func (t *tokenizer) flush() {
	whole := false
	if len(t.recent) > 1 && len(t.recent) <= mostPieces {
		whole = t.together()
	}
	for _, p := range t.recent {
		switch {
		case whole && !t.indexing && p.kind == kindDigits && len(p.text) < 4: // 1 and 190 of "1,190" say nothing
		case p.kind == kindDense:
			t.pairs(p.text)
		case p.kind == kindHangul:
			t.korean(p.text)
		case p.kind == kindDigits:
			t.addPiece(p.text)
			t.paragraph(p)
		case t.content && stopWords[lower(p.text, "")]:
		default:
			t.add(false, t.forms(p.text)...)
			t.paragraph(p)
		}
	}
	t.recent = t.recent[:0]
}

// paragraph adds the term of § 5 or § 5a for its number.
func (t *tokenizer) paragraph(p piece) {
	if !strings.HasSuffix(strings.TrimRight(t.text[:p.start], " "), "§") {
		return
	}
	letter := strings.TrimLeft(p.text, "0123456789")
	if len(letter) > 1 || len(letter) == len(p.text) || len(p.text) > 5 || !isASCII(p.text) {
		return
	}
	t.add(true, "par"+strings.ToLower(p.text))
}

// add adds a term with its forms.
func (t *tokenizer) add(whole bool, forms ...string) {
	if slices.ContainsFunc(forms, func(f string) bool { return len(f) > longestTerm }) {
		forms = slices.Clone(forms)
		for i, f := range forms {
			forms[i] = Head(f, longestTerm)
		}
	}
	if t.indexing {
		t.terms = append(t.terms, forms...)
	} else if len(forms) > 0 {
		t.queried = append(t.queried, Term{Forms: forms, Whole: whole})
	}
}

// addPiece adds a piece of a number.
func (t *tokenizer) addPiece(digits string) {
	if t.indexing && len(digits) <= longestTerm {
		t.terms = append(t.terms, digits)
	} else {
		t.add(false, digits)
	}
}

// together adds what the recent pieces are together: a number, or a code. It reports whether
// they are a number, of which the pieces alone say nothing.
func (t *tokenizer) together() bool {
	if forms := t.number(); forms != nil {
		t.add(true, forms...)
		return true
	}
	var joined strings.Builder
	digits, words := 0, 0
	for _, p := range t.recent {
		joined.WriteString(p.text)
		if p.kind == kindDigits {
			digits += len(p.text)
		} else {
			words++
		}
	}
	const shortest, longest = 6, 34 // characters of a number in several pieces
	switch {
	case words == 0 && (digits < shortest || digits > longest), joined.Len() > longestTerm:
		return false
	}
	t.add(true, t.newForms(joined.String())...)
	return false
}

// number returns the forms of a number that the recent pieces write with separators; nil if
// they are something else. 1,190.00, 1.190,00 and 1 190 all have the form 1190. 4.2 and 4,2 have
// the form 4d2, and so on for 4.2.1.
func (t *tokenizer) number() (forms []string) {
	pieces := t.recent
	for _, p := range pieces {
		if p.kind != kindDigits {
			return nil
		}
	}
	separator := func(i int) string {
		if s := t.text[pieces[i-1].end:pieces[i].start]; s != "’" {
			return s
		}
		return "'"
	}
	last := len(pieces) - 1
	groups := 1 // pieces of the whole part
	for i := 1; i <= last && separator(i) == separator(1) && strings.Contains(".,' ", separator(i)); i++ {
		if n := len(pieces[i].text); n != 3 && !(n == 2 && i < last && separator(1) == ",") {
			break
		}
		groups++
	}
	first := pieces[0].text
	grouped := groups > 1 && len(first) <= 3 && first[0] != '0' && len(pieces[groups-1].text) == 3
	decimals := ""
	switch {
	case grouped && groups == last && separator(last) != separator(1) && strings.Contains(".,", separator(last)):
		decimals = pieces[last].text
	case grouped && groups == last+1:
	case last <= 3 && !slices.ContainsFunc(pieces[1:], func(p piece) bool { return len(p.text) > 4 }):
		grouped = false
	default:
		return nil
	}
	if !grouped {
		parts := []string{first}
		for i := 1; i <= last; i++ {
			if s := separator(i); s != "." && (s != "," || last > 1) {
				return nil
			}
			parts = append(parts, pieces[i].text)
		}
		return []string{strings.Join(parts, "d")}
	}
	var whole strings.Builder
	for _, p := range pieces[:groups] {
		whole.WriteString(p.text)
	}
	forms = []string{whole.String()}
	if decimals != "" {
		forms = append(forms, whole.String()+"d"+decimals)
		if !t.indexing && strings.Trim(decimals, "0") != "" {
			forms = forms[1:]
		}
	}
	if groups == 2 && last == 1 && separator(1) == "." { // or a decimal fraction
		forms = append(forms, first+"d"+pieces[1].text)
	}
	return forms
}

// forms returns the forms of a word. The caller must not change them.
func (t *tokenizer) forms(w string) (forms []string) {
	if len(w) > longestTerm {
		w = Head(w, longestTerm)
	}
	if !t.indexing {
		return t.newForms(w)
	}
	if known, ok := recentForms.get(t.langs[0], w); ok {
		return known
	}
	forms = t.newForms(w)
	recentForms.put(t.langs[0], strings.Clone(w), forms)
	return forms
}

func (t *tokenizer) newForms(w string) (forms []string) {
	if !strings.ContainsFunc(w, isApostrophe) {
		return t.formsOf(forms, w)
	}
	parts := strings.FieldsFunc(w, isApostrophe)
	if n := len(parts); n > 1 && (parts[n-1] == "s" || parts[n-1] == "S") { // a possessive
		parts = parts[:n-1]
	}
	for i, p := range parts { // l'assurance, O'Brien, Ankara'da
		if len(parts) == 1 || utf8.RuneCountInString(p) > 1 && (i == len(parts)-1 || !elided[lower(p, "")]) {
			forms = t.formsOf(forms, p)
		}
	}
	if len(parts) > 1 {
		forms = t.formsOf(forms, strings.Join(parts, ""))
	}
	return forms
}

// elided are articles and other words that lose their vowel before another one.
var elided = lists.Set("elided")

// formsOf appends the forms of a word without apostrophes: its stems, and if it has accents,
// the word without them and with letters for them.
func (t *tokenizer) formsOf(forms []string, w string) []string {
	add := func(form string) {
		if form != "" && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	ascii := isASCII(w)
	for _, lang := range t.langs {
		low := lower(w, lang)
		add(StemIn(low, lang))
		if ascii {
			continue
		}
		add(Fold(low))
		if withSpelledOut[lang] || lang == "" {
			if spelled := spelledOut.Replace(low); spelled != low {
				add(StemIn(spelled, lang))
			}
		}
	}
	if ascii && !t.indexing {
		add(strings.ToLower(w)) // a word with accents is also indexed without them
	}
	return forms
}

// formCache keeps the forms of words of texts, which recur.
type formCache struct {
	mu    sync.RWMutex
	words map[string]map[string][]string // by language
	size  int
}

var recentForms formCache

const maxRecentForms = 30_000 // for about 4 MB

func (c *formCache) get(lang, w string) ([]string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	forms, ok := c.words[lang][w]
	return forms, ok
}

func (c *formCache) put(lang, w string, forms []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil || c.size >= maxRecentForms {
		c.words, c.size = map[string]map[string][]string{}, 0
	}
	if c.words[lang] == nil {
		c.words[lang] = map[string][]string{}
	}
	c.words[lang][w] = forms
	c.size++
}

// pairs adds the pairs of characters of a run in a script without spaces, which stand for the
// words in it.
func (t *tokenizer) pairs(run string) {
	clusters := clustersOf(Fold(run))
	for _, c := range clusters {
		if r, _ := utf8.DecodeRuneInString(c); len(clusters) == 1 || t.indexing && unicode.Is(unicode.Han, r) {
			t.add(false, c)
		}
	}
	for i := 0; i+1 < len(clusters); i++ {
		t.add(false, clusters[i]+clusters[i+1])
	}
}

// clustersOf cuts a text into characters with their marks.
func clustersOf(s string) []string {
	var out []string
	bound := false // the last mark binds the next letter
	for i, r := range s {
		if n := len(out); n > 0 && (unicode.IsMark(r) || bound) {
			out[n-1] += s[i : i+utf8.RuneLen(r)]
		} else {
			out = append(out, s[i:i+utf8.RuneLen(r)])
		}
		bound = r == 0x17d2 || r == 0x1039 // Khmer coeng, Burmese virama
	}
	return out
}

// korean adds the pairs of syllables of a word, because Korean writes compounds in one word.
// Those of a search do without the particle; the last syllable of a short word may be one.
func (t *tokenizer) korean(w string) {
	w = Fold(w)
	stem := stripKorean(w)
	switch syllables := clustersOf(w); {
	case len(clustersOf(stem)) > 1 && t.indexing, len(syllables) == 1:
		t.pairs(w)
	case len(clustersOf(stem)) > 1:
		t.pairs(stem)
	default:
		t.add(false, syllables[0]+syllables[1], stem)
	}
}
