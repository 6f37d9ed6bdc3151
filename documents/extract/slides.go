package extract

import (
	"encoding/xml"
	"fmt"
	"strings"
)

var slidesFile = officeFile(Type{
	Name:       "pptx",
	Label:      "PowerPoint",
	Extensions: []string{".pptx", ".pptm", ".ppsx"},
	MediaTypes: []string{
		"application/vnd.openxmlformats-officedocument.presentationml.presentation",
		"application/vnd.openxmlformats-officedocument.presentationml.slideshow",
	},
}, []string{"openxmlformats-officedocument.presentationml.slide+xml"}, slidesText)

// slidesText returns the text of the slides in their order, each below a heading with its
// number and title, with the speaker's notes.
func slidesText(a *archive) (string, error) {
	slides, err := slideParts(a)
	if err != nil {
		return "", err
	}
	var o outline
	for i, part := range slides {
		if err := writeSlide(a, &o, part, i+1); err != nil {
			return "", err
		}
	}
	return o.text()
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

// writeSlide writes a slide. Its title may be anywhere in the file.
func writeSlide(a *archive, o *outline, part string, number int) error {
	var title []string
	var body outline
	full := func() bool { return body.full() || o.full() }
	w := officeText{row: body.row, paragraph: func(p officeParagraph) {
		switch p.place {
		case "title", "ctrTitle":
			title = append(title, p.text.String())
		case "sldNum", "dt", "ftr", "hdr":
		default:
			body.add(item, "", p.text.String())
		}
	}}
	if err := w.walk(a, part, full); err != nil {
		return err
	}
	name := fmt.Sprintf("Slide %d", number)
	if t := strings.TrimSpace(strings.Join(title, " ")); t != "" {
		name += ": " + t
	}
	o.heading(2, name)
	o.add(paragraph, "", body.out.String())
	return writeNotes(a, o, part)
}

func writeNotes(a *archive, o *outline, slide string) error {
	part, err := a.related(slide, "notesSlide")
	if err != nil || part == "" {
		return err
	}
	var notes []string
	w := officeText{row: o.row, paragraph: func(p officeParagraph) {
		if p.place == "body" {
			notes = append(notes, p.text.String())
		}
	}}
	if err := w.walk(a, part, o.full); err != nil {
		return err
	}
	if said := strings.TrimSpace(strings.Join(notes, "\n")); said != "" {
		o.add(paragraph, "Notes: ", said)
	}
	return nil
}
