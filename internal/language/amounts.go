package language

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Units of a Quantity. Any other unit is the word that follows the number.
const (
	Percent = "percent"
	Money   = "money"
	Time    = "time" // in days
)

// Quantity is a number with its unit.
type Quantity struct {
	Text  string // as written
	Value float64
	Unit  string // Percent, Money, Time or a word; empty when unknown
	At    int    // byte offset in the text
}

// inWords returns the number if it is written in words, else "".
func (q Quantity) inWords() string {
	first, _, _ := strings.Cut(strings.ToLower(q.Text), " ")
	if _, ok := numberWords[first]; ok {
		return first
	}
	return ""
}

// String returns the quantity as written, with single spaces.
func (q Quantity) String() string { return strings.Join(strings.Fields(q.Text), " ") }

var (
	quantity = lazyregexp.New(`(?i)(?:([$€£]|\b(?:usd|eur|gbp|myr|rm|sgd|chf))\s*|\b)` +
		`(\d(?:[\d,.]*\d)?|(?:` + strings.Join(slices.SortedFunc(maps.Keys(numberWords), longestFirst), "|") + `)\b)` +
		`(?:\s?(k|thousand|mn|million|bn|billion)\b)?` +
		`\s*(?:\(\d+\)\s*)?(%|[$€£]|per cent|(?:(?:business|working|calendar|full|consecutive) )?[a-z]+(?:-[a-z]+)?)?`)
	number      = lazyregexp.New(`(?i)\d|\b(?:` + strings.Join(slices.Sorted(maps.Keys(numberWords)), "|") + `|thousand)\b`)
	numberWords = map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
		"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "twenty-five": 25, "thirty": 30,
		"forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
	multipliers = map[string]float64{"k": 1e3, "thousand": 1e3, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
	days        = map[string]float64{"hour": 1.0 / 24, "h": 1.0 / 24, "hr": 1.0 / 24, "day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365, "minute": 1.0 / 1440}
	currencies  = lists.Set("currencies")
	ordinals    = NewSet("st nd rd th")
	notUnits    = lists.Set("not units")
)

// unitStems are the stems of number words and units.
var unitStems = func() Set {
	s := Union(NewSet("per cent percent"), currencies.Stems())
	for w := range numberWords {
		s[Stem(w)] = true
	}
	for w := range days {
		s[Stem(w)] = true
	}
	return s
}()

var timeStems = NewSet(strings.Join(slices.Collect(maps.Keys(days)), " ")).Stems()

// figureStems are the stems of number words and month names.
var figureStems = NewSet(strings.Join(slices.Concat(slices.Collect(maps.Keys(numberWords)), monthNames), " ")).Stems()

// IsFigureStem reports whether a stem is a number, in digits or in words, or a month.
func IsFigureStem(stem string) bool {
	return figureStems[stem] || stem != "" && stem[0] >= '0' && stem[0] <= '9'
}

// IsAmountStem reports whether a stem is a number or a unit.
func IsAmountStem(stem string) bool {
	return unitStems[stem] || stem[0] >= '0' && stem[0] <= '9'
}

// IsNumber reports whether a lower-case word is a number, in digits or spelled out.
func IsNumber(w string) bool {
	_, spelled := numberWords[w]
	return spelled || w != "" && w[0] >= '0' && w[0] <= '9'
}

// IsTimeStem reports whether a stem is that of a unit of time.
func IsTimeStem(stem string) bool { return timeStems[stem] }

// HasNumber reports whether a text has a digit or the word for a number.
func HasNumber(s string) bool { return number.MatchString(s) }

// longestFirst orders words so that a regular expression prefers the longer one.
func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }

// Quantities returns the quantities of a sentence. A number in words counts only with
// percent, a time or a currency: "two parties" is not an amount. The word "one" never counts.
func Quantities(s string) []Quantity {
	return slices.DeleteFunc(counts(s), func(q Quantity) bool {
		word := q.inWords()
		return word == "one" || word != "" && q.Unit != Time && q.Unit != Percent && q.Unit != Money
	})
}

// counts returns all quantities of a sentence, including things counted in words: "two
// guests".
func counts(s string) []Quantity {
	var out []Quantity
	for _, m := range quantity.FindAllStringSubmatchIndex(s, -1) {
		if q, ok := readQuantity(s, m); ok {
			out = append(out, q)
		}
	}
	return out
}

// readQuantity reads a match of the quantity expression: currency, number, multiplier and
// unit.
func readQuantity(s string, m []int) (Quantity, bool) {
	currency, figure, unit := group(s, m, 1), strings.ToLower(group(s, m, 2)), strings.ToLower(group(s, m, 4))
	value, inWords := numberWords[figure]
	if !inWords {
		var err error
		if value, err = strconv.ParseFloat(plainFigure(figure, currency != "" || currencies[unit]), 64); err != nil {
			return Quantity{}, false
		}
	}
	end := m[5]
	if times, ok := multipliers[strings.ToLower(group(s, m, 3))]; ok {
		value, end = value*times, m[7]
	}
	q := Quantity{Value: value, At: m[0], Text: s[m[0]:m[1]]}
	if ordinals[unit] && m[8] == m[5] { // 3rd
		return Quantity{}, false
	}
	if !q.readUnit(currency, strings.Fields(unit)) {
		q.Text = s[m[0]:end] // without the next word, which is not a unit
	}
	return q, !inWords || q.Unit != ""
}

var (
	pointThousands = lazyregexp.New(`^\d{1,3}(?:\.\d{3})+$`)
	commaDecimals  = lazyregexp.New(`^\d+,\d{1,2}$`)
)

// plainFigure writes a figure with a decimal point and without separators of thousands:
// 1,500.50, 1.500,50 and 240,00. A point before three digits separates thousands in an
// amount of money.
func plainFigure(s string, money bool) string {
	switch point, comma := strings.LastIndex(s, "."), strings.LastIndex(s, ","); {
	case point >= 0 && comma > point, commaDecimals.MatchString(s):
		return strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case comma < 0 && pointThousands.MatchString(s) && (money || strings.Count(s, ".") > 1):
		return strings.ReplaceAll(s, ".", "")
	}
	return strings.ReplaceAll(s, ",", "")
}

// readUnit sets the unit and reports whether the words after the number name it.
func (q *Quantity) readUnit(currency string, words []string) (named bool) {
	unit := ""
	if len(words) > 0 {
		unit = words[len(words)-1]
	}
	singular := strings.TrimSuffix(unit, "s")
	switch {
	case currency != "" || currencies[unit]:
		q.Unit = Money
		return currencies[unit]
	case unit == "%" || unit == "percent" || unit == "cent" && len(words) == 2:
		q.Unit = Percent
	case days[singular] > 0:
		q.Unit, q.Value = Time, q.Value*days[singular]
	case unit == "" || notUnits[unit]:
		return false
	default:
		q.Unit = singular
	}
	return true
}

func group(s string, m []int, i int) string {
	if m[2*i] < 0 {
		return ""
	}
	return s[m[2*i]:m[2*i+1]]
}

// Limit is a bound that a rule sets.
type Limit struct {
	Quantity
	Upper bool // at most, else at least
}

var (
	upperBound = lazyregexp.New(`(?i)(?:at most|no more than|not more than|not (?:to )?exceed(?:ing)?|never exceed|cannot exceed|up to|maximum(?: of)?|within|no later than|not later than|less than|below|under|limited to|no longer than|capped at|(?:limit|cap|ceiling)(?: (?:for|on|of) [a-z ]{1,40})? is|(?:limit|cap|ceiling) of)\s+(?:an? |the )?(?:total |value |amount |average )?(?:of )?$`)
	lowerBound = lazyregexp.New(`(?i)(?:at least|no less than|not less than|minimum(?: of)?|more than|above|no fewer than|not fewer than|exceeding|or above)\s+(?:an? |the )?(?:total )?(?:of )?$`)
	orLess     = lazyregexp.New(`(?i)^\s*(?:or less|at most|or fewer|at the latest|maximum)\b`)
	orMore     = lazyregexp.New(`(?i)^\s*(?:or more|at least|or longer|minimum)\b`)
)

// Limits returns the bounds that a rule sets.
func Limits(rule string) []Limit {
	var out []Limit
	for _, q := range counts(rule) {
		before, after := rule[:q.At], rule[min(len(rule), q.At+len(q.Text)):]
		switch {
		case upperBound.MatchString(before), orLess.MatchString(after):
			out = append(out, Limit{q, true})
		case lowerBound.MatchString(before), orMore.MatchString(after):
			out = append(out, Limit{q, false})
		}
	}
	return out
}

var (
	clauseNumber = lazyregexp.New(`^\s*(?:\(?\d+(?:\.\d+)*[.)]?|\([a-z]\))\s+`)
	dateOrTime   = lazyregexp.New(`(?i)\b\d{1,2}:\d{2}(?: ?[ap]m)?\b|\b\d{1,2}\.\d{2} ?[ap]m\b|\b(?:\d{1,2} )?(?:january|february|march|april|may|june|july|august|september|october|november|december) (?:\d{1,2},? )?\d{4}\b`)
)

// ClauseNumber returns the number of a clause or section at the beginning of a text, or "".
func ClauseNumber(s string) string { return strings.TrimSpace(clauseNumber.FindString(s)) }

// WithoutClauseNumber drops the number of a clause or section at the beginning of a text.
func WithoutClauseNumber(s string) string { return clauseNumber.ReplaceAllString(s, "") }

// Figures returns the dates, times and quantities of a sentence as written, without the
// number of its clause.
func Figures(s string) []string {
	var out []string
	s = dateOrTime.ReplaceAllStringFunc(WithoutClauseNumber(s), func(date string) string {
		out = append(out, date)
		return " "
	})
	for _, q := range Quantities(s) {
		out = append(out, q.String())
	}
	return out
}
