package extract

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

var wordFile = officeFile(Type{
	Name:       "docx",
	Label:      "Word",
	Extensions: []string{".docx", ".docm", ".dotx", ".dotm"},
	MediaTypes: []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
}, []string{"openxmlformats-officedocument.wordprocessingml.document.main+xml", "openxmlformats-officedocument.wordprocessingml.template.main+xml", "ms-word.document.", "ms-word.template."}, wordText)

// wordText returns the text of a document. Headings become Markdown headings, with the
// numbers that Word makes; each list item and table row is a line. Notes, comments and
// charts follow the paragraph that refers to them. Headers and footers are at the end, once.
func wordText(a *archive) (string, error) {
	main, err := a.mainPart()
	if err != nil {
		return "", err
	}
	d := wordDocument{a: a, notes: map[string]map[string]string{}, links: map[string]string{}}
	if err := d.readParts(main); err != nil {
		return "", err
	}
	w := d.walker(&d.o)
	w.link, w.after = d.link, d.writeLater
	if err := w.walk(a, main, d.o.full); err != nil {
		return "", err
	}
	d.writeLater()
	if err := d.writeEdges(main); err != nil {
		return "", err
	}
	return d.o.text()
}

// wordDocument is a document that is being read.
type wordDocument struct {
	a      *archive
	o      outline
	levels map[string]int // of headings, by style
	lists  *numbering
	notes  map[string]map[string]string // texts of footnotes, endnotes and comments, by id
	links  map[string]string            // parts by the id of their relation
	count  int                          // of notes
	later  []string                     // texts that follow the paragraph
}

func (d *wordDocument) readParts(main string) error {
	styles, err := wordStyles(d.a, main)
	if err != nil {
		return err
	}
	d.levels = map[string]int{}
	for id := range styles {
		if level := styleLevel(styles, id); level > 0 {
			d.levels[id] = level
		}
	}
	if d.lists, err = readNumbering(d.a, main, styles); err != nil {
		return err
	}
	for name, of := range map[string]string{"footnotes": "footnoteReference", "endnotes": "endnoteReference", "comments": "commentReference"} {
		part, err := d.a.related(main, name)
		if err != nil {
			return err
		}
		if part == "" {
			continue
		}
		if d.notes[of], err = d.readNotes(part); err != nil {
			return err
		}
	}
	relations, err := d.a.relations(main)
	for _, r := range relations {
		d.links[r.ID] = r.Target
	}
	return err
}

// walker returns a walker that writes paragraphs and rows to an outline.
func (d *wordDocument) walker(o *outline) *officeText {
	label := ""
	w := &officeText{row: o.row, endTable: o.endTable}
	w.label = func(p *officeParagraph) string { label = d.lists.label(p); return label }
	w.paragraph = func(p officeParagraph) {
		level := p.outline
		if level == 0 {
			level = d.levels[p.style]
		}
		text := strings.TrimSpace(p.text.String())
		mark := label
		label = ""
		switch {
		case text == "":
		case level > 0 && (mark == "" || mark == "-"):
			o.heading(level, text)
		case level > 0:
			o.heading(level, mark+" "+text)
		case mark != "":
			o.add(item, mark+" ", text)
		default:
			o.add(paragraph, "", text)
		}
	}
	return w
}

// link returns the text that stands at the place of a reference, and keeps what follows the
// paragraph.
func (d *wordDocument) link(name, id string) string {
	switch name {
	case "footnoteReference", "endnoteReference":
		note := d.notes[name][id]
		if note == "" {
			return ""
		}
		delete(d.notes[name], id)
		d.count++
		mark := superscript(strconv.Itoa(d.count))
		d.later = append(d.later, mark+" "+note)
		return mark
	case "commentReference":
		if note := d.notes[name][id]; note != "" {
			delete(d.notes[name], id)
			d.later = append(d.later, note)
		}
	case "altChunk":
		if text := d.chunk(d.links[id]); text != "" {
			d.later = append(d.later, text)
			if len(d.later) == 1 {
				d.writeLater()
			}
		}
	case "chart":
		d.later = append(d.later, chartText(d.a, d.links[id]))
	case "relIds":
		d.later = append(d.later, diagramText(d.a, d.links[id]))
	}
	return ""
}

func (d *wordDocument) writeLater() {
	later := d.later
	d.later = nil
	for _, text := range later {
		d.o.add(paragraph, "", text)
	}
}

// chunk returns the text of a file within the document.
func (d *wordDocument) chunk(part string) string {
	in, err := d.a.open(part)
	if err != nil {
		return ""
	}
	defer in.Close()
	raw, err := io.ReadAll(io.LimitReader(in, maxPart))
	if err != nil {
		return ""
	}
	text := ""
	switch {
	case bytes.HasPrefix(raw, []byte("PK")):
		inner, err := openArchive(raw)
		// A chunk within a chunk is left out.
		if err == nil && inner.check() == nil && !d.a.inner {
			inner.inner = true
			text, _ = wordText(inner)
		}
	case isRTF(raw):
		text, _ = rtfText(context.Background(), raw)
	case isSavedPage(raw):
		c, _ := mailContent(context.Background(), raw)
		text = c.Text
	case strings.HasSuffix(part, ".txt"):
		text, _ = toUTF8(raw, "")
	default:
		text, _ = htmlText(context.Background(), raw)
	}
	return strings.TrimSpace(clean(text))
}

// readNotes returns the texts of notes or comments by their ids. The ones that only draw a
// line have none.
func (d *wordDocument) readNotes(part string) (map[string]string, error) {
	out := map[string]string{}
	in, err := d.a.open(part)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	x := xml.NewDecoder(in)
	var o outline
	w := d.walker(&o)
	id, author := "", ""
	for {
		if w.size > MaxText || w.copied > MaxText || o.full() {
			return nil, errTooLarge
		}
		token, err := x.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if name := t.Name.Local; name == "footnote" || name == "endnote" || name == "comment" {
				id, author, o = attr(t, "id"), attr(t, "author"), outline{}
				break
			}
			w.start(t)
		case xml.EndElement:
			switch t.Name.Local {
			case "footnote", "endnote":
				out[id] = o.out.String()
			case "comment":
				if text := o.out.String(); text != "" {
					out[id] = commentText(author, text)
				}
			default:
				w.end(t.Name)
			}
		case xml.CharData:
			if w.inText && w.skip == 0 && !w.run.hidden {
				w.write(w.run.mark(string(t)))
			}
		}
	}
}

// commentText marks a comment as such.
func commentText(author, text string) string {
	if author = strings.TrimSpace(author); author != "" {
		return "Comment (" + author + "): " + text
	}
	return "Comment: " + text
}

// writeEdges writes each header and footer once, and comments and notes without a place.
func (d *wordDocument) writeEdges(main string) error {
	for _, notes := range []string{"footnoteReference", "endnoteReference", "commentReference"} {
		for _, id := range sortedKeys(d.notes[notes]) {
			d.o.add(paragraph, "", d.notes[notes][id])
		}
	}
	relations, err := d.a.relations(main)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, kind := range []string{"header", "footer"} {
		for _, r := range relations {
			if !strings.HasSuffix(r.Type, "/"+kind) || !d.a.has(r.Target) {
				continue
			}
			var o outline
			if err := d.walker(&o).walk(d.a, r.Target, o.full); err != nil {
				return err
			}
			text := strings.Join(strings.Fields(o.out.String()), " ")
			if text != "" && !isPageCounter(text) && !seen[text] {
				seen[text] = true
				d.o.add(paragraph, strings.ToUpper(kind[:1])+kind[1:]+": ", text)
			}
		}
	}
	return nil
}

type wordStyle struct {
	ID      string `xml:"styleId,attr"`
	Name    value  `xml:"name"`
	BasedOn value  `xml:"basedOn"`
	Outline *value `xml:"pPr>outlineLvl"`
	List    value  `xml:"pPr>numPr>numId"`
	Level   *value `xml:"pPr>numPr>ilvl"`
}

// wordStyles returns the styles of a document by their ids.
func wordStyles(a *archive, main string) (map[string]wordStyle, error) {
	part, err := a.related(main, "styles")
	if err != nil || part == "" {
		return nil, err
	}
	var doc struct {
		Styles []wordStyle `xml:"style"`
	}
	if err := a.decode(part, &doc); err != nil {
		return nil, err
	}
	known := make(map[string]wordStyle, len(doc.Styles))
	for _, s := range doc.Styles {
		known[s.ID] = s
	}
	return known, nil
}

// maxStyleDepth limits how many "based on" links of styles are followed: in a malformed
// file they may form a circle.
const maxStyleDepth = 10

func styleLevel(known map[string]wordStyle, id string) int {
	for range maxStyleDepth {
		s, ok := known[id]
		if !ok {
			return 0
		}
		if s.Outline != nil {
			return headingLevel(s.Outline.Val)
		}
		name := strings.ToLower(s.Name.Val)
		if name == "title" {
			return 1
		}
		if n, is := strings.CutPrefix(name, "heading "); is {
			level, _ := strconv.Atoi(n)
			return min(max(level, 0), 9)
		}
		id = s.BasedOn.Val
	}
	return 0
}
