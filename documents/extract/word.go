package extract

import (
	"strconv"
	"strings"
)

var wordFile = officeFile(Type{
	Name:       "docx",
	Label:      "Word",
	Extensions: []string{".docx", ".docm"},
	MediaTypes: []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
}, []string{"openxmlformats-officedocument.wordprocessingml.document.main+xml", "ms-word.document."}, wordText)

// wordText returns the text of a document with its notes at the end. Headings become
// Markdown headings; each list item and table row is a line.
func wordText(a *archive) (string, error) {
	main, err := a.mainPart()
	if err != nil {
		return "", err
	}
	levels, err := headingStyles(a, main)
	if err != nil {
		return "", err
	}
	var o outline
	w := officeText{row: o.row, paragraph: func(p officeParagraph) {
		level := p.outline
		if level == 0 {
			level = levels[p.style]
		}
		switch {
		case level > 0:
			o.heading(level, p.text.String())
		case p.listed:
			o.add(item, "- ", p.text.String())
		default:
			o.add(paragraph, "", p.text.String())
		}
	}}
	if err := w.walk(a, main, o.full); err != nil {
		return "", err
	}
	for _, notes := range []string{"footnotes", "endnotes"} {
		part, err := a.related(main, notes)
		if err == nil && part != "" {
			err = w.walk(a, part, o.full)
		}
		if err != nil {
			return "", err
		}
	}
	return o.text()
}

type wordStyle struct {
	ID   string `xml:"styleId,attr"`
	Name struct {
		Val string `xml:"val,attr"`
	} `xml:"name"`
	BasedOn struct {
		Val string `xml:"val,attr"`
	} `xml:"basedOn"`
	Outline *struct {
		Val string `xml:"val,attr"`
	} `xml:"pPr>outlineLvl"`
}

// headingStyles returns the levels of the styles that are headings, by the style's id.
func headingStyles(a *archive, main string) (map[string]int, error) {
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
	levels := map[string]int{}
	for id := range known {
		if level := styleLevel(known, id); level > 0 {
			levels[id] = level
		}
	}
	return levels, nil
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
