package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// hyphens decides whether a hyphen at the end of a line belongs to a compound, or only cuts
// a word there.
type hyphens struct {
	seen map[string]bool // words of the document that a hyphen at the end of a line may be in
}

// newHyphens looks for the words that are cut in pages elsewhere in them.
func newHyphens(pages []string) hyphens {
	h := hyphens{map[string]bool{}}
	for _, p := range pages {
		for rest := p; ; {
			before, after, found := strings.Cut(rest, string(lineEndHyphen))
			if !found {
				break
			}
			a, b := wordBefore(before), wordAfter(after)
			h.seen[strings.ToLower(a+b)], h.seen[strings.ToLower(a+"-"+b)] = false, false
			rest = after
		}
	}
	if len(h.seen) == 0 {
		return h
	}
	for _, p := range pages {
		for _, w := range strings.FieldsFunc(p, func(r rune) bool { return !inWord(r) }) {
			w = strings.ToLower(strings.Trim(w, "-"))
			if _, wanted := h.seen[w]; wanted {
				h.seen[w] = true
			}
		}
	}
	return h
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '-'
}

func wordBefore(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return !inWord(r) })
	if i < 0 {
		return s
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return s[i+n:]
}

func wordAfter(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }); i >= 0 {
		return s[:i]
	}
	return s
}

// rangeEnd matches a range of numbers that is cut after its hyphen.
var rangeEnd = lazyregexp.New(`(\d[-–])\n(\d+[\s%€$£,;])`)

// resolve returns a page's text with the words that are cut at the ends of lines.
func (h hyphens) resolve(page string) string {
	page = rangeEnd.ReplaceAllString(page, "$1$2")
	if !strings.ContainsRune(page, lineEndHyphen) {
		return page
	}
	var b strings.Builder
	rest := page
	for {
		before, after, found := strings.Cut(rest, string(lineEndHyphen))
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest = after
		first, next := wordBefore(before), wordAfter(after)
		switch {
		case conjunctions[strings.ToLower(next)]: // "Haupt- und Nebenkosten"
			b.WriteString("- ")
		case next == "", h.isCompound(first, next):
			b.WriteByte('-')
		}
	}
}

// joinCut joins the words that are cut at the ends of pages, which belong to the page on which they begin.
func joinCut(pages [][]string) {
	var all []string
	found := false
	for i, lines := range pages {
		if first, next := cutAt(pages, i); next != "" {
			all, found = append(all, first+string(lineEndHyphen)+next), true
		}
		all = append(all, lines...)
	}
	if !found {
		return
	}
	h := newHyphens(all)
	for i := range pages {
		first, next := cutAt(pages, i)
		if next == "" {
			continue
		}
		above, lines := pages[pageBefore(pages, i)], pages[i]
		end := &above[len(above)-1]
		if !h.isCompound(first, next) {
			*end = strings.TrimSuffix(*end, "-")
		}
		rest := lines[0][len(next):]
		mark := len(rest) - len(strings.TrimLeft(rest, ".,;:!?)]”’»"))
		*end += next + rest[:mark]
		lines[0] = strings.TrimSpace(rest[mark:])
		pages[i] = trimBlank(lines)
	}
}

// cutAt returns the parts of the word that is cut before page i; the second one is empty if there is none.
func cutAt(pages [][]string, i int) (first, next string) {
	before := pageBefore(pages, i)
	if before < 0 || len(pages[i]) == 0 {
		return "", ""
	}
	line := pages[before][len(pages[before])-1]
	head, isCut := strings.CutSuffix(line, "-")
	first, next = wordBefore(head), wordAfter(pages[i][0])
	if start, _ := utf8.DecodeRuneInString(next); !isCut || first == "" || !unicode.IsLetter(start) || conjunctions[strings.ToLower(next)] || strings.Contains(line+pages[i][0], tableBar) {
		return "", ""
	}
	return first, next
}

// pageBefore returns the last page before page i that has text, of the two before it; -1 if there is none.
func pageBefore(pages [][]string, i int) int {
	for k := i - 1; k >= max(0, i-2); k-- {
		if len(pages[k]) > 0 {
			return k
		}
	}
	return -1
}

func (h hyphens) isCompound(first, next string) bool {
	joined, apart := strings.ToLower(first+next), strings.ToLower(first+"-"+next)
	start, _ := utf8.DecodeRuneInString(next)
	capitals := utf8.RuneCountInString(first) > 1 && first == strings.ToUpper(first) && next == strings.ToUpper(next)
	switch {
	case h.seen[joined]:
		return false
	case h.seen[apart], strings.Contains(first, "-"), utf8.RuneCountInString(first) == 1:
		return true
	case !unicode.IsLower(start) && !capitals:
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(first)
	return unicode.IsDigit(end) || firstParts[strings.ToLower(first)] || secondParts[strings.ToLower(next)]
}

// Words that stand before or after the hyphen of English compounds, and which no word begins
// or ends with when it is cut into syllables.
var (
	firstParts = wordSet("well ill long short high low full half self non cross cost risk first second third " +
		"two three four five six seven eight nine ten year month")
	secondParts = wordSet("effective friendly based related driven oriented specific known owned paid " +
		"sized defined financed funded backed weighted adjusted bearing minded")
	conjunctions = wordSet("und oder bzw and or bis sowie et ou och og eller")
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
