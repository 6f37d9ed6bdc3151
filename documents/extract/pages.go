package extract

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
)

// joinPages makes one clean text of pages and returns where each page begins in it. It
// leaves out headers and footers that repeat, and pages without text. A sentence that
// continues on the next page stays in one paragraph.
func joinPages(pages []string) (text string, starts []chat.PageStart) {
	split := make([][]string, len(pages))
	for i, p := range pages {
		split[i] = strings.Split(strings.TrimSpace(clean(p)), "\n")
	}
	running := runningLines(split)
	var b strings.Builder
	last, at := "", 0 // at counts characters
	write := func(s string) {
		b.WriteString(s)
		at += utf8.RuneCountInString(s)
	}
	for i, lines := range split {
		lines = withoutRunning(lines, running)
		if len(lines) == 0 {
			continue
		}
		if b.Len() > 0 {
			write(between(last, lines[0]))
		}
		starts = append(starts, chat.PageStart{Page: i + 1, Start: at})
		write(strings.Join(lines, "\n"))
		last = lines[len(lines)-1]
	}
	return b.String(), starts
}

// edge is how many lines at the top and at the bottom of a page may be header or footer.
const edge = 2

// runningLines returns the shapes of lines that stand at the edges of at least a tenth of
// the pages, and of at least three pages.
func runningLines(pages [][]string) map[string]bool {
	counts := map[string]int{}
	for _, lines := range pages {
		seen := map[string]bool{}
		for i, l := range lines {
			if atEdge(i, len(lines)) && !seen[shape(l)] {
				seen[shape(l)] = true
				counts[shape(l)]++
			}
		}
	}
	out := map[string]bool{}
	for s, n := range counts {
		if s == "" || n < 3 || n*10 < len(pages) {
			continue
		}
		// Without words, only a single number is a page number; several may be a table.
		out[s] = strings.IndexFunc(s, unicode.IsLetter) >= 0 || strings.Count(s, "#") == 1
	}
	return out
}

func withoutRunning(lines []string, running map[string]bool) []string {
	var out []string
	for i, l := range lines {
		if !atEdge(i, len(lines)) || !running[shape(l)] {
			out = append(out, strings.TrimRightFunc(l, unicode.IsSpace))
		}
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

func atEdge(i, n int) bool { return i < edge || i >= n-edge }

// sectionStart matches a line that begins like a section's heading. Its number belongs to
// the section and is not a page number.
var sectionStart = regexp.MustCompile(`^(?i:article|section|chapter|clause|part|annex|appendix|schedule|rule|§)\s*[\dIVX]|^\d+\.`)

// shape returns a line with # for every number: "Page 3 of 10" becomes "Page # of #".
func shape(l string) string {
	l = strings.TrimSpace(l)
	if sectionStart.MatchString(l) {
		return l
	}
	var b strings.Builder
	digit := false
	for _, r := range l {
		if unicode.IsDigit(r) {
			if !digit {
				b.WriteByte('#')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}

// between returns the line breaks between a page's last line and the next page's first.
func between(last, next string) string {
	end, _ := utf8.DecodeLastRuneInString(last)
	first, _ := utf8.DecodeRuneInString(next)
	if strings.ContainsRune(".!?:;", end) || unicode.IsUpper(first) || unicode.IsDigit(first) {
		return "\n\n"
	}
	return "\n"
}
