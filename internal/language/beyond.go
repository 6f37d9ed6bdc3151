package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// Excess is a figure of a text that exceeds an upper bound of a rule, or falls short of a
// lower one, in the same unit.
type Excess struct {
	Text  string // as the text writes it
	Bound string // as the rule writes it
	Upper bool   // the bound is a maximum, else a minimum
	Date  bool   // both are dates, and the bound is a deadline
	At    int    // byte offset of Text in the text
	Rule  int    // byte offset of Bound in the rule
}

func (x Excess) String() string {
	switch {
	case x.Date:
		return fmt.Sprintf("the text says %s, the rule sets %s as the last day", x.Text, x.Bound)
	case x.Upper:
		return fmt.Sprintf("the text says %s, the rule allows at most %s", x.Text, x.Bound)
	}
	return fmt.Sprintf("the text says %s, the rule asks for at least %s", x.Text, x.Bound)
}

// Beyond returns the figures of a text that violate the bounds of a rule: amounts,
// periods, counts and dates, each compared with its own unit only. It does not know
// whether rule and text are about the same subject.
func Beyond(rule, text string) []Excess {
	var out []Excess
	for _, l := range Limits(rule) {
		for _, q := range figuresOf(text) {
			if !l.comparable(q) || l.Upper && q.Value <= l.Value || !l.Upper && q.Value >= l.Value {
				continue
			}
			out = append(out, Excess{Text: q.String(), Bound: l.String(), Upper: l.Upper, At: q.At, Rule: l.At})
		}
	}
	for _, last := range deadlines(rule) {
		for _, d := range dates(text) {
			if d.after(last) {
				out = append(out, Excess{Text: d.text, Bound: last.text, Upper: true, Date: true, At: d.at, Rule: last.at})
			}
		}
	}
	return out
}

// Within reports whether a text has a figure in the unit of one of the rule's bounds, and
// no figure that violates a bound.
func Within(rule, text string) bool {
	found := false
	for _, l := range Limits(rule) {
		for _, q := range figuresOf(text) {
			found = found || l.comparable(q)
		}
	}
	found = found || len(deadlines(rule)) > 0 && len(dates(text)) > 0
	return found && len(Beyond(rule, text)) == 0
}

// SetsBound reports whether a rule sets a bound on an amount or a date.
func SetsBound(rule string) bool { return len(Limits(rule))+len(deadlines(rule)) > 0 }

// figuresOf returns the quantities of a text, including counts in words, without "one",
// which is seldom a count.
func figuresOf(text string) []Quantity {
	return slices.DeleteFunc(counts(text), func(q Quantity) bool { return q.inWords() == "one" })
}

// comparable reports whether the limit and q have the same unit. Amounts of money need
// the same currency, unless one of them names none.
func (l Limit) comparable(q Quantity) bool {
	if l.Unit == "" || q.Unit != l.Unit {
		return false
	}
	a, b := currencyOf(l.Text), currencyOf(q.Text)
	return a == "" || b == "" || a == b
}

var currencyNames = map[string]string{
	"$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "€": "eur", "eur": "eur", "euro": "eur", "euros": "eur",
	"£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp", "myr": "myr", "rm": "myr", "ringgit": "myr", "sgd": "sgd", "chf": "chf",
}

func currencyOf(amount string) string {
	for _, m := range currencyWord.FindAllString(amount, -1) {
		if c := currencyNames[strings.ToLower(m)]; c != "" {
			return c
		}
	}
	return ""
}

var currencyWord = lazyregexp.New(`[$€£]|[[:alpha:]]+`)

// date is a day. Year 0 means that the text names no year.
type date struct {
	year, month, day int
	text             string
	at               int
}

// after reports whether d is later than o. If one of them has no year, only month and day
// count: a deadline without a year recurs every year.
func (d date) after(o date) bool {
	if d.year != 0 && o.year != 0 && d.year != o.year {
		return d.year > o.year
	}
	return d.month*31+d.day > o.month*31+o.day
}

var (
	monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	dayMonth   = lazyregexp.New(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (` + strings.Join(monthNames, "|") + `)\b(?:,? (\d{4}))?`)
	monthDay   = lazyregexp.New(`(?i)\b(` + strings.Join(monthNames, "|") + `) (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`)
	isoDay     = lazyregexp.New(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	lastDay    = lazyregexp.New(`(?i)\b(?:by|until|before|no later than|not later than|on or before|latest on)\s+(?:the )?$`)
)

// dates returns the days that a text names.
func dates(s string) (out []date) {
	add := func(m []int, year, month, day string) {
		d := date{text: s[m[0]:m[1]], at: m[0]}
		d.year, _ = strconv.Atoi(year) // 0 without a year
		d.day, _ = strconv.Atoi(day)
		for i, name := range monthNames {
			if strings.EqualFold(name, month) {
				d.month = i + 1
			}
		}
		if n, err := strconv.Atoi(month); err == nil {
			d.month = n
		}
		if d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 {
			out = append(out, d)
		}
	}
	for _, m := range dayMonth.FindAllStringSubmatchIndex(s, -1) {
		add(m, group(s, m, 3), group(s, m, 2), group(s, m, 1))
	}
	for _, m := range monthDay.FindAllStringSubmatchIndex(s, -1) {
		add(m, group(s, m, 3), group(s, m, 1), group(s, m, 2))
	}
	for _, m := range isoDay.FindAllStringSubmatchIndex(s, -1) {
		add(m, group(s, m, 1), group(s, m, 2), group(s, m, 3))
	}
	return out
}

// deadlines returns the days of a rule that a word such as "by" or "until" makes deadlines.
func deadlines(rule string) (out []date) {
	for _, d := range dates(rule) {
		if lastDay.MatchString(rule[:d.at]) {
			out = append(out, d)
		}
	}
	return out
}
