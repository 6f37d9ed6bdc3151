package extract

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

var slidesFile = officeFile(Type{
	Name:       "pptx",
	Label:      "PowerPoint",
	Extensions: []string{".pptx", ".pptm", ".ppsx", ".potx"},
	MediaTypes: []string{
		"application/vnd.openxmlformats-officedocument.presentationml.presentation",
		"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
	},
}, []string{"openxmlformats-officedocument.presentationml."}, slidesText)

// slidesText returns the text of the slides in their order, each below a heading with its
// number and title, with its charts and diagrams, the speaker's notes and comments. Slides that
// are not shown are called hidden: people see them while they work on the file. Footers are at
// the end, once.
func slidesText(a *archive) (string, error) {
	slides, err := slideParts(a)
	if err != nil {
		return "", err
	}
	d := presentation{a: a}
	for i, part := range slides {
		if err := d.writeSlide(part, i+1); err != nil {
			return "", err
		}
	}
	for _, text := range d.edges {
		d.o.add(paragraph, "Footer: ", text)
	}
	return d.o.text()
}

// slideParts lists the slides in the order in which they are shown.
func slideParts(a *archive) ([]string, error) {
	main, err := a.mainPart()
	if err != nil {
		return nil, err
	}
	relations, err := a.relations(main)
	if err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, r := range relations {
		targets[r.ID] = r.Target
	}
	var doc struct {
		Slides []struct {
			// Two attributes have the name id; the relation's id has a namespace.
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if err := a.decode(main, &doc); err != nil {
		return nil, err
	}
	var parts []string
	for _, s := range doc.Slides {
		for _, at := range s.Attrs {
			if part := targets[at.Value]; at.Name.Space != "" && part != "" && a.has(part) {
				parts = append(parts, part)
			}
		}
	}
	return parts, nil
}

// presentation is what the slides of a file have in common.
type presentation struct {
	a     *archive
	o     outline
	edges []string // footers and dates, each once
}

// slideHead is what stands in the heading of a slide.
type slideHead struct {
	number   int
	isHidden bool
	title    []string
}

func (h slideHead) text() string {
	name := fmt.Sprintf("Slide %d", h.number)
	if h.isHidden {
		name += " (hidden)"
	}
	if t := strings.TrimSpace(strings.Join(h.title, " ")); t != "" {
		name += ": " + t
	}
	return name
}

// writeSlide writes a slide. Its title may be anywhere in the file.
func (d *presentation) writeSlide(part string, number int) error {
	relations, err := d.a.relations(part)
	if err != nil {
		return err
	}
	links := map[string]string{}
	for _, r := range relations {
		links[r.ID] = r.Target
	}
	head := slideHead{number: number}
	var body outline
	full := func() bool { return body.full() || d.o.full() }
	w := officeText{row: body.row, endTable: body.endTable, paragraph: func(p officeParagraph) {
		switch p.place {
		case "title", "ctrTitle":
			head.title = append(head.title, p.text.String())
		case "dt", "ftr", "hdr":
			d.addEdge(p.text.String())
		case "sldNum":
			if text := strings.Trim(p.text.String(), " |·-–—/‹›<>\u00a0"); !isPageCounter(text) {
				d.addEdge(text)
			}
		default:
			body.add(item, "", p.text.String())
		}
	}, link: func(name, id string) string {
		switch name {
		case "chart":
			body.add(paragraph, "", chartText(d.a, links[id]))
		case "relIds":
			body.add(paragraph, "", diagramText(d.a, links[id]))
		}
		return ""
	}}
	if err := w.walk(d.a, part, full); err != nil {
		return err
	}
	head.isHidden = w.isHidden
	d.o.heading(2, head.text())
	d.o.add(paragraph, "", body.out.String())
	if err := d.writeNotes(part); err != nil {
		return err
	}
	return d.writeComments(relations)
}

func (d *presentation) addEdge(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text != "" && len(d.edges) < 100 && !slices.Contains(d.edges, text) {
		d.edges = append(d.edges, text)
	}
}

func (d *presentation) writeNotes(slide string) error {
	part, err := d.a.related(slide, "notesSlide")
	if err != nil || part == "" {
		return err
	}
	var notes []string
	w := officeText{row: d.o.row, paragraph: func(p officeParagraph) {
		if p.place == "body" {
			notes = append(notes, p.text.String())
		}
	}}
	if err := w.walk(d.a, part, d.o.full); err != nil {
		return err
	}
	if said := strings.TrimSpace(strings.Join(notes, "\n")); said != "" {
		d.o.add(paragraph, "Notes: ", said)
	}
	return nil
}

// writeComments writes the comments on a slide: the old ones are plain text, the new ones
// have paragraphs and replies.
func (d *presentation) writeComments(relations []relation) error {
	for _, r := range relations {
		if !strings.HasSuffix(r.Type, "/comments") || !d.a.has(r.Target) {
			continue
		}
		var doc struct {
			Comments []struct {
				Plain   string      `xml:"text"`
				Body    drawingText `xml:"txBody"`
				Replies []struct {
					Body drawingText `xml:"txBody"`
				} `xml:"replyLst>reply"`
			} `xml:"cm"`
		}
		if err := d.a.decode(r.Target, &doc); err != nil {
			return err
		}
		for _, c := range doc.Comments {
			d.o.add(paragraph, "Comment: ", c.Plain+c.Body.text())
			for _, reply := range c.Replies {
				d.o.add(paragraph, "Comment: ", reply.Body.text())
			}
		}
	}
	return nil
}
