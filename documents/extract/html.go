package extract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var webPage = Type{
	Name:       "html",
	Label:      "HTML",
	Extensions: []string{".html", ".htm", ".xhtml"},
	MediaTypes: []string{"text/html", "application/xhtml+xml"},
	Is:         isPage,
	Read:       htmlText,
}

// isPage recognises a web page whose file name or media type says plain text.
func isPage(raw []byte, named string) bool {
	head := bytes.ToLower(bytes.TrimLeft(raw[:min(len(raw), 1024)], "\ufeff \t\r\n"))
	return named == "txt" && (bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))) && isText(raw)
}

// htmlText returns the visible text of a page, without scripts, styles and navigation.
// Headings become Markdown headings; each list item and table row is a line. It works on
// tokens, not on a tree, so that deep nesting cannot overflow the stack.
func htmlText(_ context.Context, raw []byte) (string, error) {
	decoded, err := toUTF8(raw, declaredCharset(raw))
	if err != nil {
		return "", err
	}
	raw = []byte(decoded)
	// A <nav> that is never closed would hide the rest of the page, so the page is read
	// again with its content.
	keep := map[string]bool{}
	for try := range 5 {
		p := &page{keep: keep, keepAll: try == 4}
		open, err := p.read(raw)
		if err != nil {
			return "", errNotText
		}
		if open == "" {
			return p.out.String(), nil
		}
		keep[open] = true
	}
	return "", errNotText
}

var charsetOf = regexp.MustCompile(`(?i)<(?:meta|\?xml)[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([-\w:.]{2,40})`)

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

	out     strings.Builder
	pending gap
	prefix  string // written before the next text: "# ", "- ", " | "
	pre     int    // depth of <pre>
	lists   []int  // for each open list, the number of its next item; -1: bullets
	row     bool   // the table row has text

	skip      string // tag whose content is being left out
	skipDepth int
}

// read writes the page's text to p.out. open is the left-out tag that is never closed, or "".
func (p *page) read(raw []byte) (open string, err error) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	for {
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
			}
		case html.StartTagToken:
			p.start(z.Token())
		case html.SelfClosingTagToken:
			if t := z.Token(); p.skip == "" {
				p.open(t.DataAtom)
			}
		case html.EndTagToken:
			p.end(z.Token())
		}
	}
}

func (p *page) start(t html.Token) {
	if p.skip != "" {
		switch {
		case t.Data == p.skip:
			p.skipDepth++
		case p.skip == "head" && t.DataAtom == atom.Body: // its end tag may be missing
			p.skip, p.skipDepth = "", 0
		}
		return
	}
	if p.leaveOut(t) {
		p.skip, p.skipDepth = t.Data, 1
		return
	}
	p.open(t.DataAtom)
}

func (p *page) leaveOut(t html.Token) bool {
	switch t.DataAtom {
	case atom.Script, atom.Style:
		return true
	case atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr, atom.Param:
		return false
	}
	if p.keepAll || p.keep[t.Data] {
		return false
	}
	switch t.DataAtom {
	case atom.Head, atom.Nav, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Select, atom.Button,
		atom.Object, atom.Audio, atom.Video, atom.Canvas, atom.Textarea:
		return true
	}
	for _, a := range t.Attr {
		switch {
		case a.Key == "role" && a.Val == "navigation", a.Key == "hidden", a.Key == "aria-hidden" && a.Val == "true":
			return true
		}
	}
	return false
}

func (p *page) end(t html.Token) {
	if p.skip != "" {
		if t.Data == p.skip {
			if p.skipDepth--; p.skipDepth == 0 {
				p.skip = ""
			}
		}
		return
	}
	switch t.DataAtom {
	case atom.Pre:
		p.pre = max(0, p.pre-1)
	case atom.Ul, atom.Ol:
		if n := len(p.lists); n > 0 {
			p.lists = p.lists[:n-1]
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.prefix = "" // of an empty heading
	}
	p.requestGap(gapOf(t.DataAtom))
}

// open handles the start of an element: it requests the gap and the prefix before its
// content.
func (p *page) open(a atom.Atom) {
	p.requestGap(gapOf(a))
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.prefix = strings.Repeat("#", int(a.String()[1]-'0')) + " "
	case atom.Pre:
		p.pre++
	case atom.Ul:
		p.lists = append(p.lists, -1)
	case atom.Ol:
		p.lists = append(p.lists, 1)
	case atom.Li:
		p.prefix = p.itemMark()
	case atom.Tr:
		p.row = false
	case atom.Td, atom.Th:
		if p.row {
			p.prefix, p.pending = " | ", none
		}
	}
}

func (p *page) itemMark() string {
	n := len(p.lists)
	if n == 0 || p.lists[n-1] < 0 {
		return "- "
	}
	p.lists[n-1]++
	return strconv.Itoa(p.lists[n-1]-1) + ". "
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
	p.row = true
}
