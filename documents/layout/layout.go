// Package layout finds the blocks of a plain or Markdown text: headings, paragraphs, list
// items and code. Sentences and passages are cut along these blocks.
package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what a block is.
type Kind int

const (
	Paragraph Kind = iota
	Heading
	Item // of a list
	Code
	Rule // a line of punctuation only
	Row  // of a table: "a | b"
)

// Block is a run of whole lines without the white space around them. Start and
// End are byte offsets; blocks are in order, do not overlap, and only white
// space lies between them.
type Block struct {
	Start, End int
	Kind       Kind
	Title      string // of a heading, without its marks; else empty
}

// line is one line of the text, trimmed.
type line struct {
	start, end int // byte offsets of the trimmed text
	text       string
}

func (l line) blank() bool { return l.text == "" }

// Blocks cuts text into blocks in linear time.
func Blocks(text string) []Block {
	lines := split(text)
	var out []Block
	for i := 0; i < len(lines); {
		if lines[i].blank() {
			i++
			continue
		}
		b, next := block(lines, i, out)
		out = append(out, b)
		i = next
	}
	return out
}

// split returns the lines of text; a form feed or a lone carriage return ends a
// line too.
func split(text string) []line {
	lines := make([]line, 0, 1+len(text)/60)
	for pos := 0; pos <= len(text); {
		n := strings.IndexAny(text[pos:], "\n\f\r")
		end := len(text)
		if n >= 0 {
			end = pos + n
		}
		raw := text[pos:end]
		left := len(raw) - len(strings.TrimLeftFunc(raw, unicode.IsSpace))
		trimmed := strings.TrimSpace(raw)
		lines = append(lines, line{pos + left, pos + left + len(trimmed), trimmed})
		pos = end + 1
		if strings.HasPrefix(text[end:], "\r\n") {
			pos++
		}
	}
	return lines
}

// block reads the block that begins at line i, which is not blank, and returns
// the line after it.
func block(lines []line, i int, before []Block) (Block, int) {
	l := lines[i]
	if fence := fenceOf(l.text); fence != "" {
		return codeBlock(lines, i, fence)
	}
	if title, ok := atxTitle(l.text); ok {
		return Block{l.start, l.end, Heading, title}, i + 1
	}
	if ruler(l.text) {
		return Block{l.start, l.end, Rule, ""}, i + 1
	}
	if isRow(lines, i) {
		return Block{l.start, l.end, Row, ""}, i + 1
	}
	if i+1 < len(lines) && underline(l.text, lines[i+1].text) {
		return Block{l.start, lines[i+1].end, Heading, l.text}, i + 2
	}
	if strings.Contains(l.text, " | ") {
		return Block{l.start, l.end, Item, ""}, i + 1
	}
	if startsFresh(lines, i, before) && plainHeading(lines, i) {
		return Block{l.start, l.end, Heading, strings.TrimRight(l.text, ":. ")}, i + 1
	}
	kind := Paragraph
	if isItem(lines, i) {
		kind = Item
	}
	end := i + 1
	for end < len(lines) && continues(lines, end) {
		end++
	}
	return Block{l.start, lines[end-1].end, kind, ""}, end
}

// continues reports whether line i continues the paragraph of line i-1.
func continues(lines []line, i int) bool {
	l, prev := lines[i], lines[i-1]
	switch {
	case l.blank(), fenceOf(l.text) != "", ruler(l.text), isRow(lines, i), isItem(lines, i):
		return false
	case i+1 < len(lines) && underline(l.text, lines[i+1].text):
		return false
	case endsSentence(prev.text) && plainHeading(lines, i):
		return false
	}
	if _, ok := atxTitle(l.text); ok {
		return false
	}
	// A short line before a line with a capital is not a wrapped line: it is part of a
	// letterhead or a form.
	return len(prev.text) >= wrapped || endsSentence(prev.text) || !startsUpper(l.text) || strings.HasSuffix(prev.text, ",")
}

// isRow reports whether line i is a row of a table. A line with a bar between words is one
// only beside another such line, or with a label between them.
func isRow(lines []line, i int) bool {
	if strings.HasPrefix(lines[i].text, "|") {
		return true
	}
	bar := func(k int) bool {
		return k >= 0 && k < len(lines) && (strings.Contains(lines[k].text, " | ") || strings.HasPrefix(lines[k].text, "|"))
	}
	label := func(k int) bool { return bar(k) && len(lines[(i+k)/2].text) > 0 && len(lines[(i+k)/2].text) <= wrapped }
	return bar(i) && (bar(i-1) || bar(i+1) || label(i-2) || label(i+2))
}

func codeBlock(lines []line, i int, fence string) (Block, int) {
	end := i + 1
	for end < len(lines) {
		end++
		if strings.HasPrefix(lines[end-1].text, fence) && strings.Trim(lines[end-1].text, fence[:1]) == "" {
			break
		}
	}
	last := end - 1
	for last > i && lines[last].blank() {
		last--
	}
	return Block{lines[i].start, lines[last].end, Code, ""}, end
}

func fenceOf(s string) string {
	switch {
	case strings.HasPrefix(s, "```"):
		return "```"
	case strings.HasPrefix(s, "~~~") && strings.Trim(s, "~") != "":
		return "~~~"
	}
	return ""
}

// atxTitle returns the title of a Markdown heading line that begins with #.
func atxTitle(s string) (string, bool) {
	level := len(s) - len(strings.TrimLeft(s, "#"))
	if level == 0 || level > 6 || len(s) == level || s[level] != ' ' {
		return "", false
	}
	title := strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s[level:]), "#"))
	return title, title != "" && len(title) <= maxTitle
}

const (
	maxTitle      = 200 // bytes of any heading
	maxPlainTitle = 100 // bytes of a heading without marks
	maxPlainWords = 14
	wrapped       = 50 // bytes; a shorter line was not wrapped
)

// ruler reports whether s repeats one punctuation mark at least three times.
func ruler(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	if len(s) < 3 || !strings.ContainsRune("=-~*_^+#", rune(s[0])) {
		return false
	}
	return strings.Trim(s, s[:1]) == ""
}

// underline reports whether mark underlines title, as in Markdown's setext headings and in
// plain text from document tools.
func underline(title, mark string) bool {
	if title == "" || len(title) > maxTitle || len(mark) < 3 || !ruler(mark) || strings.Contains(mark, " ") || ruler(title) {
		return false
	}
	if marker(title) > 0 && !numberedTitle(title) {
		return false
	}
	return !strings.HasPrefix(title, "|") && 2*len(mark) >= utf8.RuneCountInString(title)
}

// startsFresh reports whether line i can begin something new: after a blank
// line, a heading or the end of a sentence.
func startsFresh(lines []line, i int, before []Block) bool {
	if i == 0 || lines[i-1].blank() || len(before) == 0 {
		return true
	}
	k := before[len(before)-1].Kind
	return k == Heading || k == Rule || endsSentence(lines[i-1].text)
}

// plainHeading reports whether line i reads like a heading although nothing
// marks it: "4.2 Capital buffers", "Article 5", "GENERAL PROVISIONS".
func plainHeading(lines []line, i int) bool {
	s := lines[i].text
	if len(s) > maxPlainTitle || len(strings.Fields(s)) > maxPlainWords {
		return false
	}
	next := ""
	if i+1 < len(lines) {
		next = lines[i+1].text
	}
	if startsLower(next) { // the sentence continues in the next line
		return false
	}
	switch {
	case capitals(s):
		return true
	case legalTitle(s):
		return true
	case numberedTitle(s):
		if next != "" && (len(s) >= wrapped || sentenceInside(s)) {
			return false // a numbered clause that continues in the next line
		}
		return deepNumber(s) || (!enumerated(following(lines, i)) && !enumerated(preceding(lines, i)))
	}
	return false
}

// sentenceInside reports whether a sentence ends within the words of a numbered line. Such
// a line is not a title.
func sentenceInside(s string) bool {
	_, rest := number(s)
	return strings.Contains(rest, ". ")
}

func following(lines []line, i int) string {
	for j := i + 1; j < len(lines) && j <= i+3; j++ {
		if !lines[j].blank() {
			return lines[j].text
		}
	}
	return ""
}

func preceding(lines []line, i int) string {
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		if !lines[j].blank() {
			return lines[j].text
		}
	}
	return ""
}

// enumerated reports whether s is an item "1. …" of a flat list.
func enumerated(s string) bool {
	n, rest := number(s)
	return n != "" && !strings.Contains(strings.TrimRight(n, ".)"), ".") && rest != ""
}

func deepNumber(s string) bool {
	n, _ := number(s)
	return strings.Contains(strings.TrimRight(n, ".)"), ".")
}

// number splits a leading section number ("4", "4.", "4.2", "A.1.3") off s.
func number(s string) (num, rest string) {
	i := strings.IndexByte(s, ' ')
	if i <= 0 || i > 12 {
		return "", s
	}
	digits := false
	for j, r := range s[:i] {
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r == '.', r == ')' && j == i-1:
		case j == 0 && r >= 'A' && r <= 'Z' && i > 1 && s[1] == '.':
		default:
			return "", s
		}
	}
	if !digits {
		return "", s
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func numberedTitle(s string) bool {
	n, rest := number(s)
	if n == "" || rest == "" || strings.HasSuffix(n, ")") || endsSentence(rest) || strings.HasSuffix(rest, ",") {
		return false
	}
	if !strings.Contains(n, ".") && len(n) > 2 { // "2024 The year…" is no section
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsUpper(r) || r == '"' || r == '`'
}

var legalWords = []string{"article", "section", "chapter", "part", "annex", "appendix", "schedule", "title", "rule", "clause", "paragraph", "§"}

// legalTitle reports whether s is a title such as "Article 5" or "Annex II: Forms".
func legalTitle(s string) bool {
	word, rest, ok := strings.Cut(s, " ")
	if !ok {
		return false
	}
	known := false
	for _, w := range legalWords {
		known = known || strings.EqualFold(word, w)
	}
	if !known || !startsUpper(word) && word != "§" {
		return false
	}
	num, tail, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !sectionNumber(strings.TrimRight(num, ".:)–—-")) {
		return false
	}
	tail = strings.TrimLeft(tail, "–—-:. ")
	return tail == "" || (startsUpper(tail) && !endsSentence(tail))
}

// sectionNumber accepts 5, 5a, 4.2, IV, B.
func sectionNumber(s string) bool {
	if s == "" || len(s) > 12 {
		return false
	}
	if strings.Trim(s, "IVXLC") == "" || (len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z') {
		return true
	}
	if s[0] < '0' || s[0] > '9' {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && r != '.' && (r < 'a' || r > 'z') && r != '(' && r != ')' {
			return false
		}
	}
	return true
}

// capitals reports whether s is a short line in capitals.
func capitals(s string) bool {
	if len(s) > 80 {
		return false
	}
	letters := 0
	for _, r := range s {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	return letters >= 5 && !strings.HasSuffix(s, ",") && !strings.ContainsAny(s, "=<>{}|/")
}

// marker returns the length in bytes of a list item's mark with the space after it:
// "- ", "* ", "• ", "1. ", "1) ", "(a) ", "b) "; 0 when there is none.
func marker(s string) int {
	if r, n := utf8.DecodeRuneInString(s); strings.ContainsRune("-*+•◦▪‣·–", r) && len(s) > n && s[n] == ' ' {
		return n + 1
	}
	i := strings.IndexByte(s, ' ')
	if i < 2 || i > 7 {
		return 0
	}
	m := s[:i]
	body := strings.Trim(m, "().")
	if body == "" || body == m || len(body) > 4 {
		return 0
	}
	digits := strings.Trim(body, "0123456789") == ""
	roman := strings.Trim(body, "ivx") == ""
	single := len(body) == 1 && body[0] >= 'a' && body[0] <= 'z'
	closed := strings.HasSuffix(m, ")")
	if digits && (closed || (m[0] != '(' && strings.HasSuffix(m, "."))) || closed && (roman || single) {
		return i + 1
	}
	return 0
}

// isItem reports whether line i is an item of a list. A letter with a point, as in "a. the chair", is
// the mark of one only near a line with the letter before or after it: "z. B." begins none.
func isItem(lines []line, i int) bool {
	if marker(lines[i].text) > 0 {
		return true
	}
	letter := pointed(lines[i].text)
	const near = 12 // lines
	for k := max(0, i-near); letter > 0 && k < min(len(lines), i+near+1); k++ {
		if other := pointed(lines[k].text); k < i && other == letter-1 || k > i && other == letter+1 {
			return true
		}
	}
	return false
}

// pointed returns the small letter before a point and a space at the beginning of a line; 0 if there is none.
func pointed(s string) byte {
	if len(s) > 4 && s[0] >= 'a' && s[0] <= 'z' && s[1] == '.' && s[2] == ' ' && s[4] != '.' {
		return s[0]
	}
	return 0
}

// BulletLen returns the length in bytes of a bullet or block quotation mark ("- ", "• ",
// "> ") at the start of s. These are decoration; "1. " and "(a) " are content.
func BulletLen(s string) int {
	n := 0
	for strings.HasPrefix(s[n:], ">") {
		n++
		for n < len(s) && s[n] == ' ' {
			n++
		}
	}
	if r, _ := utf8.DecodeRuneInString(s[n:]); !unicode.IsDigit(r) && r != '(' && !unicode.IsLetter(r) {
		n += marker(s[n:])
	}
	return n
}

func endsSentence(s string) bool {
	s = strings.TrimRight(s, `"'”’)]*_»`)
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?:;…。！？", r)
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, `"'“‘(*_`))
	return unicode.IsUpper(r) || unicode.IsDigit(r)
}

func startsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}
