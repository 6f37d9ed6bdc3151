// Package cite filters an answer while it streams: markers are numbered by first
// appearance and tied to their sources, and markers and quotations that the
// sources do not support never get out.
package cite

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
)

// Source is something an answer may cite as [N].
type Source struct {
	N       int
	DocID   string
	ChunkID string
	Title   string
	URL     string // of a web result; empty for a document's passage
	Text    string
	Start   int // offset of Text in the document, in characters (runes)
}

// Removed stands in the answer for a quotation that is in no source.
const Removed = "[quotation removed: not in the sources]"

// reach is the longest text held back for one quotation or code span, in
// characters. What does not close within it, or within its paragraph, is none.
const reach = 2000

// Filter is for one answer; not safe for concurrent use. What comes out does not
// depend on how the text is cut into deltas.
type Filter struct {
	sources map[int]Source
	texts   haystack
	free    bool

	in     string // whole characters not yet decided about
	broken string // the beginning of a character that is not complete
	closed bool

	prev   rune // last character decided about; 0 at the beginning
	indent bool // nothing but white space since the line began
	fence  string
	eat    bool // a marker was dropped at a line's start: drop the space after it

	out      strings.Builder
	loose    looseMarker
	mentions []mention // by number
}

// mention is what one number of the answer stands for: a source and the part of
// it that supports what the first such marker says.
type mention struct {
	source     Source
	at         int            // byte offset of the marker in the answer
	start, end int            // the supporting part, in runes of the source; equal while nothing was said before the marker
	said       *chat.Citation // of an earlier piece of the answer: it stays as it is
}

// New makes a filter. A quotation may come from a source, from a source's title
// or from one of the allowed texts (the person's own message, a text under
// audit).
func New(sources []Source, allowed ...string) *Filter {
	f := &Filter{sources: map[int]Source{}, indent: true}
	for _, s := range sources {
		if _, taken := f.sources[s.N]; !taken {
			f.sources[s.N] = s
		}
	}
	f.texts = newHaystack(sources, allowed)
	return f
}

// Free makes a filter for an answer that is not of the sources alone: without
// sources everything passes, and with them only a quotation with a marker right
// after it must be in one of them.
func (f *Filter) Free() *Filter {
	f.free = true
	return f
}

// GoOn has the answer go on where an earlier piece of it ended: what that cited
// keeps its numbers, and new numbers follow. It comes before the first Write.
func (f *Filter) GoOn(earlier []chat.Citation) *Filter {
	for i := range earlier {
		c := &earlier[i]
		m := mention{said: c}
		for _, s := range f.sources {
			if c.ChunkID != "" && s.ChunkID == c.ChunkID || c.URL != "" && s.URL == c.URL {
				m.source = s
				if at := strings.Index(s.Text, c.Quote); at >= 0 {
					m.start = utf8.RuneCountInString(s.Text[:at])
					m.end = m.start + utf8.RuneCountInString(c.Quote)
				}
			}
		}
		f.mentions = append(f.mentions, m)
	}
	return f
}

// Write takes the next delta of the answer and returns what may go out now,
// possibly nothing.
func (f *Filter) Write(delta string) string {
	if f.closed {
		return ""
	}
	return f.run(delta, false)
}

// Close decides about what is still held back, and returns it with the citations
// in the order of their numbers (never nil). Further calls return nothing.
func (f *Filter) Close() (tail string, citations []chat.Citation) {
	citations = []chat.Citation{}
	if f.closed {
		return "", citations
	}
	f.closed = true
	tail = f.run("", true)
	answer := f.out.String()
	for i, m := range f.mentions {
		if m.said != nil {
			citations = append(citations, *m.said)
			continue
		}
		citations = append(citations, citation(i+1, m, answer))
	}
	return tail, citations
}

func (f *Filter) run(delta string, final bool) string {
	fresh := f.broken + delta
	f.broken = ""
	if n := wholeCharacters(fresh); !final {
		fresh, f.broken = fresh[:n], fresh[n:]
	}
	f.in += strings.Map(func(r rune) rune { return r }, fresh) // a stray byte becomes U+FFFD
	begin := f.out.Len()
	for f.in != "" {
		n := f.step(final)
		if n == 0 {
			break
		}
		f.in = f.in[n:]
	}
	return f.out.String()[begin:]
}

// wholeCharacters is the length of s without a character cut off at its end.
func wholeCharacters(s string) int {
	for i := len(s) - 1; i >= 0 && i > len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return i
			}
			break
		}
	}
	return len(s)
}

// step decides about the beginning of f.in and returns how many bytes it has
// dealt with; 0: more text is needed. With final it is never 0. It decides by
// the text alone and never by how much of it has come.
func (f *Filter) step(final bool) int {
	if f.fence != "" {
		return f.stepFenced(final)
	}
	if f.free && len(f.sources) == 0 {
		f.pass(f.in)
		return len(f.in)
	}
	r, _ := utf8.DecodeRuneInString(f.in)
	switch {
	case r == '`', r == '~' && f.indent:
		return f.stepCode(final)
	case r == '>' && f.indent:
		return f.stepBlockquote(final)
	case r == ' ':
		return f.stepSpace(final)
	case opensMarker(r):
		return f.stepMarker(final)
	case closers[r] != "":
		return f.stepQuotation(r, final)
	}
	return f.plain()
}

// plain passes the first character on.
func (f *Filter) plain() int {
	r, n := utf8.DecodeRuneInString(f.in)
	f.put(r)
	return n
}

// put passes a character of the input on.
func (f *Filter) put(r rune) {
	if r != ' ' {
		f.eat = false
	}
	f.note(r)
	if f.loose.closes(r) {
		f.out.WriteString("…")
	}
	f.out.WriteRune(r)
}

// pass passes text on as it is: code, whose brackets are no markers.
func (f *Filter) pass(s string) {
	for _, r := range s {
		f.note(r)
		f.out.WriteRune(r)
	}
	f.loose = looseMarker{}
	f.eat = false
}

// say writes text of our own.
func (f *Filter) say(s string) {
	f.out.WriteString(s)
	f.loose = looseMarker{}
	f.eat = false
}

// note keeps track of where in its line the input is.
func (f *Filter) note(r rune) {
	f.prev = r
	f.indent = r == '\n' || f.indent && (r == ' ' || r == '\t')
}

// stepSpace holds a space back until it is known whether it leads to a marker
// that will vanish; it vanishes with it.
func (f *Filter) stepSpace(final bool) int {
	if f.eat {
		f.eat = false
		f.note(' ')
		return 1
	}
	rest := f.in[1:]
	if !final && rest == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if !opensMarker(r) {
		return f.plain()
	}
	m := parseMarker(rest, final)
	switch {
	case m.undecided:
		return 0
	case m.length == 0 || f.known(m):
		return f.plain()
	}
	f.prev = ']'
	return 1 + m.length
}

func (f *Filter) stepMarker(final bool) int {
	m := parseMarker(f.in, final)
	switch {
	case m.undecided:
		return 0
	case m.length == 0:
		return f.plain()
	case m.literal:
		f.pass(f.in[:m.length])
		return m.length
	}
	if !f.known(m) { // as if it had never stood there: a line still begins after it
		f.eat = f.indent
		f.prev = ']'
		return m.length
	}
	f.cite(m)
	f.note(']')
	return m.length
}

// known reports whether any number of m is a source's.
func (f *Filter) known(m marker) bool {
	if m.literal {
		return true
	}
	for _, n := range m.numbers {
		if _, ok := f.sources[n]; ok {
			return true
		}
	}
	return false
}

// cite writes the markers of m's known sources, each once.
func (f *Filter) cite(m marker) {
	seen := map[int]bool{}
	for _, n := range m.numbers {
		if s, ok := f.sources[n]; ok && !seen[n] {
			seen[n] = true
			f.say("[" + strconv.Itoa(f.numberOf(s)) + "]")
		}
	}
}

// numberOf is the number of a source cited here. A claim that another part of
// the source supports gets a number of its own, so that each number opens the
// words that its claim rests on.
func (f *Filter) numberOf(s Source) int {
	answer := f.out.String()
	var start, end int
	if said := claim(answer, len(answer)); len(language.ContentWords(said)) >= 2 {
		start, end = evidence(s.Text, said)
	}
	for i := range f.mentions {
		m := &f.mentions[i]
		if m.source.N != s.N {
			continue
		}
		if m.start == m.end && m.said == nil { // settled by the first claim that comes
			m.start, m.end = start, end
		}
		if start == end || start < m.end && m.start < end {
			return i + 1
		}
	}
	f.mentions = append(f.mentions, mention{source: s, at: len(answer), start: start, end: end})
	return len(f.mentions)
}

// citable passes quoted text on: its markers count, nothing else in it does.
// With own, numbers in brackets are the source's own and are left out.
func (f *Filter) citable(s string, own bool) {
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		lead := ""
		if r == ' ' {
			lead = " "
		}
		m := markerAt(s[len(lead):])
		switch {
		case m.length == 0:
			f.put(r)
			s = s[n:]
			continue
		case m.literal:
			f.pass(s[:len(lead)+m.length])
		case !own && f.known(m):
			f.say(lead)
			f.cite(m)
		}
		f.note(']')
		s = s[len(lead)+m.length:]
	}
}

// looseMarker watches characters that were passed on for something that would
// read like a marker although it is none of ours, as when the middle of "[[9]1]"
// was dropped.
type looseMarker struct {
	open   bool
	digits bool
}

// closes takes the next character and reports whether it would complete one.
func (l *looseMarker) closes(r rune) bool {
	switch {
	case opensMarker(r):
		*l = looseMarker{open: true}
	case l.open && isDigit(r):
		l.digits = true
	case l.open && l.digits && closesMarker(r):
		*l = looseMarker{}
		return true
	case l.open && inMarker(r):
	default:
		*l = looseMarker{}
	}
	return false
}
