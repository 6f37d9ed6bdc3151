// Package figures reads the figures of texts and of tables' cells: numbers in the ways of
// several countries, with units and scales, and dates. It also checks the figures of an answer
// against the texts that it cites.
package figures

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Units of a Figure, beside codes of currencies such as "EUR".
const (
	Percent = "percent"
	Points  = "percentage points"
	Time    = "time" // in days
)

// Figure is a number or a date in a text.
type Figure struct {
	Start, End int // bytes of the text, with sign, currency, scale and unit
	Text       string
	// Values are what the number may mean, the likeliest first: "1.234" is read in two ways.
	// Scale and unit of time are in them.
	Values []float64
	Step   float64 // of the last digit as written, with the scale; for the first value
	Digits int     // significant ones, as written
	Unit   string  // Percent, Points, Time, a measure or the code of a currency; empty: none that is known
	Scale  float64 // of a word such as "million" after it, which is in Values; else 1
	Day    Day     // of a date; then there are no Values
	About  bool    // a word such as "about" stands before it
	Plain  bool    // an integer without unit, sign, scale and separators
	// Factor is that of a measure's unit, which is in Values: 1000 of "km".
	Factor float64
	bare   bool // a whole number, of which nothing says that it is in percent
	Plus   bool // it is written with a plus
	// Falls: its line says that something is a loss, a cost or a decrease.
	Falls bool
	sense sense
}

// IsYear reports whether a figure may be a year.
func (f Figure) IsYear() bool {
	return f.Plain && len(f.Text) == 4 && f.Values[0] >= 1900 && f.Values[0] < 2100
}

// IsMoney reports whether a figure has a currency.
func (f Figure) IsMoney() bool { return len(f.Unit) == 3 && f.Unit == strings.ToUpper(f.Unit) }

//go:embed words.txt
var wordsFile string

// vocabulary is what words.txt has, by word.
type vocabulary struct {
	scales     map[string]float64
	days       map[string]float64
	currencies map[string]string
	months     map[string]int
	counts     map[string]float64
	ordinals   map[string]float64
	measures   map[string]measure
	points     language.Set
	basis      language.Set
	falls      language.Set
	percent    language.Set
	permille   language.Set
	parts      map[string]float64 // "fifths" is 5
	about      language.Set
	lists      language.Lists
}

type measure struct {
	of     string // length, mass, volume …
	factor float64
}

var words = readWords()

func readWords() vocabulary {
	lists := language.ReadLists(wordsFile)
	v := vocabulary{scales: map[string]float64{}, days: map[string]float64{}, currencies: map[string]string{}, months: map[string]int{}, counts: map[string]float64{}, ordinals: map[string]float64{}, parts: map[string]float64{}, measures: map[string]measure{}, lists: lists}
	for name := range lists {
		kind, of, _ := strings.Cut(name, " ")
		number, _ := strconv.ParseFloat(of, 64) // 0 where the list has no number
		for w := range lists.Set(name) {
			switch kind {
			case "scale":
				v.scales[w] = number
			case "days":
				v.days[w] = number
			case "currency":
				v.currencies[w] = of
			case "month":
				v.months[w] = int(number)
			case "measure":
				of, factor, _ := strings.Cut(of, " ")
				number, _ := strconv.ParseFloat(factor, 64)
				v.measures[w] = measure{of, number}
			case "count", "ordinal", "denominator":
				word, value, _ := strings.Cut(w, "=")
				number, _ := strconv.ParseFloat(value, 64)
				map[string]map[string]float64{"count": v.counts, "ordinal": v.ordinals, "denominator": v.parts}[kind][word] = number
			}
		}
	}
	v.points, v.percent, v.about = lists.Set("points"), lists.Set("percent"), lists.Set("about")
	v.permille = lists.Set("per mille")
	v.basis, v.falls = lists.Set("basis points"), lists.Set("falls")
	return v
}

// number matches digits with their separators. Groups of three may stand apart.
var number = lazyregexp.New(`\d{1,3}(?:[ \x{a0}\x{202f}\x{2009}'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*`)

// Find returns the figures of a text in its order. It leaves out what is part of a word
// ("XR-200", "10-K", "Q4"), ordinals, and addresses of the web.
func Find(text string) []Figure {
	var out []Figure
	days := Days(text)
	for _, d := range days {
		out = append(out, Figure{Start: d.Start, End: d.End, Text: text[d.Start:d.End], Day: d})
	}
	special := notations(text)
	out = append(out, special...)
	next := 0
	for _, m := range number.FindAllStringIndex(text, -1) {
		if slices.ContainsFunc(special, func(f Figure) bool { return f.Start < m[1] && m[0] < f.End }) {
			continue
		}
		for next < len(days) && days[next].End <= m[0] {
			next++
		}
		if next < len(days) && days[next].Start < m[1] {
			continue
		}
		if f, ok := read(text, m[0], m[1]); ok {
			out = append(out, f)
		}
	}
	for _, f := range inWords(text) {
		if !slices.ContainsFunc(out, func(o Figure) bool { return f.Start < o.End && o.Start < f.End }) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Figure) int { return a.Start - b.Start })
	return joinTimes(text, joinMyriads(text, shareUnits(text, out)))
}

// joinTimes makes one figure of "1 h 30 min" and "2 years and 6 months".
func joinTimes(text string, all []Figure) []Figure {
	for i := len(all) - 2; i >= 0; i-- {
		f, next := &all[i], all[i+1]
		if f.Unit != Time || next.Unit != Time || next.Start < f.End || next.Values[0] >= f.Step {
			continue
		}
		switch strings.TrimSpace(text[f.End:next.Start]) {
		case "", "and", "und", "et", "y", "en":
			f.Values, f.Step, f.End = []float64{f.Values[0] + next.Values[0]}, next.Step, next.End
			f.Text = text[f.Start:f.End]
			f.Digits += next.Digits
			all = slices.Delete(all, i+1, i+2)
		}
	}
	return all
}

// inWord reports whether a number at [from,to) is a part of a word, of an address or of a
// version.
func inWord(text string, from, to int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:from])
	after, width := utf8.DecodeRuneInString(text[to:])
	switch {
	case unicode.IsLetter(before) && !language.IsIdeograph(before) && words.currencies[strings.ToLower(lettersBefore(text[:from]))] == "":
		return true
	case before == '_' || before == '/' && strings.Contains(lastField(text[:from]), "//") || before == '#':
		return true
	case before == '-' || before == '‑' || before == '–':
		r, _ := utf8.DecodeLastRuneInString(text[:from-size])
		if unicode.IsLetter(r) && !language.IsIdeograph(r) {
			return true
		}
	case before == '.' || before == ',': // the rest of something longer
		r, _ := utf8.DecodeLastRuneInString(text[:from-size])
		if unicode.IsLetter(r) {
			return true
		}
	}
	if after == '-' || after == '‑' {
		r, _ := utf8.DecodeRuneInString(text[to+width:])
		if unicode.IsUpper(r) && len(lettersAfter(text[to+width:])) <= 2 { // 10-K
			return true
		}
	}
	if after == ':' { // a time of day, or a ratio
		r, _ := utf8.DecodeRuneInString(text[to+width:])
		return unicode.IsDigit(r)
	}
	if before == ':' {
		r, _ := utf8.DecodeLastRuneInString(text[:from-size])
		return unicode.IsDigit(r)
	}
	if w := strings.ToLower(lettersAfter(text[to:])); w != "" {
		switch {
		case words.scales[w] > 0, words.days[w] > 0, words.currencies[w] != "", words.percent[w], words.permille[w], words.points[w], words.measures[w].factor > 0:
		case w == "m" || w == "b" || w == "x": // $5m, $1.6B, 5.5x
			r, _ := utf8.DecodeRuneInString(text[to+1:])
			return unicode.IsDigit(r)
		case w == "st" || w == "nd" || w == "rd" || w == "th" || w == "er" || w == "ème":
			return true
		case language.IsIdeograph(after):
		default:
			return true // 3a, 5GB
		}
	}
	return false
}

func lastField(s string) string {
	return s[strings.LastIndexFunc(s, unicode.IsSpace)+1:]
}

func lettersBefore(s string) string {
	return s[strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '$' })+1:]
}

// wordBefore returns the word in small letters with which a text ends, before white space.
func wordBefore(s string) string {
	return strings.ToLower(lettersBefore(strings.TrimRightFunc(s, unicode.IsSpace)))
}

func lettersAfter(s string) string {
	if n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); n >= 0 {
		return s[:n]
	}
	return s
}

// read reads the number at [from,to) with what stands around it.
func read(text string, from, to int) (Figure, bool) {
	if inWord(text, from, to) {
		return Figure{}, false
	}
	digits := text[from:to]
	values, decimals := Readings(digits)
	if values == nil {
		return Figure{}, false
	}
	f := Figure{Start: from, End: to, Values: values, Step: math.Pow(10, -float64(decimals)), Digits: significant(digits), Scale: 1}
	f.Plain = strings.Trim(digits, "0123456789") == ""
	f.readBefore(text)
	f.readAfter(text)
	if f.Text = text[f.Start:f.End]; f.Scale == 1 && f.Unit != "" && f.Unit != Percent && f.Unit != Time && values[0] >= 100 && decimals > 0 && strings.Trim(digits[len(digits)-decimals:], "0") == "" {
		f.Step = 1 // "$382.00" is often 382 in the way of amounts
	}
	return f, true
}

// readBefore reads a currency and a sign before a number.
func (f *Figure) readBefore(text string) {
	before := strings.TrimRight(text[:f.Start], " \u00a0")
	if unit := lettersBefore(before); unit != "" || before != "" {
		symbol, size := utf8.DecodeLastRuneInString(before)
		switch code := words.currencies[strings.ToLower(unit)]; {
		case code != "" && len(before)+2 >= f.Start:
			f.Unit, f.Start, f.Plain = code, len(before)-len(unit), false
		case words.currencies[string(symbol)] != "":
			f.Unit, f.Start, f.Plain = words.currencies[string(symbol)], len(before)-size, false
		}
	}
	before = strings.TrimRight(text[:f.Start], " \u00a0")
	f.About = words.about[strings.ToLower(lastField(before))]
	f.Plus = strings.HasSuffix(before, "+") || strings.EqualFold(lastField(before), "plus")
	if w := lastField(before); strings.EqualFold(w, "minus") {
		f.Start, f.Plain = len(before)-len(w), false
		f.negate()
		return
	}
	sign, size := utf8.DecodeLastRuneInString(text[:f.Start])
	if sign == '-' || sign == '−' || sign == '–' {
		if r, _ := utf8.DecodeLastRuneInString(text[:f.Start-size]); r == utf8.RuneError || unicode.IsSpace(r) || r == '(' || r == '|' {
			f.Start -= size
			f.negate()
			f.Plain = false
		}
	}
}

func (f *Figure) negate() {
	for i := range f.Values {
		f.Values[i] = -f.Values[i]
	}
}

var wordAfter = lazyregexp.New(`^[\s\x{a0}]?(?:\(\d+\)\s?)?((?:us|au|ca|nz|hk|mex|[acrs])\$|[%‰$€£¥₹₺₩₽₴₪฿]|°\s?[cf]\b|\pL+[²³23]?(?:/\pL\b)?)`)

// readAfter reads a scale, and a unit, after a number. "per cent" and "pour cent" are two words.
func (f *Figure) readAfter(text string) {
	for range 2 {
		m := wordAfter.FindStringSubmatchIndex(strings.ToLower(text[f.End:min(len(text), f.End+40)]))
		if m == nil {
			// A hyphen, as in "30-day".
			rest := strings.ToLower(text[f.End:min(len(text), f.End+20)])
			if strings.HasPrefix(rest, "-") && words.days[lettersAfter(rest[1:])] > 0 {
				w := lettersAfter(rest[1:])
				f.unit(Time, words.days[w], f.End+1+len(w))
			}
			return
		}
		w := strings.ToLower(text[f.End:min(len(text), f.End+40)])[m[2]:m[3]]
		end := f.End + m[3]
		if meant := byCase[text[f.End+m[2]:min(len(text), end)]]; meant != "" {
			w = meant
		}
		if known := unitOfRun(w); known != "" {
			end -= len(w) - len(known)
			w = known
		}
		if whole := strings.ReplaceAll(w, " ", ""); words.measures[whole].factor > 0 {
			w = whole
		} else if name := lettersAfter(w); name != "" && len(name) < len(w) { // euros/year
			end -= len(w) - len(name)
			w = name
		}
		rest := strings.ToLower(text[min(len(text), end):min(len(text), end+30)])
		symbol, _ := utf8.DecodeRuneInString(rest)
		money := f.Unit != "" && f.Unit != Percent || words.currencies[string(symbol)] != "" // 3.4 M€
		switch points := pointsAfter.FindString(w + rest); {
		case points != "":
			f.unit(Points, 1, end+len(points)-len(w))
			return
		case words.points[w]:
			f.unit(Points, 1, end)
			return
		case words.basis[w]:
			f.unit(Points, 0.01, end)
			return
		case basisAfter.MatchString(w + rest):
			f.unit(Points, 0.01, end+len(basisAfter.FindString(w+rest))-len(w))
			return
		case (w == "per" || w == "pour" || w == "por") && (strings.HasPrefix(rest, " cent") || strings.HasPrefix(rest, " ciento")):
			f.unit(Percent, 1, end+1+len(lettersAfter(rest[1:])))
			return
		case w == "vom" && strings.HasPrefix(rest, " hundert"):
			f.unit(Percent, 1, end+len(" hundert"))
			return
		case (w == "per" || w == "pour" || w == "por") && perMille.MatchString(rest):
			f.unit(Percent, 0.1, end+len(perMille.FindString(rest)))
			return
		case money && f.Scale == 1 && scaleLetters[w] > 0:
			f.multiply(scaleLetters[w])
			f.Scale, f.Plain, f.End = scaleLetters[w], false, end
			continue
		case f.Unit == "" && f.Scale == 1 && len(w) == 4 && scaleLetters[w[:1]] > 0 && words.currencies[w[1:]] != "": // TEUR
			f.Scale = scaleLetters[w[:1]]
			f.unit(words.currencies[w[1:]], f.Scale, end)
			return
		case words.scales[w] > 0 && f.Scale == 1 && f.scaleWord(w, m[2] == 0):
			f.multiply(words.scales[w])
			f.Scale, f.Plain, f.End = words.scales[w], false, end
			continue
		case words.percent[w]:
			f.unit(Percent, 1, end)
		case words.permille[w]:
			f.unit(Percent, 0.1, end)
		case words.currencies[w] != "":
			if f.Unit == "" {
				f.unit(words.currencies[w], 1, end)
			}
		case words.measures[w].factor > 0 && f.Unit == "" && f.Scale == 1 && symbol != '\'' && symbol != '’':
			f.Factor = words.measures[w].factor
			f.unit(words.measures[w].of, f.Factor, end)
		case f.Unit == "" && timeOfCompound(w) > 0:
			f.unit(Time, timeOfCompound(w), end)
		case words.days[w] > 0 && f.Unit == "" && (len(w) > 1 || w == "h" || language.IsIdeograph([]rune(w)[0])):
			f.unit(Time, words.days[w], end)
		}
		return
	}
}

// byCase are units whose letters name another one in other cases: "ft" is feet, and "SEK" a currency.
var byCase = map[string]string{"Ft": "forint", "Sek": "sekunden", "sek": "sekunden"}

// timeOfCompound returns the days of the unit with which a longer word ends, such as those of "Werktage"; else 0.
func timeOfCompound(word string) float64 {
	const shortest = 4 // of a unit, in bytes
	for i := range word {
		if days := words.days[word[i:]]; i >= shortest-1 && len(word)-i >= shortest && days > 0 {
			return days
		}
	}
	return 0
}

// unitOfRun returns the unit or scale with which a run of ideographs begins, such as 円 of 円です; "" for
// words of other scripts.
func unitOfRun(run string) string {
	all := []rune(run)
	if len(all) == 0 || !language.IsIdeograph(all[0]) {
		return ""
	}
	for n := min(len(all), 3); n > 0; n-- {
		if w := string(all[:n]); words.scales[w] > 0 || words.currencies[w] != "" || words.percent[w] || words.days[w] > 0 {
			return w
		}
	}
	return ""
}

// pointsAfter matches words for percentage points.
var pointsAfter = lazyregexp.New(`^(?:percentage|percent|%|pct)[ -]points?\b|^points? de (?:pourcentage|%)|^puntos? porcentual(?:es)?\b|^%-?(?:punkte?n?|punten)\b`)

var perMille = lazyregexp.New(`^ mill?e?\b`)

// basisAfter matches words for hundredths of a percentage point.
var basisAfter = lazyregexp.New(`^(?:basis points?|points? de base|puntos? básicos?)\b`)

// scaleLetters are scales of amounts of money.
var scaleLetters = map[string]float64{"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}

// In returns the value of a figure in the unit that the name of a column says, such as "Size (kB)";
// else the number as it is written.
func (f Figure) In(column string) float64 {
	if times := f.unitOf(column); times > 0 {
		return f.Values[0] / times
	}
	if written, _ := Readings(number.FindString(f.Text)); len(written) > 0 && (f.Factor > 0 || f.Unit == Time) {
		return written[0]
	}
	return f.Values[0]
}

// IsIn reports whether the name of a column has a unit of the figure's kind.
func (f Figure) IsIn(column string) bool { return f.unitOf(column) > 0 }

// unitOf returns the factor of the unit in the name of a column, if it is of the figure's kind; else 0.
func (f Figure) unitOf(column string) float64 {
	for _, w := range strings.FieldsFunc(strings.ToLower(column), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[],", r) }) {
		switch m := words.measures[w]; {
		case m.factor > 0 && m.of == f.Unit:
			return m.factor
		case f.Unit == Time && words.days[w] > 0:
			return words.days[w]
		}
	}
	return 0
}

// scaleWord reports whether a word after a number is its scale: a short one only if it stands
// directly after it, or after an amount of money.
func (f *Figure) scaleWord(w string, close bool) bool {
	return utf8.RuneCountInString(w) > 2 || close || f.Unit != "" || language.IsIdeograph([]rune(w)[0]) || w == "bn" || w == "mn"
}

func (f *Figure) unit(unit string, times float64, end int) {
	f.Unit, f.End, f.Plain = unit, end, false
	f.multiply(times)
}

func (f *Figure) multiply(times float64) {
	for i := range f.Values {
		f.Values[i] *= times
	}
	f.Step *= times
}

// Readings returns what digits with separators may mean, the likeliest first, and the number
// of decimals of the first one. It returns nil for what is no number, such as "1.2.3".
func Readings(s string) (values []float64, decimals int) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' || r == ',' {
			return r
		}
		return -1
	}, s)
	point, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	add := func(plain string) {
		if v, err := strconv.ParseFloat(plain, 64); err == nil {
			if values == nil {
				if i := strings.IndexByte(plain, '.'); i >= 0 {
					decimals = len(plain) - i - 1
				}
			}
			values = append(values, v)
		}
	}
	mark := "."
	if comma > point {
		mark = ","
	}
	other := map[string]string{".": ",", ",": "."}[mark]
	switch n := strings.Count(s, mark); {
	case point < 0 && comma < 0:
		add(s)
	case point >= 0 && comma >= 0:
		if n > 1 || !grouped(s[:strings.LastIndex(s, mark)], other) {
			return nil, 0
		}
		add(strings.Replace(strings.ReplaceAll(s, other, ""), mark, ".", 1))
	case n > 1:
		if grouped(s, mark) {
			add(strings.ReplaceAll(s, mark, ""))
		}
	default:
		whole, fraction, _ := strings.Cut(s, mark)
		thousands := len(fraction) == 3 && len(whole) <= 3 && !strings.HasPrefix(whole, "0")
		if thousands && mark == "," {
			add(whole + fraction)
		}
		if whole != "" {
			add(whole + "." + fraction)
		}
		if thousands && mark == "." {
			add(whole + fraction)
		}
	}
	return values, decimals
}

// grouped reports whether a mark groups the digits of s by three or, as in India, by two.
func grouped(s, mark string) bool {
	parts := strings.Split(s, mark)
	if len(parts) == 1 {
		return true
	}
	if n := len(parts[0]); n == 0 || n > 3 || len(parts[len(parts)-1]) != 3 {
		return false
	}
	for _, p := range parts[1 : len(parts)-1] {
		if len(p) != 3 && len(p) != 2 {
			return false
		}
	}
	return true
}

// significant counts the digits without zeros at the beginning and, of a whole number, at the
// end.
func significant(s string) int {
	digits := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
	digits = strings.TrimLeft(digits, "0")
	if len(digits) == len(s) {
		digits = strings.TrimRight(digits, "0")
	}
	return max(1, len(digits))
}

// UnitOf returns the unit that a word or a sign names; "" for any other.
func UnitOf(word string) string {
	word = strings.ToLower(word)
	switch {
	case words.percent[word], word == "per cent", word == "pour cent":
		return Percent
	case words.currencies[word] != "":
		return words.currencies[word]
	}
	return ""
}

// UnitAfter returns the unit that a word after a number names, the word itself if it is not
// known, and the scale, which is 1 for a word that is none.
func UnitAfter(word string) (unit string, scale float64) {
	if times := words.scales[strings.ToLower(word)]; times > 0 {
		return "", times
	}
	if unit = UnitOf(word); unit == "" {
		unit = strings.ToLower(strings.Trim(word, ".,;"))
	}
	return unit, 1
}

// UnitIn returns the unit that the name of a column has: "Price (EUR)", "Share in %".
func UnitIn(name string) string {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]/,", r) }) {
		if unit := UnitOf(w); unit != "" && (len(w) <= 3 || unit == Percent) {
			return unit
		}
	}
	return ""
}

var letters = lazyregexp.New(`\pL+`)

// inWords returns the numbers in words that have a unit: "thirty days", not "two parties".
func inWords(text string) []Figure {
	var out []Figure
	all := letters.FindAllStringIndex(text, -1)
	for i := 0; i < len(all); i++ {
		value, ok := Number(text[all[i][0]:all[i][1]])
		if !ok {
			continue
		}
		f := Figure{Start: all[i][0], End: all[i][1], Step: 1, Digits: 1, Scale: 1}
		total := 0.0
		for ; i+1 < len(all); i++ { // one thousand two hundred and fifty
			next, ok := Number(text[all[i+1][0]:all[i+1][1]])
			if between := strings.ToLower(strings.TrimSpace(text[f.End:all[i+1][0]])); !ok && i+2 < len(all) && between == "" && linkWords[strings.ToLower(text[all[i+1][0]:all[i+1][1]])] {
				if next, ok = Number(text[all[i+2][0]:all[i+2][1]]); !ok || value < 20 || next >= value && total == 0 {
					break
				}
				i++
			} else if !ok || between != "" && between != "-" {
				break
			}
			switch f.End = all[i+1][1]; {
			case next == 1000:
				total, value = (total+value)*next, 0
			case next == 100 && value > 0 && value < 20:
				value *= next
			default:
				value += next
			}
		}
		f.Values = []float64{total + value}
		if f.readAfter(text); f.Unit != "" {
			f.Text = text[f.Start:f.End]
			out = append(out, f)
		}
	}
	return out
}

// linkWords stand between the words of a number.
var linkWords = language.NewSet("and und et y en")

// Number returns the number that a word names, also "fünfundzwanzig" and "vijfentwintig".
func Number(word string) (value float64, ok bool) {
	word = strings.ToLower(word)
	if value, ok = words.counts[word]; ok {
		return value, true
	}
	for _, link := range []string{"und", "ën", "en"} {
		if unit, ten, found := strings.Cut(word, link); found && words.counts[ten] >= 20 && words.counts[unit] > 0 && words.counts[unit] < 10 {
			return words.counts[ten] + words.counts[unit], true
		}
	}
	return 0, false
}

// shareUnits gives the first figure of a range or a list the unit and the scale of the second: "10–15 %",
// "5 to 7 days", "$1.2 and $1.4 billion".
func shareUnits(text string, all []Figure) []Figure {
	for i := len(all) - 2; i >= 0; i-- {
		f, next := &all[i], all[i+1]
		if len(f.Values) == 0 || len(next.Values) == 0 || next.Start < f.End || next.Unit != Time && f.IsYear() {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(text[f.End:next.Start])) {
		case "-", "–", "—", "to", "bis", "auf", "à", "a", "hasta", "para", "tot", "naar", "and", "und", "et", "y", "en", "or", "oder":
			const alike = 100 // "800 to 1.2 million" has one scale
			if f.Scale == 1 && next.Scale != 1 && (f.Unit == "" || f.Unit == next.Unit) && f.Values[0] < alike*next.Values[0]/next.Scale {
				f.multiply(next.Scale)
				f.Scale, f.Plain = next.Scale, false
			}
			if f.Unit != "" || next.Unit == "" {
				continue
			}
			f.Unit, f.Plain = next.Unit, false
			if next.Factor > 0 {
				f.Factor = next.Factor
				f.multiply(f.Factor)
			}
			if next.Unit == Time {
				w := strings.ToLower(letters.FindString(next.Text))
				if times := words.days[w]; times > 0 {
					f.multiply(times)
				}
			}
		}
	}
	return all
}
