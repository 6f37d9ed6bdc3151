package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/sentence"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
)

// maxQuote is the longest quote of a citation, in characters.
const maxQuote = 300

// citation returns the citation for marker k of answer: its source, with the sentences
// of the source that support the marked sentence best.
func citation(k int, m mention, answer string) chat.Citation {
	c := chat.Citation{N: k, Source: "document", Title: m.source.Title, URL: m.source.URL}
	start, end := m.start, m.end
	if start == end { // the marker stands before its claim
		if start, end = rowOf(m.source.Text, answer, m.at); start == end {
			start, end = evidence(m.source.Text, claim(answer, m.at))
		}
	}
	c.Quote = string([]rune(m.source.Text)[start:end])
	if m.source.URL != "" {
		c.Source = "web"
		return c
	}
	start += m.source.Start
	end += m.source.Start
	c.DocID, c.ChunkID, c.Start, c.End = m.source.DocID, m.source.ChunkID, &start, &end
	c.Page = chat.PageAt(m.source.Pages, start)
	return c
}

// claim returns the sentence of answer that the marker at a byte offset belongs to: the
// one around it, or the one that ended before it.
func claim(answer string, at int) string {
	from, to := paragraph(answer, at)
	text := blankMarkers(answer[from:to])
	if row := cell(text, at-from); row != "" {
		return row
	}
	pos := utf8.RuneCountInString(text[:at-from])
	spans := sentence.Sentences(text)
	found := ""
	for i, s := range spans {
		if i == 0 || s.Start <= pos {
			found = s.Text
		}
	}
	if len(language.ContentWords(found)) < 2 {
		return text
	}
	return found
}

// rowOf returns the row of a table in text, in runes, that the row of a table around the marker at
// a byte offset of the answer is from: it has all of the cells that are not empty, at least two.
func rowOf(text, answer string, at int) (start, end int) {
	line := answer[strings.LastIndexByte(answer[:at], '\n')+1:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") {
		return 0, 0
	}
	var cells []string
	for _, c := range tables.Cells(strings.TrimSuffix(withoutMarkers(line), "|") + "|") {
		if c = plainCell(c); c != "" {
			cells = append(cells, c)
		}
	}
	if len(cells) < 2 {
		return 0, 0
	}
	for _, s := range sentence.Sentences(text) {
		if !s.Row {
			continue
		}
		row := tables.Cells(s.Text)
		for i := range row {
			row[i] = plainCell(row[i])
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return !slices.Contains(row, c) }) {
			return s.Start, min(s.End, s.Start+maxQuote)
		}
	}
	return 0, 0
}

// plainCell returns a cell without marks that Markdown escapes or that are left out in an answer.
func plainCell(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\\*_`()[]", r) {
			return -1
		}
		return r
	}, s)), " ")
}

// paragraph returns the byte range of the paragraph around at, limited to 1500 bytes
// before and 600 bytes after it.
func paragraph(s string, at int) (from, to int) {
	const before, after = 1500, 600
	from, to = max(0, at-before), min(len(s), at+after)
	if i := strings.LastIndex(s[from:at], "\n\n"); i >= 0 {
		from += i
	}
	if i := strings.Index(s[at:to], "\n\n"); i >= 0 {
		to = at + i
	}
	for from > 0 && from < at && !utf8.RuneStart(s[from]) {
		from++
	}
	for to < len(s) && to > at && !utf8.RuneStart(s[to]) {
		to--
	}
	return from, to
}

// cell returns the table cell around at; "" outside of tables and for a cell with fewer
// than two content words.
func cell(s string, at int) string {
	from := strings.LastIndexByte(s[:at], '\n') + 1
	to := len(s)
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		to = at + i
	}
	if !strings.HasPrefix(strings.TrimSpace(s[from:to]), "|") {
		return ""
	}
	if i := strings.LastIndexByte(s[from:at], '|'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(s[at:to], '|'); i >= 0 {
		to = at + i
	}
	if len(language.ContentWords(s[from:to])) < 2 {
		return ""
	}
	return s[from:to]
}

// blankMarkers replaces our markers with spaces, because they would end sentences.
func blankMarkers(s string) string {
	var b strings.Builder
	for s != "" {
		if m := markerAt(s); m.length > 0 {
			b.WriteString(strings.Repeat(" ", m.length))
			s = s[m.length:]
			continue
		}
		_, n := utf8.DecodeRuneInString(s)
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

// inMarks matches a quotation of some length.
var inMarks = regexp.MustCompile(`[“„«"]([^“”„«»"]{8,})[”“»"]`)

// evidence returns the range of text, in runes, that best supports the claim: what the claim
// quotes, else a sentence, with neighbours that add to it, at most maxQuote characters.
func evidence(text, claim string) (start, end int) {
	spans := sentence.Sentences(text)
	for _, m := range inMarks.FindAllStringSubmatch(claim, -1) {
		if start, end, found := Locate(text, m[1]); found {
			return around(spans, start, end)
		}
	}
	wanted := language.StemsOf(claim)
	if len(spans) == 0 {
		return trimmed(text)
	}
	hits := make([]map[string]bool, len(spans))
	best, bestScore := 0, -1.0
	for i, s := range spans {
		hits[i] = matched(s.Text, wanted)
		score := float64(len(hits[i])) + 1
		if s.Heading {
			score *= 0.4
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if spans[best].End-spans[best].Start > maxQuote {
		return densest(text, spans[best], wanted)
	}
	first, last := best, best
	have := hits[best]
	for _, next := range []int{best + 1, best - 1, best + 2} {
		if next < 0 || next >= len(spans) || (next != last+1 && next != first-1) || spans[next].Heading {
			continue
		}
		lo, hi := min(first, next), max(last, next)
		if spans[hi].End-spans[lo].Start <= maxQuote && adds(hits[next], have) >= 2 {
			first, last = lo, hi
			for w := range hits[next] {
				have[w] = true
			}
		}
	}
	return spans[first].Start, spans[last].End
}

// around returns the sentences of a range, or the range if they are too long.
func around(spans []sentence.Span, start, end int) (from, to int) {
	from, to = start, end
	for _, s := range spans {
		if s.Start < end && start < s.End {
			from, to = min(from, s.Start), max(to, s.End)
		}
	}
	if to-from > maxQuote {
		return start, min(end, start+maxQuote)
	}
	return from, to
}

func matched(s string, wanted map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, w := range language.Stems(s) {
		if wanted[w] {
			out[w] = true
		}
	}
	return out
}

func adds(more, have map[string]bool) int {
	n := 0
	for w := range more {
		if !have[w] {
			n++
		}
	}
	return n
}

// densest returns the part of a long sentence with the most wanted words: whole words, at
// most maxQuote characters, the earliest of equals. The range is in runes.
func densest(text string, s sentence.Span, wanted map[string]bool) (start, end int) {
	type word struct {
		start, end int
		hit        int
	}
	var all []word
	runes := []rune(text)
	for i := s.Start; i < s.End; {
		j := i
		for j < s.End && !unicode.IsSpace(runes[j]) {
			j++
		}
		if j > i {
			w := word{i, min(j, i+maxQuote), 0}
			w.hit = len(matched(string(runes[i:w.end]), wanted))
			all = append(all, w)
		}
		i = j + 1
	}
	sum, best, from := 0, -1, 0
	for _, w := range all {
		sum += w.hit
		for w.end-all[from].start > maxQuote {
			sum -= all[from].hit
			from++
		}
		if sum > best {
			best, start, end = sum, all[from].start, w.end
		}
	}
	// Hits may end early: fill up with the words that follow.
	for _, w := range all {
		if w.start >= end && w.end-start <= maxQuote {
			end = w.end
		}
	}
	return start, end
}

// trimmed returns the range of text, in runes, without the white space around it, cut at
// maxQuote.
func trimmed(text string) (start, end int) {
	body := strings.TrimLeftFunc(text, unicode.IsSpace)
	start = utf8.RuneCountInString(text) - utf8.RuneCountInString(body)
	body = strings.TrimRightFunc(body, unicode.IsSpace)
	return start, start + min(maxQuote, utf8.RuneCountInString(body))
}
