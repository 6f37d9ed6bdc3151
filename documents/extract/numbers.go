package extract

import (
	"math"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// maxFormats is how many formats a numberWriter knows.
const maxFormats = 500

// generalFormat is the number format of cells without one.
const generalFormat = "General"

// builtInNumbers are the formats with a number of their own that unusual treats.
var builtInNumbers = map[int]string{46: "[h]:mm:ss", 48: "##0.0E+0"}

var (
	elapsedTime  = lazyregexp.New(`(?i)\[(?:h+|m+|s+)\]`)
	thousandsExp = lazyregexp.New(`^[#0]{2,}(?:\.([0#]*))?E\+0+$`)
	condition    = lazyregexp.New(`\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]`)
)

// unusual reports whether excelize writes numbers in a format otherwise than people see them:
// elapsed times that are negative or count from 1904, exponents in steps of three, and formats
// that depend on the number.
func unusual(code string) bool {
	bare := quotedText.ReplaceAllString(code, "")
	return elapsedTime.MatchString(bare) || thousandsExp.MatchString(bare) || condition.MatchString(bare)
}

var quotedText = lazyregexp.New(`"[^"]*"`)

// numberWriter writes numbers as spreadsheets show them.
type numberWriter struct {
	book   *excelize.File // with one cell
	styles map[string]int
}

// text writes a number in a format; "" if it cannot.
func (w *numberWriter) text(code string, value float64) string {
	code = sectionFor(code, value)
	bare := quotedText.ReplaceAllString(code, "")
	switch m := thousandsExp.FindStringSubmatch(bare); {
	case m != nil:
		return inSteps(value, len(strings.FieldsFunc(bare, func(r rune) bool { return r == '.' || r == 'E' })[0]), len(m[1]))
	case elapsedTime.MatchString(bare) && value < 0:
		if text := w.formatted(code, -value); text != "" {
			return "-" + text
		}
		return ""
	}
	return w.formatted(clearDate(code), value)
}

func (w *numberWriter) formatted(code string, value float64) string {
	const sheet, cell = "Sheet1", "A1"
	if w.book == nil {
		w.book, w.styles = excelize.NewFile(), map[string]int{}
	}
	style, known := w.styles[code]
	if !known {
		if len(w.styles) >= maxFormats {
			return ""
		}
		var err error
		if style, err = w.book.NewStyle(&excelize.Style{CustomNumFmt: &code}); err != nil {
			return ""
		}
		w.styles[code] = style
	}
	if w.book.SetCellFloat(sheet, cell, value, -1, 64) != nil || w.book.SetCellStyle(sheet, cell, cell, style) != nil {
		return ""
	}
	text, err := w.book.GetCellValue(sheet, cell)
	if err != nil {
		return ""
	}
	return text
}

// sectionFor returns the section of a format that is for a number, if the format has conditions.
func sectionFor(code string, value float64) string {
	if !condition.MatchString(quotedText.ReplaceAllString(code, "")) {
		return code
	}
	sections := splitSections(code)
	for i, section := range sections {
		m := condition.FindStringSubmatch(section)
		switch {
		case m != nil && !holds(m[1], m[2], value):
		case m == nil && i < len(sections)-1 && value >= 0:
		default:
			return condition.ReplaceAllString(section, "")
		}
	}
	return generalFormat
}

func splitSections(code string) (sections []string) {
	quoted, from := false, 0
	for i := range len(code) {
		switch {
		case code[i] == '"':
			quoted = !quoted
		case code[i] == ';' && !quoted:
			sections = append(sections, code[from:i])
			from = i + 1
		}
	}
	return append(sections, code[from:])
}

func holds(operator, limit string, value float64) bool {
	bound, err := strconv.ParseFloat(limit, 64)
	switch {
	case err != nil:
		return false
	case operator == "<":
		return value < bound
	case operator == "<=":
		return value <= bound
	case operator == ">":
		return value > bound
	case operator == ">=":
		return value >= bound
	case operator == "=":
		return value == bound
	}
	return value != bound
}

// inSteps writes a number with an exponent that is a multiple of step.
func inSteps(value float64, step, decimals int) string {
	exponent := 0
	if value != 0 {
		exponent = int(math.Floor(math.Log10(math.Abs(value))/float64(step))) * step
	}
	unit := math.Pow10(decimals)
	mantissa := math.Round(value/math.Pow10(exponent)*unit) / unit
	if math.Abs(mantissa) >= math.Pow10(step) { // rounded up
		mantissa, exponent = mantissa/math.Pow10(step), exponent+step
	}
	sign := "+"
	if exponent < 0 {
		sign, exponent = "-", -exponent
	}
	return strconv.FormatFloat(mantissa, 'f', decimals, 64) + "E" + sign + strconv.Itoa(exponent)
}

// plainNumber writes a stored number with the 15 digits that a spreadsheet keeps; a text that is
// no number stays.
func plainNumber(stored string) string {
	value, err := strconv.ParseFloat(stored, 64)
	if err != nil || len(stored) < 16 || math.IsInf(value, 0) || math.IsNaN(value) {
		return stored
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 15, 64), 64)
	if err != nil {
		return stored
	}
	if abs := math.Abs(rounded); abs != 0 && (abs < 1e-9 || abs >= 1e20) {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
