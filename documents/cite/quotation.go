package cite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// closers are the marks that end a quotation, by the mark that begins it.
var closers = map[rune]string{
	'"':  `"`,
	'\'': `'`,
	'‘':  "’",
	'“':  "”",
	'„':  "“”",
	'«':  "»",
	'»':  "«»", // German and Danish books; Finnish and Swedish
	'”':  "”",  // Finnish and Swedish
	'「':  "」",
	'『':  "』",
}

// opens reports whether a mark between prev and next may begin a quotation. Some marks begin
// one in one language and end it in another.
func opens(mark, prev, next rune) bool {
	switch mark {
	case '"': // else an inch mark, or a closing mark without an opening one
		return !inWord(prev)
	case '»', '”', '\'', '‘': // else an apostrophe
		return (prev == 0 || unicode.IsSpace(prev) || strings.ContainsRune("([*_", prev)) && inWord(next)
	}
	return true
}

const (
	// minWords is the least number of words of a cited or block quotation that must be in a
	// source. Fewer words are a term, not a quotation.
	minWords = 3
	// minUncited is the same for another quotation: a term in quotation marks is often longer.
	minUncited = 5
	// maxName is the longest name of a thing, in words.
	maxName = 12
)

// stepQuotation holds a quotation back until it closes, and lets it through when a source
// has it, or when it is no quotation of a document. If not, it removes the quotation when it
// is cited or in a block quotation, and else only its marks.
func (f *Filter) stepQuotation(open rune, final bool) int {
	next, size := utf8.DecodeRuneInString(f.in[utf8.RuneLen(open):])
	switch {
	case size == 0 && !final:
		return 0
	case !opens(open, f.prev, next):
		return f.plain()
	case open == '\'' || open == '‘': // else 's avonds, '90s
		after, n := utf8.DecodeRuneInString(f.in[utf8.RuneLen(open)+size:])
		if n == 0 && !final {
			return 0
		}
		if !unicode.IsLetter(next) || !inWord(after) {
			return f.plain()
		}
	}
	n, undecided := closeQuotation(f.in, open, final)
	switch {
	case undecided:
		return 0
	case n == 0:
		return f.plain()
	}
	whole := f.in[:n]
	_, last := utf8.DecodeLastRuneInString(whole)
	quoted := whole[utf8.RuneLen(open) : n-last]
	ok, own := f.supported(quoted)
	if ok && words(quoted) >= minWords {
		f.quotes = append(f.quotes, quoted)
	}
	if !ok {
		cited := !f.uncited && (f.block || withoutMarkers(quoted) != quoted)
		if !cited {
			if cited, undecided = f.citedNext(f.in[n:], final); undecided {
				return 0
			}
		}
		switch {
		case cited:
			f.remove()
			return n
		case !f.uncited && open != '\'' && !f.isName(quoted): // else an apostrophe: the tenants' rights
			f.unquote(quoted)
			return n
		}
	}
	f.passQuoted(whole, own)
	return n
}

// remove writes Removed instead of a quotation.
func (f *Filter) remove() {
	f.write(Removed)
	f.track(']')
}

// unquote writes the words of a quotation without its marks, and records them.
func (f *Filter) unquote(quoted string) {
	quoted = strings.TrimSpace(quoted)
	first, _ := utf8.DecodeRuneInString(quoted)
	last, _ := utf8.DecodeLastRuneInString(f.out.String())
	switch {
	case f.indent && strings.ContainsRune("#>-+|=", first): // would begin a block of Markdown
		f.write("\\")
	case inWord(first) && inWord(last):
		f.write(" ")
	}
	begin := f.out.Len()
	f.passQuoted(quoted, false)
	f.unquoted = append(f.unquoted, place{begin, f.out.Len()})
}

// isName reports whether words in quotation marks are a term, a title or the name of a
// thing, not a quotation of a document.
func (f *Filter) isName(quoted string) bool {
	plain := withoutMarkers(quoted)
	n := words(plain)
	for _, r := range plain {
		if language.IsIdeograph(r) { // a word has about two
			n = (n + 1) / 2
			break
		}
	}
	switch {
	case n < minUncited:
		return true
	case n > maxName || strings.ContainsAny(plain, ".!?;\n。！？；"):
		return false
	}
	before := f.out.String()
	before = strings.ToLower(before[max(0, len(before)-maxMarker):])
	return naming.MatchString(before) || inTitleCase(plain)
}

// naming matches a text that ends with a word that is followed by a name.
var naming = regexp.MustCompile(`(?:(?:^|[^\pL])(?:called|named|titled|entitled|labell?ed|headed|known as|so-called|term|phrase|title|file|folder|heading|section|chapter|sheet|column|field|button|project|programme?|song|book|film|` +
	`genannt|sogenannten?|namens|heißt|heisst|lautet der titel|titel|begriff|datei|ordner|überschrift|abschnitt|kapitel|blatt|spalte|feld|projekt|` +
	`appelée?|nommée?|intitulée?|titre|terme|fichier|dossier|section|chapitre|colonne|projet|` +
	`llamad[oa]|titulad[oa]|denominad[oa]|título|término|archivo|carpeta|sección|capítulo|columna|proyecto)|` +
	`名为|名叫|叫做|称为|所谓|标题为|文件|术语|と呼ばれる|という名前の|タイトル|ファイル|用語)[\s*_(（]*$`)

// inTitleCase reports whether every long word begins with a capital letter or a digit, as
// in the title of a book.
func inTitleCase(s string) bool {
	const long = 4 // characters; shorter words are small in titles
	capitals := 0
	for i, w := range strings.FieldsFunc(s, func(r rune) bool { return !language.IsAlphanumeric(r) && r != '\'' && r != '’' }) {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case unicode.IsUpper(first):
			capitals++
		case unicode.IsDigit(first):
		case i == 0 || utf8.RuneCountInString(w) >= long:
			return false
		}
	}
	return capitals >= 2
}

// citedNext reports whether a citation follows, after punctuation at most: the marker of a
// source or, where everything must be from the sources, of a source that is not there.
func (f *Filter) citedNext(rest string, final bool) (cited, undecided bool) {
	short := strings.TrimLeft(rest, " \u00a0\u202f\u3000.,;:!?)*_。．，、；：！？）」』")
	if len(rest)-len(short) > maxMarker {
		return false, false
	}
	rest = short
	r, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !opensMarker(r) {
		return false, false
	}
	if rest == "" {
		return false, !final
	}
	m := parseMarker(rest, final)
	return m.length > 0 && !m.literal && (!f.uncited || f.known(m)), m.undecided
}

// supported reports whether a text may be quoted. own means that the numbers in brackets
// in it belong to the source's text.
func (f *Filter) supported(quoted string) (ok, own bool) {
	plain := withoutMarkers(quoted)
	if words(plain) < minWords {
		return true, false
	}
	if plain != quoted && f.texts.has(quoted) {
		return true, true
	}
	if f.texts.has(plain) || f.whole == nil {
		return f.texts.has(plain), false
	}
	if plain != quoted && f.whole().has(quoted) {
		return true, true
	}
	return f.whole().has(plain), false
}

// closeQuotation returns the length in bytes of the quotation at the beginning of s; 0
// when there is none.
func closeQuotation(s string, open rune, final bool) (n int, undecided bool) {
	width := utf8.RuneLen(open) // run has made s valid UTF-8
	prev, chars := open, 0
	for i, r := range s[width:] {
		i += width
		if chars++; chars > maxHeld || chars == 1 && open == '"' && unicode.IsSpace(r) {
			return 0, false
		}
		rest := s[i+utf8.RuneLen(r):]
		switch {
		case strings.ContainsRune(closers[open], r):
			if open != '"' && open != '\'' && open != '‘' {
				return len(s) - len(rest), false
			}
			closes, again, unsure := closesStraight(prev, rest, final)
			switch {
			case unsure:
				return 0, true
			case closes:
				return len(s) - len(rest), false
			case again:
				return 0, false
			}
		case r == '\n':
			ends, unsure := paragraphEnds(rest, final)
			if unsure {
				return 0, true
			}
			if ends {
				return 0, false
			}
		}
		prev = r
	}
	return 0, !final
}

// closesStraight reports what a straight quotation mark between prev and rest is: the
// end of a quotation (closes), the beginning of another (again), or neither (3.5"x).
func closesStraight(prev rune, rest string, final bool) (closes, again, undecided bool) {
	if rest == "" {
		return final, false, !final
	}
	next, _ := utf8.DecodeRuneInString(rest)
	if !inWord(next) && next != '(' {
		return true, false, false
	}
	return false, unicode.IsSpace(prev), false
}

// stepBlockquote treats a line of a block quotation as one quotation, unless it has its
// own quotation marks, code or other Markdown, or names its author after a dash.
func (f *Filter) stepBlockquote(final bool) int {
	end, chars := -1, 0
	for i, r := range f.in {
		if r == '\n' {
			end = i
			break
		}
		if chars++; chars > maxHeld {
			return f.plain()
		}
	}
	if end < 0 {
		if !final {
			return 0
		}
		end = len(f.in)
	}
	line := f.in[:end]
	quoted := strings.TrimSpace(strings.TrimLeft(line, "> "))
	if quoted == "" || strings.ContainsFunc(quoted, func(r rune) bool { return r == '`' || closers[r] != "" }) || strings.ContainsAny(quoted[:1], "-*#|") ||
		strings.HasPrefix(quoted, "—") || strings.HasPrefix(quoted, "–") || f.uncited && withoutMarkers(quoted) == quoted {
		f.block = true
		return f.plain()
	}
	if ok, own := f.supported(quoted); ok {
		f.quotes = append(f.quotes, quoted)
		f.passQuoted(line, own)
	} else {
		f.write("> ")
		f.remove()
	}
	return end
}

// inWord reports whether a straight quotation mark beside r is inside or at the
// end of a word. Scripts without spaces put quotations between letters.
func inWord(r rune) bool {
	return language.IsAlphanumeric(r) && !language.IsIdeograph(r)
}

// words counts words; an ideograph counts as one.
func words(s string) int {
	n := 0
	inside := false
	for _, r := range s {
		switch {
		case language.IsIdeograph(r):
			n++
			inside = false
		case language.IsAlphanumeric(r):
			if !inside {
				n++
			}
			inside = true
		case unicode.IsSpace(r):
			inside = false
		}
	}
	return n
}

// withoutMarkers returns s without the markers in it and the spaces before them.
func withoutMarkers(s string) string {
	if !strings.ContainsFunc(s, opensMarker) {
		return s
	}
	var b strings.Builder
	for s != "" {
		lead := 0
		if s[0] == ' ' {
			lead = 1
		}
		if m := markerAt(s[lead:]); m.length > 0 && !m.literal {
			s = s[lead+m.length:]
			continue
		}
		_, n := utf8.DecodeRuneInString(s)
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}
