package extract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

var webPage = Type{
	Name:       "html",
	Label:      "HTML",
	Extensions: []string{".html", ".htm", ".xhtml"},
	MediaTypes: []string{"text/html", "application/xhtml+xml"},
	Is:         isPage,
	Read:       htmlText,
	content: func(ctx context.Context, raw []byte) (Content, error) {
		c, err := htmlContent(ctx, raw)
		c.Text = clean(c.Text)
		return c, err
	},
}

// isPage recognises a web page whose file name or media type says plain text, or nothing that is
// known: programs save pages as .doc and .xls, which Word and Excel then open.
func isPage(raw []byte, named string) bool {
	if named == "" {
		return strings.HasPrefix(http.DetectContentType(raw), "text/html") && isText(raw)
	}
	head := bytes.ToLower(bytes.TrimLeft(raw[:min(len(raw), 1024)], "\ufeff \t\r\n"))
	return named == "txt" && (bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))) && isText(raw)
}

// htmlText returns the visible text of a page, without scripts, styles and navigation.
// Headings become Markdown headings; each list item and table row is a line. It works on
// tokens, not on a tree, so that deep nesting cannot overflow the stack.
func htmlText(_ context.Context, raw []byte) (string, error) {
	c, err := htmlContent(context.Background(), raw)
	return c.Text, err
}

// htmlContent returns the visible text and the title of a page.
func htmlContent(_ context.Context, raw []byte) (Content, error) {
	decoded, err := toUTF8(raw, declaredCharset(raw))
	if err != nil {
		return Content{}, err
	}
	p, err := readPage([]byte(decoded), 0)
	switch {
	case err != nil:
		return Content{}, err
	case p.full():
		return Content{}, errTooLarge
	}
	return Content{Text: strings.ReplaceAll(p.out.String(), struck+struck, ""), Title: p.title}, nil
}

// readPage reads a page that stands in depth others.
func readPage(raw []byte, depth int) (*page, error) {
	counts := reversedItems(raw)
	// A <nav> that is never closed would hide the rest of the page, so the page is read
	// again with its content.
	keep := map[string]bool{}
	for try := range 5 {
		p := &page{keep: keep, keepAll: try == 4, out: &strings.Builder{}, counts: counts, panels: map[string]bool{}, depth: depth}
		open, err := p.read(raw)
		if err != nil {
			return nil, errNotText
		}
		if open == "" {
			p.closeTables()
			return p, nil
		}
		keep[open] = true
	}
	return nil, errNotText
}

// reversedItems counts the items of each list that counts down, in the lists' order.
func reversedItems(raw []byte) []int {
	if !bytes.Contains(raw, []byte("reversed")) {
		return nil
	}
	var counts []int
	var open []int // for each open list, its place in counts, or -1
	z := html.NewTokenizer(bytes.NewReader(raw))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return counts
		case html.StartTagToken:
			t := z.Token()
			switch {
			case t.DataAtom == atom.Ol && hasAttr(t, "reversed"):
				open = append(open, len(counts))
				counts = append(counts, 0)
			case t.DataAtom == atom.Ol, t.DataAtom == atom.Ul:
				open = append(open, -1)
			case t.DataAtom == atom.Li && len(open) > 0 && open[len(open)-1] >= 0:
				counts[open[len(open)-1]]++
			}
		case html.EndTagToken:
			if t := z.Token(); len(open) > 0 && (t.DataAtom == atom.Ol || t.DataAtom == atom.Ul) {
				open = open[:len(open)-1]
			}
		}
	}
}

var charsetOf = lazyregexp.New(`(?i)<(?:meta|\?xml)[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([-\w:.]{2,40})`)

// declaredCharset returns the encoding that a page names, wherever it stands in it, or "".
func declaredCharset(raw []byte) string {
	if m := charsetOf.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return ""
}

// gap is the white space to write before the next text.
type gap int

const (
	none gap = iota
	space
	newLine
	blankLine
)

type page struct {
	keep    map[string]bool // tags whose content is read although it is usually left out
	keepAll bool
	counts  []int           // items of the lists that count down and have not begun
	panels  map[string]bool // ids of parts that a button shows

	title   string
	out     *strings.Builder
	pending gap
	prefix  string // written before the next text: "# ", "- ", "~~"
	pre     int    // depth of <pre>
	lists   []htmlList
	tables  []*htmlTable
	formula []mathPlace // open elements of an equation
	block   int         // depth of headings, paragraphs, items and cells, in which a button is text
	marks   []textMark  // open elements that change their text
	boxes   []htmlBox   // open elements that are read as others
	hasMath bool        // an equation began
	status  bool        // the status of a task is read
	written int         // bytes of merged cells that were repeated
	depth   int         // of pages that it stands in

	skip      string // tag whose content is being left out
	skipDepth int
}

// htmlList is an open list.
type htmlList struct {
	next   int // number of the next item
	step   int // 1, -1; 0: bullets
	format string
	tasks  bool
}

// textMark is an open element whose text is written in another way: raised, lowered or
// struck through.
type textMark struct {
	tag  atom.Atom
	from int // where its text begins in out; -1: after the mark of an item that is not written yet
}

// htmlBox is an open element that its style or its role makes another one.
type htmlBox struct {
	tag    string
	as     atom.Atom
	nested int // open elements with the same tag in it
}

// mathPlace is an open element of an equation.
type mathPlace struct {
	tag   string
	child int // elements that began within it
}

// maxOpen limits the depth of what is remembered; deeper elements are plain text.
const maxOpen = 100

func (p *page) full() bool { return p.out.Len() > MaxText || p.written > MaxText }

// read writes the page's text to p.out. open is the left-out tag that is never closed, or "".
func (p *page) read(raw []byte) (open string, err error) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	inTitle := false
	for !p.full() {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				return "", z.Err()
			}
			if p.skip == "script" || p.skip == "style" { // no text, closed or not
				return "", nil
			}
			return p.skip, nil
		case html.TextToken:
			if p.skip == "" {
				p.text(string(z.Text()))
			} else if inTitle && p.title == "" {
				p.title = strings.Join(strings.Fields(string(html.UnescapeString(string(z.Raw())))), " ")
			}
		case html.StartTagToken:
			t := z.Token()
			inTitle = t.DataAtom == atom.Title && p.skip == "head"
			p.start(t)
		case html.SelfClosingTagToken:
			if t := z.Token(); p.skip == "" {
				p.open(t)
			}
		case html.EndTagToken:
			inTitle = false
			p.end(z.Token())
		}
	}
	return "", nil
}

func (p *page) start(t html.Token) {
	p.endOption(t.DataAtom)
	if p.skip != "" {
		switch {
		case t.Data == p.skip:
			p.skipDepth++
		case p.skip == "head" && t.DataAtom == atom.Body: // its end tag may be missing
			p.skip, p.skipDepth = "", 0
		}
		return
	}
	if id := htmlAttr(t, "aria-controls"); id != "" && len(p.panels) < 10_000 {
		p.panels[id] = true
	}
	if t.DataAtom == atom.Iframe {
		p.frame(htmlAttr(t, "srcdoc"))
	}
	if p.leaveOut(t) {
		p.skip, p.skipDepth = t.Data, 1
		return
	}
	p.open(t)
}

// maxFrames limits how many pages stand in each other.
const maxFrames = 2

// frame writes a page that stands in this one.
func (p *page) frame(raw string) {
	if raw == "" || p.depth >= maxFrames {
		return
	}
	if inner, err := readPage([]byte(raw), p.depth+1); err == nil {
		p.writeBlock(strings.TrimSpace(inner.out.String()))
		p.written += inner.written
	}
}

func htmlAttr(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttr(t html.Token, key string) bool {
	return slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == key })
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr, atom.Param:
		return true
	}
	return false
}

func (p *page) leaveOut(t html.Token) bool {
	switch t.DataAtom {
	case atom.Script, atom.Style:
		return true
	}
	if isVoid(t.DataAtom) || p.keepAll || p.keep[t.Data] {
		return false
	}
	switch t.DataAtom {
	case atom.Head, atom.Nav, atom.Template, atom.Noscript, atom.Svg, atom.Iframe,
		atom.Object, atom.Audio, atom.Video, atom.Canvas, atom.Rp:
		return true
	case atom.Option:
		return !hasAttr(t, "selected")
	case atom.Optgroup, atom.Select:
		return false
	case atom.Button:
		// Buttons that carry a heading, the name of a panel or words of a text.
		return p.block == 0 && htmlAttr(t, "role") != "tab" && !hasAttr(t, "aria-expanded") && !hasAttr(t, "aria-controls")
	case atom.Dialog:
		return !hasAttr(t, "open")
	}
	switch {
	case t.Data == "annotation", t.Data == "annotation-xml", htmlAttr(t, "role") == "navigation", t.Data == "ac:task-id":
		return true
	case htmlAttr(t, "aria-hidden") == "true" && (t.Data == "nobr" || p.hasMath && htmlAttr(t, "class") == "katex-html"): // an equation, drawn once more
		return true
	case hasAttr(t, "hidden"): // a panel is shown when a person asks for it
		return htmlAttr(t, "role") != "tabpanel" && htmlAttr(t, "hidden") != "until-found" && !p.panels[htmlAttr(t, "id")]
	}
	return false
}

func isBlockOfWords(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.P, atom.Li, atom.Dt, atom.Dd, atom.Td, atom.Th, atom.Summary:
		return true
	}
	return false
}

// endOption ends an option that is left out, if its end tag is missing.
func (p *page) endOption(next atom.Atom) {
	if p.skip == "option" && (next == atom.Option || next == atom.Optgroup || next == atom.Select || next == atom.Datalist) {
		p.skip, p.skipDepth = "", 0
	}
}

func (p *page) end(t html.Token) {
	if t.DataAtom != atom.Option {
		p.endOption(t.DataAtom)
	}
	if p.skip != "" {
		if t.Data == p.skip {
			if p.skipDepth--; p.skipDepth == 0 {
				p.skip = ""
			}
		}
		return
	}
	a := p.endBox(t)
	if isBlockOfWords(a) {
		p.block = max(0, p.block-1)
	}
	switch a {
	case atom.Pre:
		p.pre = max(0, p.pre-1)
	case atom.Ul, atom.Ol:
		if n := len(p.lists); n > 0 {
			p.lists = p.lists[:n-1]
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.prefix = "" // of an empty heading
	case atom.Sup, atom.Sub, atom.S, atom.Strike, atom.Del:
		p.endMark(a)
	case atom.Rt:
		p.out.WriteString(")")
	case atom.Td, atom.Th:
		p.endCell()
	case atom.Tr:
		p.endRow()
	case atom.Table:
		p.endTable()
	default:
		p.status = false
		p.endMath(t.Data)
	}
	p.requestGap(gapOf(a))
}

// open handles the start of an element: it requests the gap and the prefix before its
// content.
func (p *page) open(t html.Token) {
	a := t.DataAtom
	as := readAs(t)
	switch as {
	case atom.Table, atom.Tr, atom.Td:
		a = as
	}
	if isBlockOfWords(a) {
		p.block = min(p.block+1, maxOpen)
	}
	switch a {
	case atom.Table:
		p.startTable()
	case atom.Tr:
		p.endRow()
	case atom.Td, atom.Th:
		p.startCell(t)
		p.openBox(t, as)
		return
	}
	p.requestGap(gapOf(a))
	p.openBox(t, as)
	switch a {
	case atom.Button:
		if p.block == 0 {
			p.requestGap(newLine)
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.prefix = strings.Repeat("#", int(a.String()[1]-'0')) + " "
		p.blocky()
	case atom.Pre:
		p.pre++
	case atom.Ul, atom.Ol:
		p.lists = append(p.lists, p.list(t))
	case atom.Li:
		p.prefix = p.itemMark(t)
	case atom.Sup, atom.Sub, atom.S, atom.Strike, atom.Del:
		if len(p.marks) < maxOpen && p.pre == 0 {
			p.marks = append(p.marks, textMark{a, p.out.Len()})
		}
	case atom.Rt:
		p.out.WriteString("(")
	case atom.Input:
		p.input(t)
	case atom.Img:
		if n := len(p.tables); n > 0 && p.tables[n-1].inCell && p.out.Len() == 0 {
			p.text(htmlAttr(t, "alt"))
		}
	default:
		switch t.Data {
		case "ac:task":
			p.requestGap(newLine)
		case "ac:task-status":
			p.status = true
		}
		if is := htmlAttr(t, "role"); (is == "checkbox" || is == "radio" || is == "switch") && hasAttr(t, "aria-checked") {
			p.requestGap(space)
			p.text(taskMark(htmlAttr(t, "aria-checked") == "true"))
			p.requestGap(space)
		}
		p.startMath(t.Data)
	}
}

// readAs returns the element as which its style or its role makes people see one: a table, a row, a cell, or text
// that is struck through, raised or lowered; 0 if it makes it none of these.
func readAs(t html.Token) atom.Atom {
	role, style := htmlAttr(t, "role"), htmlAttr(t, "style")
	if role == "" && style == "" || isVoid(t.DataAtom) {
		return 0
	}
	style = strings.ToLower(strings.ReplaceAll(style, " ", ""))
	switch t.DataAtom {
	case atom.Table, atom.Tr, atom.Td, atom.Th, atom.Thead, atom.Tbody, atom.Tfoot:
	default:
		switch styled := styleOf(style, "display"); {
		case role == "table", role == "grid", role == "treegrid", styled == "table":
			return atom.Table
		case role == "row", styled == "table-row":
			return atom.Tr
		case role == "cell", role == "gridcell", role == "columnheader", role == "rowheader", styled == "table-cell":
			return atom.Td
		}
	}
	switch styled := styleOf(style, "vertical-align"); {
	case strings.Contains(styleOf(style, "text-decoration")+styleOf(style, "text-decoration-line"), "line-through"):
		return atom.S
	case styled == "super":
		return atom.Sup
	case styled == "sub":
		return atom.Sub
	}
	return 0
}

// styleOf returns the value of a property in a style without spaces.
func styleOf(style, property string) string {
	for part := range strings.SplitSeq(style, ";") {
		if name, value, _ := strings.Cut(part, ":"); name == property {
			return strings.TrimSuffix(value, "!important")
		}
	}
	return ""
}

// openBox notes an element that is read as another one, so that its end is found.
func (p *page) openBox(t html.Token, as atom.Atom) {
	n := len(p.boxes)
	switch {
	case as != 0 && n < maxOpen:
		p.boxes = append(p.boxes, htmlBox{tag: t.Data, as: as})
		if (as == atom.S || as == atom.Sup || as == atom.Sub) && len(p.marks) < maxOpen && p.pre == 0 {
			p.marks = append(p.marks, textMark{as, -1})
		}
	case n > 0 && p.boxes[n-1].tag == t.Data:
		p.boxes[n-1].nested++
	}
}

// endBox returns the element that ends with a tag.
func (p *page) endBox(t html.Token) atom.Atom {
	n := len(p.boxes)
	if n == 0 || p.boxes[n-1].tag != t.Data {
		return t.DataAtom
	}
	box := &p.boxes[n-1]
	if box.nested--; box.nested >= 0 {
		return t.DataAtom
	}
	as := box.as
	p.boxes = p.boxes[:n-1]
	switch as {
	case atom.S, atom.Sup, atom.Sub:
		p.endMark(as)
		return t.DataAtom
	}
	return as
}

// input writes what a person entered into a saved form.
func (p *page) input(t html.Token) {
	value := htmlAttr(t, "value")
	switch strings.ToLower(htmlAttr(t, "type")) {
	case "checkbox", "radio":
		value = "☐"
		if hasAttr(t, "checked") {
			value = "☒"
		}
	case "", "text", "number", "date", "datetime-local", "month", "week", "time", "email", "tel", "url":
	default:
		return
	}
	if value != "" {
		p.requestGap(space)
		p.text(value)
		p.requestGap(space)
	}
}

// endMark rewrites the text of an element that ends.
func (p *page) endMark(tag atom.Atom) {
	n := len(p.marks)
	if n == 0 || p.marks[n-1].tag != tag {
		return
	}
	from := p.marks[n-1].from
	p.marks = p.marks[:n-1]
	all := p.out.String()
	if from < 0 || from > len(all) || len(all)-from > 4000 {
		return
	}
	text := all[from:]
	changed := text
	switch tag {
	case atom.Sup:
		changed = superscript(text)
	case atom.Sub:
		changed = subscript(text)
	default:
		changed = strike(text)
	}
	if changed != text {
		p.truncate(from)
		p.out.WriteString(changed)
	}
}

func (p *page) truncate(n int) {
	kept := p.out.String()[:n]
	p.out.Reset()
	p.out.WriteString(kept)
}

// startMath puts the signs of an equation before its parts: of a fraction, a power, a root.
func (p *page) startMath(tag string) {
	n := len(p.formula)
	if n > 0 && n < maxOpen {
		of := &p.formula[n-1]
		of.child++
		sign := ""
		switch {
		case of.child == 2 && of.tag == "mfrac":
			sign = "/"
		case of.child == 2 && (of.tag == "msup" || of.tag == "mover"), of.child == 3 && of.tag == "msubsup":
			sign = "^"
		case of.child == 2 && (of.tag == "msub" || of.tag == "msubsup" || of.tag == "munder"):
			sign = "_"
		case of.child == 1 && of.tag == "msqrt":
			sign = "√"
		}
		p.out.WriteString(sign)
		if tag == "mrow" && sign != "" {
			p.out.WriteString("(")
		}
	}
	p.hasMath = p.hasMath || tag == "math"
	if (tag == "math" || n > 0) && n < maxOpen {
		p.formula = append(p.formula, mathPlace{tag: tag})
	}
}

func (p *page) endMath(tag string) {
	n := len(p.formula)
	if n == 0 || p.formula[n-1].tag != tag {
		return
	}
	p.formula = p.formula[:n-1]
	if n > 1 && tag == "mrow" {
		switch of := p.formula[n-2]; {
		case of.tag == "msqrt", of.child >= 2 && slices.Contains([]string{"mfrac", "msup", "msub", "msubsup"}, of.tag):
			p.out.WriteString(")")
		}
	}
}

// numeralStyles are the formats of numbers by their names in style sheets. Those without a number are "".
var numeralStyles = map[string]string{
	"none": "", "disc": "", "circle": "", "square": "", "decimal": "decimal", "decimal-leading-zero": "decimalZero", "lower-alpha": "lowerLetter", "lower-latin": "lowerLetter",
	"upper-alpha": "upperLetter", "upper-latin": "upperLetter", "lower-roman": "lowerRoman", "upper-roman": "upperRoman", "lower-greek": "lowerGreek", "hebrew": "hebrew1", "thai": "thaiNumbers",
	"devanagari": "hindiNumbers", "arabic-indic": "arabicIndic", "cjk-decimal": "ideographDigital", "cjk-ideographic": "chineseCounting", "simp-chinese-informal": "chineseCounting", "trad-chinese-informal": "chineseCounting",
	"simp-chinese-formal": "chineseLegalSimplified", "trad-chinese-formal": "ideographLegalTraditional", "japanese-informal": "japaneseCounting", "japanese-formal": "japaneseLegal", "korean-hangul-formal": "koreanCounting",
	"hiragana": "hiragana", "katakana": "aiueo", "katakana-iroha": "iroha", "cjk-heavenly-stem": "ideographTraditional", "cjk-earthly-branch": "ideographZodiac",
}

// numeralStyle returns the format of numbers that the style of a list or an item names.
func numeralStyle(t html.Token) (format string, ok bool) {
	for _, value := range strings.FieldsFunc(strings.ToLower(htmlAttr(t, "style")), func(r rune) bool { return r == ' ' || r == ';' || r == ':' }) {
		if format, ok = numeralStyles[value]; ok && strings.Contains(htmlAttr(t, "style"), "list-style") {
			return format, true
		}
	}
	return "", false
}

func (p *page) list(t html.Token) htmlList {
	isOrdered := t.DataAtom == atom.Ol
	l := htmlList{next: 1, format: map[string]string{"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}[htmlAttr(t, "type")]}
	format, styled := numeralStyle(t)
	if styled {
		l.format = format
	}
	if isOrdered && !styled || format != "" {
		l.step = 1
	}
	l.tasks = slices.ContainsFunc(strings.Fields(htmlAttr(t, "class")), func(c string) bool { return c == "inline-task-list" })
	if isOrdered && hasAttr(t, "reversed") {
		l.step = -l.step
		if len(p.counts) > 0 {
			l.next, p.counts = p.counts[0], p.counts[1:]
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(htmlAttr(t, "start"))); err == nil {
		l.next = n
	}
	return l
}

// taskMark returns the box before a task.
func taskMark(isDone bool) string {
	if isDone {
		return "☒"
	}
	return "☐"
}

func (p *page) itemMark(t html.Token) string {
	n := len(p.lists)
	switch done := htmlAttr(t, "data-checked"); {
	case done != "":
		return "- " + taskMark(done == "true") + " "
	case n > 0 && p.lists[n-1].tasks:
		return "- " + taskMark(slices.Contains(strings.Fields(htmlAttr(t, "class")), "checked")) + " "
	case n == 0 || p.lists[n-1].step == 0:
		return "- "
	}
	l := &p.lists[n-1]
	if n, err := strconv.Atoi(strings.TrimSpace(htmlAttr(t, "value"))); err == nil {
		l.next = n
	}
	number, format := strconv.Itoa(l.next), l.format
	if own, ok := numeralStyle(t); ok {
		format = own
	}
	if format != "" && l.next > 0 {
		number = numeral(l.next, format)
	}
	l.next += l.step
	return number + ". "
}

func gapOf(a atom.Atom) gap {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Section,
		atom.Article, atom.Blockquote, atom.Pre, atom.Hr, atom.Header, atom.Footer, atom.Main, atom.Aside, atom.Figure,
		atom.Form, atom.Fieldset, atom.Details, atom.Body:
		return blankLine
	case atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Br, atom.Div, atom.Caption, atom.Figcaption, atom.Summary, atom.Address,
		atom.Legend, atom.Option:
		return newLine
	}
	return none
}

// requestGap asks for white space before the next text. It does nothing while a prefix
// waits to be written, as in "<li><p>".
func (p *page) requestGap(g gap) {
	if p.prefix == "" {
		p.pending = max(p.pending, g)
	}
}

func (p *page) text(s string) {
	if p.status { // of a task of Confluence
		s, p.status = taskMark(strings.TrimSpace(s) == "complete")+" ", false
	}
	if p.pre > 0 {
		p.preformatted(s)
		return
	}
	trimmed := strings.TrimSpace(s)
	if trimmed == "" || trimmed == "¶" { // the pilcrow is a link to a heading
		if s != "" {
			p.requestGap(space)
		}
		return
	}
	if r, _ := utf8.DecodeRuneInString(s); unicode.IsSpace(r) {
		p.requestGap(space)
	}
	p.writeGap()
	for i, w := range strings.Fields(trimmed) {
		if i > 0 {
			p.out.WriteByte(' ')
		}
		p.out.WriteString(w)
	}
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsSpace(r) {
		p.requestGap(space)
	}
}

func (p *page) preformatted(s string) {
	if strings.Trim(s, "\r\n") == "" {
		p.out.WriteString(s)
		return
	}
	if p.pending >= newLine || p.prefix != "" {
		p.writeGap()
	}
	p.pending = none
	p.out.WriteString(s)
}

// writeGap writes the pending white space and prefix.
func (p *page) writeGap() {
	if p.out.Len() > 0 {
		p.out.WriteString([...]string{"", " ", "\n", "\n\n"}[p.pending])
	}
	p.pending = none
	p.out.WriteString(p.prefix)
	p.prefix = ""
	for i := len(p.marks) - 1; i >= 0 && p.marks[i].from < 0; i-- {
		p.marks[i].from = p.out.Len()
	}
}
