package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// closers are the marks that end a quotation, by the mark that begins it.
var closers = map[rune]string{
	'"': `"`,
	'“': "”",
	'„': "“”",
	'«': "»",
}

// minWords is the least number of words of a quotation that must be in a source. Fewer
// words are a term, not a quotation.
const minWords = 3

// stepQuotation holds a quotation back until it closes, and lets it through when a
// source has it.
func (f *Filter) stepQuotation(open rune, final bool) int {
	if open == '"' && inWord(f.prev) { // an inch mark, or a closing mark without an opening one
		return f.plain()
	}
	n, undecided := closeQuotation(f.in, open, final)
	switch {
	case undecided:
		return 0
	case n == 0:
		return f.plain()
	}
	if f.uncited {
		cited, undecided := f.citedNext(f.in[n:], final)
		if undecided {
			return 0
		}
		if !cited {
			f.passQuoted(f.in[:n], false)
			return n
		}
	}
	quoted := f.in[:n]
	_, last := utf8.DecodeLastRuneInString(quoted)
	f.quote(quoted, quoted[utf8.RuneLen(open):n-last])
	return n
}

// citedNext reports whether the marker of a known source follows, after punctuation at most.
func (f *Filter) citedNext(rest string, final bool) (cited, undecided bool) {
	rest = strings.TrimLeft(rest, " .,;:!?)")
	r, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !opensMarker(r) {
		return false, false
	}
	if rest == "" {
		return false, !final
	}
	m := parseMarker(rest, final)
	return m.length > 0 && !m.literal && f.known(m), m.undecided
}

// quote lets whole through if the text in it, quoted, is supported. If not, it writes
// Removed.
func (f *Filter) quote(whole, quoted string) {
	ok, own := f.supported(quoted)
	if !ok {
		f.write(Removed)
		f.track(']')
		return
	}
	f.passQuoted(whole, own)
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
	return f.texts.has(plain), false
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
			if open != '"' {
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
	if quoted == "" || strings.ContainsAny(quoted, "\"“„«`") || strings.ContainsAny(quoted[:1], "-*#|") ||
		strings.HasPrefix(quoted, "—") || strings.HasPrefix(quoted, "–") || f.uncited && withoutMarkers(quoted) == quoted {
		return f.plain()
	}
	if ok, own := f.supported(quoted); ok {
		f.passQuoted(line, own)
	} else {
		f.write("> " + Removed)
		f.track(']')
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
