package extract

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// joinPages makes one clean text of pages and returns where each page begins in it. It
// leaves out page numbers, headers and footers that repeat those of the page before, and
// pages without text. A sentence that continues on the next page stays in one paragraph.
func joinPages(pages []string) (text string, starts []chat.PageStart) {
	split := make([][]string, len(pages))
	hyphens := newHyphens(pages)
	for i, p := range pages {
		split[i] = strings.Split(strings.TrimSpace(clean(hyphens.resolve(p))), "\n")
	}
	split = withoutRunning(split)
	joinCut(split)
	var b strings.Builder
	var last []string // of the page before
	at := 0           // counts characters
	write := func(s string) {
		b.WriteString(s)
		at += utf8.RuneCountInString(s)
	}
	for i, lines := range split {
		if len(lines) == 0 {
			continue
		}
		if b.Len() > 0 {
			if continuesTable(last, lines) {
				write("\n")
			} else {
				write(between(last[len(last)-1], lines[0]))
			}
		}
		starts = append(starts, chat.PageStart{Page: i + 1, Start: at})
		write(strings.Join(lines, "\n"))
		last = lines
	}
	return b.String(), starts
}

// continuesTable reports whether the first lines of a page are further rows of the table with which the page
// before ends: they have as many columns, and do not begin with a header.
func continuesTable(before, lines []string) bool {
	above := before[len(before)-rowsFrom(slices.Backward(before)):]
	rows := lines[:rowsFrom(slices.All(lines))]
	if len(above) == 0 || len(rows) == 0 || columns(above) != columns(rows) || above[0] == rows[0] {
		return false
	}
	return len(rows) == 1 || !layout.BeginsTable(strings.Split(rows[0], tableBar), strings.Split(rows[1], tableBar))
}

// rowsFrom counts the rows of a table from the first of the lines on.
func rowsFrom(lines iter.Seq2[int, string]) (n int) {
	for _, l := range lines {
		if !strings.Contains(l, tableBar) {
			break
		}
		n++
	}
	return n
}

func columns(rows []string) (most int) {
	for _, r := range rows {
		most = max(most, strings.Count(r, tableBar)+1)
	}
	return most
}

// edge is how many lines at the top and at the bottom of a page may be header or footer.
const edge = 2

// repeats is on how many pages a line of a header or footer stands at least.
const repeats = 3

// withoutRunning drops the parts of lines at the edges of pages that are page numbers, or
// that stood at the edge of the page before, too. Wide gaps end up as single spaces.
func withoutRunning(pages [][]string) [][]string {
	counted := map[string]int{} // pages that have a part at an edge
	on := make([]map[string]bool, len(pages))
	counters := newCounters(len(pages))
	for i, lines := range pages {
		on[i] = map[string]bool{}
		for k, l := range lines {
			if !atEdge(lines, k) {
				continue
			}
			for _, part := range lineParts(l) {
				if !on[i][part] {
					on[i][part] = true
					counted[part]++
					counters.add(part, i)
				}
			}
		}
	}
	repeated := func(part string, page int) bool {
		if counted[part] < repeats || hasAmountOrDate.MatchString(part) {
			return false
		}
		was := func(before int) bool { return page >= before && on[page-before][part] }
		return was(1) || was(2) && was(4) // left and right pages may have their own
	}
	out := make([][]string, len(pages))
	for i, lines := range pages {
		var kept []string
		for k, l := range lines {
			if !atEdge(lines, k) {
				kept = append(kept, strings.TrimRightFunc(strings.ReplaceAll(l, wideSpace, " "), unicode.IsSpace))
				continue
			}
			parts := lineParts(l)
			left := slices.DeleteFunc(slices.Clone(parts), func(p string) bool {
				return counters.has(p, i) && len(lines) > 1 || repeated(p, i)
			})
			switch {
			case len(left) == 0 && len(parts) > 0:
			case len(left) == len(parts) || strings.Contains(l, tableBar):
				kept = append(kept, strings.TrimRightFunc(strings.ReplaceAll(l, wideSpace, " "), unicode.IsSpace))
			default:
				kept = append(kept, strings.Join(left, " "))
			}
		}
		out[i] = trimBlank(kept)
	}
	return out
}

const tableBar = " | "

func lineParts(l string) []string {
	var out []string
	for _, p := range strings.Split(strings.ReplaceAll(l, tableBar, wideSpace), wideSpace) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// atEdge reports whether line k is one of the first or last of the lines that are not blank.
func atEdge(lines []string, k int) bool {
	return textLines(lines[:k]) < edge || textLines(lines[k+1:]) < edge
}

// textLines counts the lines that are not blank, up to edge.
func textLines(lines []string) int {
	n := 0
	for _, l := range lines {
		if l != "" {
			if n++; n == edge {
				break
			}
		}
	}
	return n
}

// hasAmountOrDate matches amounts, with decimals or a currency, and dates in figures.
var hasAmountOrDate = lazyregexp.New(`\d[.,]\d{2}(?:\D|$)|\d\s*[\p{Sc}%]|\p{Sc}\s*\d|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}`)

// counters finds page numbers: numbers at the edges of pages that rise by one from page to
// page and stand alone, with the number of all pages, or with a word for a page.
type counters struct {
	pages int
	// offsets counts, for the shape of a part of a line, on how many pages its number
	// is how much higher than the page's.
	offsets map[string]map[int]int
}

func newCounters(pages int) counters { return counters{pages, map[string]map[int]int{}} }

// pageNames are words for a page before its number.
const pageNames = `page|pages|p|pg|seite|s|blatt|pagina|página|pág|pag|side|sida|sivu|strona|str|strana|stránka|oldal|sayfa|страница|стр|с|сторінка|σελίδα|σελ|halaman|trang|الصفحة|صفحة|עמוד|पृष्ठ|页面|頁面|ページ|페이지|쪽|หน้า|第`

// pageCounter matches what a program writes around the numbers of a page and of all pages: "Page 2 of 5", or
// "Seite von" where the numbers are left out.
var pageCounter = lazyregexp.New(`(?i)^[\d\s.:,/|()‹›<>·–—-]*(?:(?:` + pageNames + `|slide|folie|diapositive|diapositiva|dia)(?:[\d\s.:,/|()–—-]+(?:\pL{1,4}[\d\s.:,/|()–—-]*)?)?|(?:of|von|sur|de|di|van|av|af|z|из)[\d\s–—-]*)?$`)

// isPageCounter reports whether a header or a footer says nothing but the page.
func isPageCounter(text string) bool {
	return pageCounter.MatchString(text) && !hasAmountOrDate.MatchString(text)
}

var (
	pageWord     = lazyregexp.New(`(?i)^\s*(?:page|seite|pagina|página|pág|side|sida|sivu|strona|str|strana|stránka|oldal|sayfa|страница|стр|halaman|trang)\b`)
	onlyNumber   = lazyregexp.New(`^[^\pL\pN.,]{0,3}\s*(\d{1,5})\s*[^\pL\pN,%°]{0,3}$`)
	numberOfAll  = lazyregexp.New(`^(?:[^\d]{0,20})(\d{1,5})(\s*(?:/|\||[^\d]{1,12}\s)\s*)(\d{1,5})[^\pL\pN%]{0,3}$`)
	numberOfPage = lazyregexp.New(`^(?i:[^\pL\pN]{0,3}(?:` + pageNames + `)[.:]?\s*[-–]?\s*(\d{1,5})(?:\s*[页頁ページ]*)[^\pL\pN]{0,3})$`)
	pageAfter    = lazyregexp.New(`^[^\pL\pN]{0,3}(\d{1,5})\s?(?:페이지|ページ|页|頁|쪽|\. oldal|หน้า)[^\pL\pN]{0,3}$`)
)

// counter returns the number of a part of a line that may be a page number, and what all
// such parts of a document have in common.
func (c counters) counter(part string) (shape string, number int, ok bool) {
	if len(part) > 60 {
		return "", 0, false
	}
	for _, form := range []*lazyregexp.Regexp{onlyNumber, numberOfAll, numberOfPage, pageAfter} {
		m := form.FindStringSubmatchIndex(part)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(part[m[2]:m[3]])
		if err != nil {
			continue
		}
		if form == numberOfAll {
			if all, err := strconv.Atoi(part[m[6]:m[7]]); err != nil || all != c.pages && !pageWord.MatchString(part) {
				continue
			}
		}
		return part[:m[2]] + "#" + part[m[3]:], n, true
	}
	return "", 0, false
}

func (c counters) add(part string, page int) {
	shape, n, ok := c.counter(part)
	if !ok {
		return
	}
	if c.offsets[shape] == nil {
		c.offsets[shape] = map[int]int{}
	}
	c.offsets[shape][n-page]++
}

func (c counters) has(part string, page int) bool {
	shape, n, ok := c.counter(part)
	return ok && c.offsets[shape][n-page] >= repeats
}

// between returns the line breaks between a page's last line and the next page's first.
func between(last, next string) string {
	end, _ := utf8.DecodeLastRuneInString(last)
	first, _ := utf8.DecodeRuneInString(next)
	if strings.ContainsRune(".!?:;", end) || unicode.IsUpper(first) || unicode.IsDigit(first) || strings.Contains(last, tableBar) || strings.Contains(next, tableBar) {
		return "\n\n"
	}
	return "\n"
}
