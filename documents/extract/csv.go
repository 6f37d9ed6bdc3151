package extract

import (
	"context"
	"strings"
)

var csvFile = Type{
	Name:       "csv",
	Label:      "CSV",
	Extensions: []string{".csv", ".tsv"},
	MediaTypes: []string{"text/csv", "text/tab-separated-values"},
	Read:       csvText,
	untitled:   true,
}

// csvText returns one line for each record that has values.
func csvText(ctx context.Context, raw []byte) (string, error) {
	text, err := decode(ctx, raw)
	if err != nil {
		return "", err
	}
	text = strings.TrimLeft(clean(text), "\n")
	comma := byte(0)
	if line, rest, _ := strings.Cut(text, "\n"); len(line) == 5 && strings.EqualFold(line[:4], "sep=") {
		comma, text = line[4], rest // a line for Excel
	}
	if comma == 0 {
		comma = separator(text)
	}
	var o outline
	rows := sheetRows{o: &o}
	for n := 0; text != ""; n++ {
		var record []string
		record, text = csvRecord(text, comma)
		switch {
		case o.full():
			return "", errTooLarge
		case n%1024 == 0 && ctx.Err() != nil:
			return "", ctx.Err()
		}
		rows.row(record)
	}
	rows.end(false)
	return o.text()
}

// maxQuoted is the length in bytes from which a quotation mark that opens a field is taken as
// a character of it: its end is missing.
const maxQuoted = 32 << 10

// csvRecord cuts the first record off a text whose lines end in "\n".
func csvRecord(text string, comma byte) (fields []string, rest string) {
	for {
		field, size := csvField(text, comma)
		fields = append(fields, field)
		text = text[size:]
		switch {
		case text == "":
			return fields, ""
		case text[0] == '\n':
			return fields, text[1:]
		}
		text = text[1:] // the separator
	}
}

// csvField returns the first field of a text and its length with its quotation marks, which may have spaces around
// them. A quotation mark that nothing closes before a separator is a character like any other.
func csvField(text string, comma byte) (field string, size int) {
	if from := csvSpaces(text, comma); strings.HasPrefix(text[from:], `"`) {
		var b strings.Builder
		for i := from + 1; i < min(len(text), maxQuoted); i++ {
			if text[i] != '"' {
				b.WriteByte(text[i])
				continue
			}
			end := i + 1 + csvSpaces(text[i+1:], comma)
			switch {
			case end == len(text) || text[end] == comma || text[end] == '\n':
				return b.String(), end
			case i+1 < len(text) && text[i+1] == '"':
				b.WriteByte('"')
				i++
			default:
				return csvBare(text, comma)
			}
		}
	}
	return csvBare(text, comma)
}

// csvSpaces returns how many spaces a text begins with that are no separators.
func csvSpaces(text string, comma byte) int {
	return len(text) - len(strings.TrimLeft(text, strings.ReplaceAll(" \t", string(rune(comma)), "")))
}

func csvBare(text string, comma byte) (field string, size int) {
	if i := strings.IndexAny(text, "\n"+string(rune(comma))); i >= 0 {
		return text[:i], i
	}
	return text, len(text)
}

// separator returns the character that cuts most of the first lines into the same number of
// fields, at least two. Programs in countries with a decimal comma write semicolons, and
// lines before the table can have any characters.
func separator(text string) byte {
	best, most := byte(','), 0
	for _, comma := range []byte(",;\t|") {
		sizes := map[int]int{}
		left := text
		for n := 0; n < 50 && left != ""; n++ {
			var record []string
			record, left = csvRecord(left, comma)
			if len(record) > 1 {
				sizes[len(record)]++
			}
		}
		for size, lines := range sizes {
			if score := lines*100 + size; score > most {
				best, most = comma, score
			}
		}
	}
	return best
}
