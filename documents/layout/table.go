package layout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
)

// MaxLabel is the length in bytes of the longest line between rows that is a label of the rows below it.
const MaxLabel = 240

// IsLabel reports whether the first block, which is no row, is a label within the table above it, of so many
// rows: it stands alone in its line, and a row of the same table stands in the lines below it, after at most two
// labels more.
func IsLabel(text string, blocks []Block, rows int) bool {
	for i, b := range blocks[:min(len(blocks), 4)] {
		said := text[b.Start:b.End]
		switch {
		case i > 0 && apart(text, blocks, i):
			return false
		case i > 0 && (b.Kind == Row || strings.Contains(said, " | ")):
			if rows > 1 && i+1 < len(blocks) && !apart(text, blocks, i+1) {
				return !BeginsTable(cellsOf(said), cellsOf(text[blocks[i+1].Start:blocks[i+1].End]))
			}
			return true
		case b.Kind == Heading || len(said) > MaxLabel || strings.Contains(said, "\n") && !shortLines(said):
			return false
		}
	}
	return false
}

// shortLines reports whether a text is at most three lines, none of which was wrapped.
func shortLines(text string) bool {
	lines := strings.Split(text, "\n")
	return len(lines) <= 3 && !slices.ContainsFunc(lines, func(l string) bool { return len(l) >= wrapped })
}

// apart reports whether a blank line stands before block i.
func apart(text string, blocks []Block, i int) bool {
	return strings.Contains(text[blocks[i-1].End:blocks[i].Start], "\n\n")
}

func cellsOf(row string) []string { return strings.Split(strings.TrimPrefix(row, "|"), " | ") }

// BeginsTable reports whether a row is the header of a table, with the row below it: it has no numbers, years
// excepted, and names for all columns of that row, which has numbers.
func BeginsTable(row, below []string) bool {
	if len(row) < len(below) {
		return false
	}
	var names []string
	numbers := 0
	for i, cell := range row {
		if cell = strings.TrimSpace(cell); cell != "" {
			if isNumber(cell) && !isYear(cell) || utf8.RuneCountInString(cell) > maxName || slices.Contains(names, cell) || !strings.ContainsFunc(cell, language.IsAlphanumeric) {
				return false
			}
			names = append(names, cell)
		}
		if i < len(below) && strings.TrimSpace(below[i]) != "" {
			if cell == "" && (len(names) > 0 || isNumber(below[i])) {
				return false
			}
			if isNumber(below[i]) && !isYear(below[i]) {
				numbers++
			}
		}
	}
	return len(names) > 1 && numbers > 0
}

// maxName is the length in characters of the longest name of a column.
const maxName = 60

// isNumber reports whether a cell begins with a digit, after signs: an amount, a share or a day.
func isNumber(cell string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(cell, func(r rune) bool { return !language.IsAlphanumeric(r) }))
	return unicode.IsDigit(first)
}

// isYear reports whether a cell is a year, with which headers name columns.
func isYear(cell string) bool {
	return len(cell) == 4 && strings.Trim(cell, "0123456789") == "" && (cell[:2] == "19" || cell[:2] == "20")
}
