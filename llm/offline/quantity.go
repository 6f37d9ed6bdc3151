package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// quantity is a number with what it counts.
type quantity struct {
	text  string // as written
	value float64
	unit  string // percent, money, time or a word; empty when unknown
	word  string // the unit as written
	at    int    // byte offset in the sentence
}

func (q quantity) String() string { return strings.Join(strings.Fields(q.text), " ") }

var (
	quantityRe = regexp.MustCompile(`(?i)(?:([$€£]|\b(?:usd|eur|gbp|myr|rm|sgd|chf)\b)\s*)?\b(\d[\d,]*(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty|thirty|forty|forty-five|fifty|sixty|ninety|hundred)\b\s*(?:\(\d+\)\s*)?(%|per cent|(?:(?:business|working|calendar|full|consecutive) )?[a-z]+(?:-[a-z]+)?)?`)
	numbers    = map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}
	times      = map[string]float64{"hour": 1.0 / 24, "day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365, "minute": 1.0 / 1440}
	currencies = set("euro euros dollar dollars pound pounds ringgit usd eur gbp myr")
	notUnits   = set("or and of the a an to in on at for by is are was be as if per with from that which who may must shall should not no than")
)

// quantities finds the numbers of a sentence; time is in days.
func quantities(s string) []quantity {
	var out []quantity
	for _, m := range quantityRe.FindAllStringSubmatchIndex(s, -1) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return s[m[2*i]:m[2*i+1]]
		}
		number := strings.ToLower(group(2))
		value, spelled := numbers[number]
		if !spelled {
			var err error
			if value, err = strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64); err != nil {
				continue
			}
		}
		q := quantity{value: value, at: m[0], text: s[m[0]:m[1]], word: group(3)}
		words := strings.Fields(strings.ToLower(q.word))
		unit := ""
		if len(words) > 0 {
			unit = words[len(words)-1]
		}
		single := strings.TrimSuffix(unit, "s")
		switch {
		case group(1) != "" || currencies[unit]:
			q.unit = "money"
		case unit == "%" || unit == "percent" || unit == "cent" && len(words) == 2:
			q.unit = "percent"
		case times[single] > 0:
			q.unit, q.value = "time", value*times[single]
		case unit == "" || notUnits[unit]:
			q.text = s[m[0]:m[5]]
		default:
			q.unit = single
		}
		if q.unit == "money" && !currencies[unit] {
			q.text = s[m[0]:m[5]]
		}
		if spelled && (number == "one" || q.unit != "time" && q.unit != "percent") {
			continue // "one of", "two parties" are words, not figures
		}
		out = append(out, q)
	}
	return out
}

// limit is a bound that a rule sets.
type limit struct {
	quantity
	upper bool // at most, else at least
}

var (
	upperBound = regexp.MustCompile(`(?i)(?:at most|no more than|not more than|not (?:to )?exceed(?:ing)?|never exceed|cannot exceed|up to|maximum(?: of)?|within|no later than|not later than|less than|below|under|limited to|no longer than|capped at)\s+(?:an? |the )?(?:total |value |amount |average )?(?:of )?$`)
	lowerBound = regexp.MustCompile(`(?i)(?:at least|no less than|not less than|minimum(?: of)?|more than|above|no fewer than|not fewer than|exceeding|or above)\s+(?:an? |the )?(?:total )?(?:of )?$`)
	atMost     = regexp.MustCompile(`(?i)^\s*(?:or less|at most|or fewer|at the latest|maximum)\b`)
	atLeast    = regexp.MustCompile(`(?i)^\s*(?:or more|at least|or longer|minimum)\b`)
)

// limits finds the bounds in a rule.
func limits(s string) []limit {
	var out []limit
	for _, q := range quantities(s) {
		before, after := s[:q.at], s[min(len(s), q.at+len(q.text)):]
		switch {
		case upperBound.MatchString(before), atMost.MatchString(after):
			out = append(out, limit{q, true})
		case lowerBound.MatchString(before), atLeast.MatchString(after):
			out = append(out, limit{q, false})
		}
	}
	return out
}

// broken says how a text exceeds a rule's bounds; empty when it does not.
func broken(rule, text string) string {
	for _, l := range limits(rule) {
		if l.unit == "" {
			continue
		}
		for _, q := range quantities(text) {
			if q.unit != l.unit {
				continue
			}
			if l.upper && q.value > l.value {
				return fmt.Sprintf("the text says %s, the rule allows at most %s", q, l)
			}
			if !l.upper && q.value < l.value {
				return fmt.Sprintf("the text says %s, the rule asks for at least %s", q, l)
			}
		}
	}
	return ""
}

// kept reports whether a text states a quantity that a rule's bounds allow.
func kept(rule, text string) bool {
	for _, l := range limits(rule) {
		for _, q := range quantities(text) {
			if l.unit != "" && q.unit == l.unit {
				return true
			}
		}
	}
	return false
}
