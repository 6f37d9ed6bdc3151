package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// formula is a calculation that a text shows, with its result.
type formula struct {
	start, end int
	result     float64
	accounts   float64 // the result if numbers alone in brackets are negative
	points     float64 // the result if points group digits wherever they may: "1.204 + 396"
	percent    bool    // its numbers are written in percent
}

var alone = lazyregexp.New(`\(\s*(\d[\d.,]*)\s*\)`)

var (
	formulaRun = lazyregexp.New(`[\d.,()\[\]+\-−–*/×÷·$€£% \x{a0}]+`)
	operator   = lazyregexp.New(`\d[\d.,%)\]]*\s*[+\-−–*/×÷·]\s*[(\[$€£]*\s*-?[$€£]?\d`)
	goSigns    = strings.NewReplacer("[", "(", "]", ")", "%", "")
)

// rangeOf matches "4–7" and "7-4".
var rangeOf = lazyregexp.New(`^[( ]*(\d[\d.,]*?)\s?%?[-–](\d[\d.,]*?)[) .,%]*$`)

// isRange reports whether a run is a range and no difference: the first number is the smaller one.
func isRange(run string) bool {
	m := rangeOf.FindStringSubmatch(run)
	if m == nil {
		return false
	}
	from, _ := Readings(m[1])
	to, _ := Readings(m[2])
	return from != nil && to != nil && from[0] < to[0]
}

// negative matches a figure with a minus that a formula in brackets may follow: "-23 million (159-182)".
var negative = lazyregexp.New(`(?:^|\s)[-−–][$€£]?\d[\d.,]*\s?[%\pL]*\s*$`)

// formulasIn returns the calculations of a text: numbers with + - * / between them.
func formulasIn(text string) (out []formula) {
	const longest = 400
	for _, m := range formulaRun.FindAllStringIndex(text, -1) {
		run := text[m[0]:m[1]]
		if len(run) > longest || !operator.MatchString(run) || isRange(run) && !negative.MatchString(text[:m[0]]) {
			continue
		}
		if f, ok := longestFormula(run); ok {
			f.start, f.end = f.start+m[0], f.end+m[0]
			out = append(out, f)
		}
	}
	return out
}

var tokenStart = lazyregexp.New(`(?:^|[ \x{a0}(\[])[-(\[$€£\d]`)

// longestFormula returns the longest formula of a run that ends it, but for marks and brackets of
// the sentence around it.
func longestFormula(run string) (formula, bool) {
	const tries = 24
	starts := tokenStart.FindAllStringIndex(run, tries)
	for _, m := range starts {
		from := m[1] - 1
		for to := len(run); to > from && operator.MatchString(run[from:to]); to-- {
			if x, err := evaluate(run[from:to], false); err == nil {
				negative, _ := evaluate(alone.ReplaceAllString(run[from:to], "(-$1)"), false)
				points, _ := evaluate(run[from:to], true)
				return formula{from, to, x, negative, points, strings.Contains(run[from:to], "%")}, true
			}
			if !strings.ContainsRune(".,()[] -–/=\u00a0", rune(run[to-1])) {
				break
			}
		}
	}
	return formula{}, false
}

// evaluate computes a formula as a text shows it: with numbers in the ways of several countries, and
// signs of currencies and percent that are left out. With points, "1.204" is more than a thousand.
func evaluate(s string, points bool) (float64, error) {
	x, err := Evaluate(number.ReplaceAllStringFunc(goSigns.Replace(s), func(n string) string {
		values, _ := Readings(n)
		if values == nil {
			return "?"
		}
		if points && !strings.Contains(n, ",") {
			values[0] = slices.Max(values)
		}
		return strconv.FormatFloat(values[0], 'f', -1, 64)
	}))
	if err != nil {
		return 0, err
	}
	result, _ := x.Float64()
	return result, nil
}

// isResult reports whether a figure that is no part of a formula is the result of one. A share may be
// written in percent.
func isResult(all []formula, f Figure) bool {
	return len(f.Values) > 0 && slices.ContainsFunc(all, func(x formula) bool {
		return (f.End <= x.start || f.Start >= x.end) && (f.result(x.result) || f.result(x.accounts) || f.result(x.points) || f.Unit == Percent && (f.result(100*x.result) || x.percent && f.result(x.result/100)))
	})
}

var ofBetween = lazyregexp.New(`^ (?:of|von|de|du|des|del|di|van|de los)(?: (?:the|la|el|der|den|het))? $`)

// sharesOf returns the calculations such as "18 % of 9,500".
func sharesOf(text string, found []Figure) (out []formula) {
	for i := 1; i < len(found); i++ {
		a, b := found[i-1], found[i]
		if a.Unit == Percent && len(b.Values) > 0 && b.Unit != Percent && a.End < b.Start && ofBetween.MatchString(text[a.End:b.Start]) {
			x := a.Values[0] / 100 * b.Values[0]
			out = append(out, formula{start: a.Start, end: b.End, result: x, accounts: x, points: x})
		}
	}
	return out
}

var equals = lazyregexp.New(`^[\s)\].]*[=≈]\s*$`)

// isWrongResult reports whether a figure stands behind the equals sign of a formula, and is not its result.
func isWrongResult(text string, all []formula, f Figure) bool {
	written := f
	if f.Unit == Time {
		written.Values, written.Step = []float64{f.In("")}, 1
	}
	return len(f.Values) > 0 && slices.ContainsFunc(all, func(x formula) bool {
		return x.end <= f.Start && equals.MatchString(text[x.end:f.Start]) && !isResult([]formula{x}, f) && !isResult([]formula{x}, written)
	})
}

// between returns the formulas that stand in a block, and the others.
func between(all []formula, block [2]int) (own, others []formula) {
	for _, x := range all {
		if block[0] <= x.start && x.end <= block[1] {
			own = append(own, x)
		} else {
			others = append(others, x)
		}
	}
	return own, others
}

// resultsOf returns the results of formulas as figures, shares also in percent.
func resultsOf(all []formula) (out []Figure) {
	const most = 6
	for _, x := range all[:min(len(all), most)] {
		out = append(out, Figure{Values: []float64{x.result}})
		if math.Abs(x.result) < 1 {
			out = append(out, Figure{Values: []float64{100 * x.result}})
		}
	}
	return out
}

// constants are numbers of formulas that are no amounts, besides small ones.
var constants = []float64{100, 360, 365, 1000}

var timesBefore, timesAfter = lazyregexp.New(`[*×/÷·]\s*$`), lazyregexp.New(`^\s*[*×/÷·]`)

// isConstant reports whether a figure is a number of a formula that is no amount: of how many an
// average is, or a hundred for percent. Words may stand in the formula: "Cost / sales * 100".
func isConstant(text string, all []formula, f Figure) bool {
	if !f.Plain {
		return false
	}
	if slices.Contains(constants, f.Values[0]) && (timesBefore.MatchString(text[:f.Start]) || timesAfter.MatchString(text[f.End:])) {
		return true
	}
	return (f.Values[0] <= 12 || slices.Contains(constants, f.Values[0])) &&
		slices.ContainsFunc(all, func(x formula) bool { return f.Start >= x.start && f.End <= x.end })
}
