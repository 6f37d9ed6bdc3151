package extract

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
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
	text = strings.TrimPrefix(text, "\ufeff")
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(text), true, -1, true
	var o outline
	for n := 0; ; n++ {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return o.text()
		case err != nil:
			return "", errDamagedFile
		case o.full():
			return "", errTooLarge
		case n%1024 == 0 && ctx.Err() != nil:
			return "", ctx.Err()
		}
		o.row(record)
	}
}

// separator returns the character that separates the fields of the first record most
// often. Programs in countries with a decimal comma write semicolons.
func separator(text string) rune {
	counts, quoted := map[rune]int{}, false
	for _, r := range strings.TrimLeft(text, "\r\n") {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[r]++
		}
	}
	best := ','
	for _, r := range ";\t|" {
		if counts[r] > counts[best] {
			best = r
		}
	}
	return best
}
