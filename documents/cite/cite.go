// Package cite filters an answer while it streams. It numbers citation markers by
// first appearance and ties them to their sources, and removes markers that name no
// source. A quotation that is in no source is removed when it is cited or a block
// quotation; else it loses its quotation marks, and Unverified has its words.
package cite

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/language"
)

// Source is something an answer may cite as [N].
type Source struct {
	N       int
	DocID   string
	ChunkID string
	Title   string
	URL     string // of a web result; empty for a document's passage
	Heading string // above Text, with the names of a table's columns
	Text    string
	Start   int              // offset of Text in the document, in characters (runes)
	Pages   []chat.PageStart // of a document that has pages
}

// Removed replaces a block quotation or a cited quotation that is in no source.
var Removed = messages.QuoteRemoved.Text

// maxHeld is the longest text that is held back for one quotation or code span, in
// characters. Text that does not close within that length, or within its paragraph, is
// neither a quotation nor a code span.
const maxHeld = 2000

// Filter filters one answer. It is not safe for concurrent use. Its output does not
// depend on how the text is cut into deltas.
type Filter struct {
	sources map[int]Source
	texts   quotable
	whole   func() quotable // CheckDocuments; nil: none
	uncited bool            // AllowUncited

	in     string // whole characters that wait for a decision
	broken string // the beginning of a character that is not complete
	closed bool

	prev      rune // last character that was decided; 0 at the beginning
	indent    bool // nothing but white space since the line began
	block     bool // in a line of a block quotation
	fence     string
	dropSpace bool // a marker was dropped at a line's start: drop the space after it

	out        strings.Builder
	stray      strayMarker
	mentions   []mention // by number
	unverified []string

	figures      bool          // CheckFigures
	checks       *figureChecks // the same
	allowed      []string      // texts that New allows
	computed     []string      // results of calculations for the answer
	quotes       []string      // that a source or a document has
	unquoted     []place       // quotations that are in no source, in the answer
	wrongFigures int
}

// mention is what one number of the answer stands for: a source, and the part of it
// that supports the first claim with that number.
type mention struct {
	source     Source
	at         int            // byte offset of the marker in the answer
	start, end int            // the supporting part, in runes of the source; equal while no claim came before the marker
	earlier    *chat.Citation // the citation of an earlier piece of the answer, which does not change; else nil
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
	f.texts = newQuotable(sources, allowed)
	f.allowed = allowed
	return f
}

// Copy returns a filter like f, which has read nothing. Call it before the first Write.
func (f *Filter) Copy() *Filter {
	again := *f
	again.mentions = slices.Clone(f.mentions)
	again.unquoted, again.quotes = slices.Clone(f.unquoted), slices.Clone(f.quotes)
	return &again
}

// AllowUncited is for an answer that may say more than the sources: without sources
// everything passes, and with sources a quotation must be in one of them only if a
// marker follows it directly. It changes and returns f.
func (f *Filter) AllowUncited() *Filter {
	f.uncited = true
	return f
}

// CheckDocuments makes f look for a quotation that is in no passage in whole documents,
// too. It reads them once, when it needs them first. It changes and returns f.
func (f *Filter) CheckDocuments(read func() []string) *Filter {
	f.whole = sync.OnceValue(func() quotable { return newQuotable(nil, read()) })
	return f
}

// Unverified returns the words of the answer that were a quotation and are in no source, and the
// figures that are not found (CheckFigures), in the order of the answer, each verbatim as it was
// written. They are known after Close.
func (f *Filter) Unverified() []string { return f.unverified }

// Continue is for the next piece of an answer: the citations of earlier pieces keep
// their numbers, and new numbers follow. Call it before the first Write. It changes and
// returns f.
func (f *Filter) Continue(earlier []chat.Citation) *Filter {
	for i := range earlier {
		c := &earlier[i]
		m := mention{earlier: c}
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

// Write takes the next delta of the answer and returns the text that may be shown
// now, possibly none.
func (f *Filter) Write(delta string) string {
	if f.closed {
		return ""
	}
	return f.run(delta, false)
}

// Close decides about the text that is still held back, and returns it with the
// citations in the order of their numbers (never nil). Further calls return nothing.
func (f *Filter) Close() (tail string, citations []chat.Citation) {
	citations = []chat.Citation{}
	if f.closed {
		return "", citations
	}
	f.closed = true
	tail = f.run("", true)
	answer := f.out.String()
	f.setUnverified(f.checkFigures())
	for i, m := range f.mentions {
		if m.earlier != nil {
			citations = append(citations, *m.earlier)
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

// wholeCharacters returns the length of s without an incomplete character at its end.
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

// step handles the beginning of f.in and returns how many bytes it handled; 0 means that
// it needs more text. If final is set, it is never 0. The result depends on the text only,
// never on how much of it has arrived.
func (f *Filter) step(final bool) int {
	if f.fence != "" {
		return f.stepFenced(final)
	}
	if f.uncited && len(f.sources) == 0 {
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

// plain lets the first character through.
func (f *Filter) plain() int {
	r, n := utf8.DecodeRuneInString(f.in)
	f.put(r)
	return n
}

// put lets a character through.
func (f *Filter) put(r rune) {
	if r != ' ' {
		f.dropSpace = false
	}
	f.track(r)
	if f.stray.closes(r) {
		f.out.WriteString("…")
	}
	f.out.WriteRune(r)
}

// pass lets text through unchanged. It is for code and for years in brackets, which are no
// markers.
func (f *Filter) pass(s string) {
	for _, r := range s {
		f.track(r)
		f.out.WriteRune(r)
	}
	f.stray = strayMarker{}
	f.dropSpace = false
}

// write writes text that is not from the answer, such as a marker.
func (f *Filter) write(s string) {
	f.out.WriteString(s)
	f.stray = strayMarker{}
	f.dropSpace = false
}

// track remembers the last character and whether the line has only white space so far.
func (f *Filter) track(r rune) {
	f.prev = r
	f.indent = r == '\n' || f.indent && (r == ' ' || r == '\t')
	f.block = r != '\n' && f.block
}

// stepSpace holds a space back until it is known whether a marker follows. If that marker
// is dropped, the space is dropped, too.
func (f *Filter) stepSpace(final bool) int {
	if f.dropSpace {
		f.dropSpace = false
		f.track(' ')
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
	if !f.known(m) { // drop it as if it were not there: a line still begins after it
		f.dropSpace = f.indent
		f.prev = ']'
		return m.length
	}
	f.cite(m)
	f.track(']')
	return m.length
}

// known reports whether any number of m is the number of a source.
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
			f.write("[" + strconv.Itoa(f.numberOf(s)) + "]")
		}
	}
}

// numberOf returns the number in the answer of a source that is cited here. A claim that
// another part of the source supports gets its own number, so that each number opens the
// words that support its claim.
func (f *Filter) numberOf(s Source) int {
	answer := f.out.String()
	start, end := rowOf(s.Text, answer, len(answer))
	if said := claim(answer, len(answer)); start == end && len(language.ContentWords(said)) >= 2 {
		start, end = evidence(s.Text, said)
	}
	for i := range f.mentions {
		m := &f.mentions[i]
		if m.source.N != s.N {
			continue
		}
		if m.start == m.end && m.earlier == nil { // set by the first claim
			m.start, m.end = start, end
		}
		if start == end || start < m.end && m.start < end {
			return i + 1
		}
	}
	f.mentions = append(f.mentions, mention{source: s, at: len(answer), start: start, end: end})
	return len(f.mentions)
}

// passQuoted lets quoted text through with its markers. If own is set, numbers in brackets
// belong to the source's text and are left out.
func (f *Filter) passQuoted(s string, own bool) {
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
			f.write(lead)
			f.cite(m)
		}
		f.track(']')
		s = s[len(lead)+m.length:]
	}
}

// strayMarker watches the characters that are let through for text that looks like one of
// our markers but is not, for example after the middle of "[[9]1]" was dropped.
type strayMarker struct {
	open   bool
	digits bool
}

// closes takes the next character and reports whether it would complete one.
func (l *strayMarker) closes(r rune) bool {
	switch {
	case opensMarker(r):
		*l = strayMarker{open: true}
	case l.open && isDigit(r):
		l.digits = true
	case l.open && l.digits && closesMarker(r):
		*l = strayMarker{}
		return true
	case l.open && inMarker(r):
	default:
		*l = strayMarker{}
	}
	return false
}
