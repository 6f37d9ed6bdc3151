package lookup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/layout"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/tools"
)

const (
	maxOutline = 200 // lines of an outline
	maxHeading = 160 // characters of a heading or of a table's first row
)

// Outline lists the headings and tables of a document with their places.
func Outline(library Library) tools.Tool {
	return tools.Tool{
		Name:        "outline",
		Description: "Show how a document is built: its headings and tables, each with its passage and page, to open the right place with read_document.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"},
				"words": {"type": "string", "maxLength": 300, "description": "Only headings and tables that have all of these words"},
				"from": {"type": "integer", "minimum": 0, "maximum": 100000, "description": "Begin with this passage; the first one is 0"}
			},
			"required": ["document"],
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: withPassages("outline", library, func(_ context.Context, in struct {
			documentArgument
			Words string `json:"words"`
			From  int    `json:"from"`
		}, doc chat.Document, all []chat.Hit) (tools.Result, error) {
			return tools.Result{Content: outlined(doc, all, in.Words, in.From)}, nil
		}),
	}
}

func outlined(doc chat.Document, all []chat.Hit, words string, from int) string {
	fits := func(_, _ string) bool { return true }
	if m, why := matcher(words, ""); why == "" {
		fits = m
	}
	lines := []string{fmt.Sprintf("%s: %d passages.%s", title(doc), len(all), extent(doc, all))}
	for _, e := range entries(all) {
		if e.at.Ordinal < from || !fits("", e.text) {
			continue
		}
		if len(lines) > maxOutline {
			lines = append(lines, fmt.Sprintf("More follows from passage %d on.", e.at.Ordinal))
			break
		}
		lines = append(lines, fmt.Sprintf("- %s: %s%s", e.place(), e.kind, language.Truncate(chat.OneLine(e.text), maxHeading)))
	}
	if len(lines) == 1 {
		lines = append(lines, "No headings or tables were found. Read it from passage 0, or find words in it.")
	}
	return strings.Join(lines, "\n")
}

// entry is a heading, or the first row of a table with the caption above it.
type entry struct {
	kind, text string
	at         chat.Hit
	start      int // in the document, in characters
}

func (e entry) place() string {
	e.at.Start = e.start
	return where(e.at)
}

// entries finds the headings and tables of a document in its passages.
func entries(all []chat.Hit) (out []entry) {
	inTable, caption := false, ""
	for _, h := range all {
		for _, b := range layout.Blocks(h.Text) {
			text := h.Text[b.Start:b.End]
			start := h.Start + len([]rune(h.Text[:b.Start]))
			switch b.Kind {
			case layout.Heading:
				caption = ""
				out = append(out, entry{text: b.Title, at: h, start: start})
			case layout.Row:
				if !inTable {
					first, _, _ := strings.Cut(text, "\n")
					out = append(out, entry{kind: "table: ", text: strings.TrimPrefix(caption+": "+first, ": "), at: h, start: start})
				}
			default:
				caption = chunk.Caption(caption, text)
			}
			inTable = b.Kind == layout.Row
		}
	}
	return out
}
