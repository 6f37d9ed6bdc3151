package extract

import (
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// Kinds of annotations and of form fields, by pdfium's numbers.
const (
	annotText     = 1
	annotFreeText = 3
	annotLine     = 4
	annotHilight  = 9
	annotStrike   = 12
	annotStamp    = 13
	annotCaret    = 14
	annotInk      = 15
	annotFile     = 17
	annotWidget   = 20

	fieldButton   = 1
	fieldCheckBox = 2
	fieldRadio    = 3
	fieldCombo    = 4
	fieldList     = 5
	fieldText     = 6

	annotHidden   = 2
	fieldPassword = 1 << 13
)

const maxAnnotations = 20_000 // of a page

// formEnvironment returns what pdfium needs to read the fields of a document's form; 0 if
// it cannot be had.
func (n *native) formEnvironment(doc uint64) uint64 {
	const version, size = 2, 1024 // the structure is shorter; no callbacks are set
	info, err := n.alloc(size)
	if err != nil {
		return 0
	}
	n.module.Memory().Write(info, make([]byte, size))
	n.module.Memory().WriteUint32Le(info, version)
	form, err := n.call("FPDFDOC_InitFormFillEnvironment", doc, uint64(info))
	if err != nil {
		return 0
	}
	return form
}

// note is text that was added to a page.
type note struct {
	text                     string
	left, right, bottom, top float32
	comment                  bool // it is not on the page, but belongs to a place on it
}

// notes returns the values of form fields, typed notes and comments of a page, and whether it has
// labels.
func (n *native) notes(page, form uint64) (out []note, labelled bool) {
	for i := range min(n.number("FPDFPage_GetAnnotCount", page), maxAnnotations) {
		annot, err := n.call("FPDFPage_GetAnnot", page, uint64(i))
		if err != nil || annot == 0 {
			continue
		}
		if t, ok := n.note(annot, form); ok {
			out = append(out, t)
		}
		labelled = labelled || n.isLabel(annot, form)
		_, _ = n.call("FPDFPage_CloseAnnot", annot)
	}
	return out, labelled
}

// isLabel reports whether an annotation is a button or a stamp, which draw a text.
func (n *native) isLabel(annot, form uint64) bool {
	kind := n.number("FPDFAnnot_GetSubtype", annot)
	return kind == annotStamp || kind == annotWidget && form != 0 && n.number("FPDFAnnot_GetFormFieldType", form, annot) == fieldButton
}

// labels returns the texts that buttons and stamps draw on a page, whose own characters are
// glyphs. The page has no annotations afterwards.
func (n *native) labels(doc, page, form uint64, index int, glyphs []glyph) []note {
	for i := min(n.number("FPDFPage_GetAnnotCount", page), maxAnnotations) - 1; i >= 0; i-- {
		annot, err := n.call("FPDFPage_GetAnnot", page, uint64(i))
		if err != nil || annot == 0 {
			continue
		}
		isLabel := n.isLabel(annot, form)
		_, _ = n.call("FPDFPage_CloseAnnot", annot)
		if !isLabel {
			_, _ = n.call("FPDFPage_RemoveAnnot", page, uint64(i))
		}
	}
	const flattened = 1
	if n.number("FPDFPage_Flatten", page, 0) != flattened {
		return nil
	}
	again, err := n.call("FPDF_LoadPage", doc, uint64(index))
	if err != nil || again == 0 {
		return nil
	}
	defer n.call("FPDF_ClosePage", again)
	twice := n.twice
	all, err := n.glyphs(again)
	if err != nil {
		return nil
	}
	known := make(map[glyph]bool, len(glyphs))
	for _, g := range glyphs {
		known[g] = true
	}
	all = slices.DeleteFunc(all, func(g glyph) bool { return !g.made && known[g] })
	if countLetters(plain(all)) <= n.twice-twice {
		return nil // the page has these texts already
	}
	var out []note
	for _, l := range pageLines(all) {
		t := note{bottom: l.base - l.size/4, top: l.base + l.size}
		for i, c := range l.cells {
			if i == 0 {
				t.left = c.left
			}
			t.text, t.right = strings.TrimSpace(t.text+" "+c.text), c.right
		}
		if k := len(out) - 1; k >= 0 && t.top < out[k].bottom+l.size && t.top > out[k].bottom-l.size && t.left < out[k].right && t.right > out[k].left {
			out[k].text += "\n" + t.text
			out[k].left, out[k].right, out[k].bottom = min(out[k].left, t.left), max(out[k].right, t.right), t.bottom
			continue
		}
		out = append(out, t)
	}
	return out
}

func (n *native) note(annot, form uint64) (note, bool) {
	if n.number("FPDFAnnot_GetFlags", annot)&annotHidden != 0 || n.number("FPDFAnnot_GetRect", annot, uint64(n.scratch)) == 0 {
		return note{}, false
	}
	// FS_RECTF: left, top, right, bottom
	t := note{left: n.f32(0), top: n.f32(1), right: n.f32(2), bottom: n.f32(3)}
	if t.top < t.bottom {
		t.top, t.bottom = t.bottom, t.top
	}
	if t.right < t.left {
		t.left, t.right = t.right, t.left
	}
	if !finite(t.left) || !finite(t.right) || !finite(t.top) || !finite(t.bottom) {
		return note{}, false
	}
	value := func(key string) string {
		return strings.TrimSpace(n.key(key, func(at uint64) string { return n.wide("FPDFAnnot_GetStringValue", annot, at) }))
	}
	switch kind := n.number("FPDFAnnot_GetSubtype", annot); {
	case kind == annotWidget:
		t.text = n.fieldValue(annot, form)
	case kind == annotFreeText:
		t.text = value("Contents")
	case kind == annotText, kind >= annotLine && kind <= annotInk && kind != annotStrike, kind == annotFile:
		if t.text = value("Contents"); t.text == "" {
			return note{}, false
		}
		by := ""
		if author := chat.OneLine(value("T")); author != "" {
			by = " by " + author
		}
		t.text, t.comment = "[Comment"+by+": "+chat.OneLine(t.text)+"]", true
	}
	t.text = strings.TrimSpace(clean(strings.ToValidUTF8(t.text, "")))
	return t, t.text != ""
}

// fieldValue returns what a field of a form shows: its text, its choices, or a box with or
// without a tick.
func (n *native) fieldValue(annot, form uint64) string {
	if form == 0 {
		return ""
	}
	switch n.number("FPDFAnnot_GetFormFieldType", form, annot) {
	case fieldCheckBox, fieldRadio:
		if n.number("FPDFAnnot_IsChecked", form, annot) == 1 {
			return "☒"
		}
		return "☐"
	case fieldCombo:
		for i := range n.options(annot, form) {
			if n.number("FPDFAnnot_IsOptionSelected", form, annot, i) == 1 {
				return n.wide("FPDFAnnot_GetOptionLabel", form, annot, i)
			}
		}
	case fieldList: // the page shows all of them
		var all []string
		for i := range n.options(annot, form) {
			mark := "☐ "
			if n.number("FPDFAnnot_IsOptionSelected", form, annot, i) == 1 {
				mark = "☒ "
			}
			all = append(all, mark+n.wide("FPDFAnnot_GetOptionLabel", form, annot, i))
		}
		return strings.Join(all, "\n")
	case fieldText:
		if n.number("FPDFAnnot_GetFormFieldFlags", form, annot)&fieldPassword != 0 {
			return ""
		}
	default:
		return ""
	}
	return n.wide("FPDFAnnot_GetFormFieldValue", form, annot)
}

func (n *native) options(annot, form uint64) uint64 {
	return uint64(min(max(n.number("FPDFAnnot_GetOptionCount", form, annot), 0), 1000))
}

// withNotes adds notes to the lines of a page: into the line beside which they stand, or
// below the line above them.
func withNotes(lines []pageLine, notes []note) []pageLine {
	slices.SortStableFunc(notes, func(a, b note) int {
		switch {
		case a.top > b.top+2:
			return -1
		case b.top > a.top+2:
			return 1
		case a.left < b.left:
			return -1
		}
		return 0
	})
	for _, t := range notes {
		text := strings.Split(t.text, "\n")
		c := cell{text: strings.Join(strings.Fields(text[0]), " "), left: t.left, right: t.right}
		beside, above := -1, -1
		for i, l := range lines {
			if !l.placed {
				continue
			}
			middle := l.base + 0.3*l.size
			if middle < t.top+1 && middle > t.bottom-1 && (t.top-t.bottom < 3*l.size || middle > t.top-1.5*l.size) &&
				(beside < 0 || distance(t, l) < distance(t, lines[beside])) {
				beside = i
			}
			if middle > t.bottom && (above < 0 || l.base <= lines[above].base) {
				above = i
			}
		}
		switch {
		case beside >= 0 && len(text) == 1 && !t.comment:
			l := &lines[beside]
			at := 0
			for at < len(l.cells) && l.cells[at].left <= c.left {
				at++
			}
			l.cells = slices.Insert(slices.Clone(l.cells), at, c)
		default:
			after := above
			if t.comment && beside >= 0 {
				after = beside
			}
			for after+1 < len(lines) && !lines[after+1].placed { // earlier notes
				after++
			}
			var more []pageLine
			for _, s := range text {
				c.text = strings.Join(strings.Fields(s), " ")
				more = append(more, pageLine{cells: []cell{c}, base: t.bottom, size: min(t.top-t.bottom, 12), placed: len(text) == 1 && !t.comment})
			}
			lines = slices.Insert(lines, after+1, more...)
		}
	}
	return lines
}

// distance returns how far a note is from the middle of a line.
func distance(t note, l pageLine) float32 { return abs((t.top+t.bottom)/2 - l.base - 0.3*l.size) }
