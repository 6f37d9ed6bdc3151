package figures

import (
	"strconv"
	"strings"
	"unicode"
)

// Day is a date. Year or Date is 0 if the text does not say it.
type Day struct {
	Start, End        int // bytes of the text
	Year, Month, Date int
	// Swap: month and date may be the other way round.
	Swap bool
	// MonthFirst: month and date were the other way round in the text: 3/25/2024.
	MonthFirst bool
}

// IsZero reports whether there is no date.
func (d Day) IsZero() bool { return d.Month == 0 }

// Before reports whether d is earlier than o. A missing day of the month counts as the first.
func (d Day) Before(o Day) bool { return d.number() < o.number() }

func (d Day) number() int { return d.Year*10_000 + d.Month*100 + max(1, d.Date) }

// String returns a date as 2006-01-02, or 2006-01 without a day of the month.
func (d Day) String() string {
	two := func(n int) string { return strconv.Itoa(100 + n)[1:] }
	s := strconv.Itoa(d.Year) + "-" + two(d.Month)
	if d.Date > 0 {
		s += "-" + two(d.Date)
	}
	return s
}

// same reports whether two dates may be the same, as far as both say.
func (d Day) same(o Day) bool {
	match := func(d Day) bool {
		return d.Month == o.Month && (d.Date == o.Date || d.Date == 0) && (d.Year == o.Year || d.Year == 0 || o.Year == 0)
	}
	if match(d) {
		return true
	}
	d.Month, d.Date = d.Date, d.Month
	return (d.Swap || o.Swap) && match(d)
}

const monthWord = `(\pL{3,10})\.?`

// A form of dates: groups are in the order that its letters say. Every match needs a digit, or a sign without case.
var dayForms = []struct {
	pattern
	order string
}{
	{patternOf(`\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:\b|T)`), "ymd"},
	{patternOf(`(\d{4})\s?年\s?(\d{1,2})\s?月(?:\s?(\d{1,2})\s?日)?`), "ymd"},
	{patternOf(`\b(\d{1,2})([./-])(\d{1,2})([./-])(\d{4}|\d{2})\b`), "d.m.y"},
	{patternOf(`\b(\d{1,2})(?:st|nd|rd|th|er|\.)?(?:\s+(?:of|de))?[\s-]+` + monthWord + `(?:(?:,|\s+(?:of|de))?[\s-]+(\d{4})\b)?`), "dMy"},
	{patternOf(`(?:^|[^\pL])(\pL{3,12})\s+(?:(?:of|de)\s+)?` + monthWord + `(?:,|\s+(?:of|de|del))?\s+(\d{4})\b`), "wMy"},
	{patternOf(`(?:^|[^\pL])` + monthWord + `\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?`), "Mdy"},
	{patternOf(`(?:^|[^\pL])` + monthWord + `,?(?:\s+(?:of|de))?[\s-]+(\d{4})\b`), "My"},
	{patternOf(`\b(\d{4})-(\d{2})\b`), "ym"},
}

// Days returns the dates of a text in its order.
func Days(text string) []Day {
	if !strings.ContainsAny(text, "0123456789") { // every form has a digit
		return nil
	}
	var out []Day
	taken := func(from, to int) bool {
		for _, d := range out {
			if from < d.End && d.Start < to {
				return true
			}
		}
		return false
	}
	months := namesMonth(text)
	for _, form := range dayForms {
		if strings.Contains(form.order, "M") && !months {
			continue
		}
		for _, m := range form.in(text, text) {
			d, ok := dayOf(text, m, form.order)
			if ok && !taken(d.Start, d.End) {
				out = append(out, d)
			}
		}
	}
	for i := 1; i < len(out); i++ { // few, and nearly in order
		for k := i; k > 0 && out[k].Start < out[k-1].Start; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

func namesMonth(text string) bool {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if Month(w) > 0 {
			return true
		}
	}
	return false
}

func dayOf(text string, m []int, order string) (Day, bool) {
	d := Day{}
	marks, verb := "", false
	for i, part := range order {
		at := 2 + 2*i
		if m[at] < 0 {
			continue
		}
		if d.End == 0 {
			d.Start = m[at]
		}
		d.End = m[at+1]
		said := text[m[at]:m[at+1]]
		switch part {
		case '.':
			marks += said
		case 'M':
			d.Month = words.months[strings.ToLower(said)]
			verb = said == "may" // "under 18 may not"
		case 'w':
			if d.Date = int(words.ordinals[strings.ToLower(said)]); d.Date == 0 {
				n, _ := Number(said)
				d.Date = int(n)
			}
			if d.Date == 0 {
				return d, false
			}
		default:
			n, _ := strconv.Atoi(said) // digits only
			switch part {
			case 'y':
				if len(said) == 2 {
					n += 2000
				}
				d.Year = n
			case 'm':
				d.Month = n
			case 'd':
				d.Date = n
			}
		}
	}
	if order == "d.m.y" {
		if marks[0] != marks[1] || marks == "--" && d.Year < 1000 {
			return d, false
		}
		d.Swap = d.Date <= 12 && marks != ".."
		if d.Month > 12 {
			d.Month, d.Date, d.Swap, d.MonthFirst = d.Date, d.Month, false, true
		}
	}
	return d, !(verb && d.Year == 0) && d.Month >= 1 && d.Month <= 12 && d.Date <= 31 && (d.Year == 0 || d.Year >= 1000 && d.Year < 3000) && (d.Date > 0 || d.Year > 0)
}

// Covers reports whether o lies in d, which may be a year, a month of a year or of any, or a day.
func (d Day) Covers(o Day) bool {
	return (d.Year == 0 || d.Year == o.Year) && (d.Month == 0 || d.Month == o.Month) && (d.Date == 0 || d.Date == o.Date)
}

// Month returns the month that a word names; 0 for any other word.
func Month(word string) int { return words.months[strings.ToLower(word)] }

// Count returns the number that a word names; 0 for any other word.
func Count(word string) int { return int(words.counts[strings.ToLower(word)]) }
