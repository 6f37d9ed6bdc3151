package extract

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
)

const (
	maxPackets     = 50 // of a form
	maxPacketBytes = 16 << 20
)

// formText returns the text of a form that Adobe's programs draw by its description (XFA):
// its labels and paragraphs, then the values that were filled in.
func (n *native) formText(doc uint64) string {
	var w formWriter
	for i := range uint64(min(n.number("FPDF_GetXFAPacketCount", doc), maxPackets)) {
		size := uint64(n.scratch)
		if n.number("FPDF_GetXFAPacketContent", doc, i, 0, 0, size) == 0 {
			continue
		}
		length, _ := n.module.Memory().ReadUint32Le(n.scratch)
		if length == 0 || length > maxPacketBytes {
			continue
		}
		at, err := n.alloc(int(length))
		if err != nil {
			break
		}
		if n.number("FPDF_GetXFAPacketContent", doc, i, uint64(at), uint64(length), size) != 0 {
			if raw, ok := n.module.Memory().Read(at, length); ok {
				w.read(raw)
			}
		}
		n.free(at)
	}
	return w.b.String()
}

// formWriter collects the text of the packets of a form, which are XML.
type formWriter struct{ b strings.Builder }

// Elements of a form whose text is not shown.
var notShown = map[string]bool{"script": true, "toolTip": true, "speak": true, "items": true, "event": true,
	"calculate": true, "validate": true, "desc": true, "extras": true, "config": true, "image": true, "localeSet": true, "style": true}

func (w *formWriter) read(raw []byte) {
	d := xml.NewDecoder(bytes.NewReader(raw))
	d.Strict = false
	var open []string
	hidden := 0 // how many of the open elements are within a hidden one
	leaf := ""  // the last element of the data that began; its text is a value
	for {
		token, err := d.Token()
		if err != nil { // the first and the last packet are no whole documents
			w.line()
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if hidden > 0 || notShown[name] || slices.ContainsFunc(t.Attr, func(a xml.Attr) bool {
				return a.Name.Local == "presence" && a.Value != "visible"
			}) {
				hidden++
			}
			if open, leaf = append(open, name), name; name == "p" || name == "br" {
				w.line()
			}
		case xml.EndElement:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if hidden = max(hidden-1, 0); t.Name.Local == "draw" || t.Name.Local == "field" || t.Name.Local == "p" {
				w.line()
			}
			leaf = ""
		case xml.CharData:
			text := strings.TrimSpace(string(t))
			switch {
			case hidden > 0 || text == "":
			case slices.Contains(open, "datasets"):
				if leaf != "" && slices.Contains(open, "data") {
					w.line()
					w.b.WriteString(leaf + ": " + text + "\n")
				}
			case slices.Contains(open, "draw") || slices.Contains(open, "field"):
				if slices.Contains(open, "value") {
					w.word(text)
				}
			}
		}
	}
}

func (w *formWriter) word(s string) {
	if w.b.Len() > 0 && !strings.HasSuffix(w.b.String(), "\n") {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(s)
}

func (w *formWriter) line() {
	if w.b.Len() > 0 && !strings.HasSuffix(w.b.String(), "\n") {
		w.b.WriteByte('\n')
	}
}
