package figures

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
)

// sense is what the words around a figure say of it, by axis: 1, -1, or 0 if they say nothing or both. A bound that
// leaves the figure out ("over", "under") is 2 or -2: what is not over 18 is at most 18.
type sense [3]int8

const (
	change = iota // something rose or fell by the figure, or to it
	bound         // the figure is the least or the most
	gain          // the figure is a profit or a loss
)

// phraseList are words and phrases in small letters, the longest first.
type phraseList []string

func listOf(name string) (l phraseList) {
	for w := range words.lists.Set(name) {
		l = append(l, strings.ReplaceAll(w, "_", " "))
	}
	slices.SortFunc(l, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return l
}

// isIn reports whether a text in small letters has one of the phrases as whole words.
func (l phraseList) isIn(text string) bool {
	return slices.ContainsFunc(l, func(phrase string) bool {
		for at := 0; ; at++ {
			i := strings.Index(text[at:], phrase)
			if i < 0 {
				return false
			}
			if at += i; endsWord(text[:at]) && beginsWord(text[at+len(phrase):]) {
				return true
			}
		}
	})
}

// endsIn returns the length of the longest phrase with which a text in small letters ends; 0 if there is none.
func (l phraseList) endsIn(text string) int {
	for _, phrase := range l {
		if before, ends := strings.CutSuffix(text, phrase); ends && endsWord(before) {
			return len(phrase)
		}
	}
	return 0
}

// beginsIn returns the length of the longest phrase with which a text in small letters begins; 0 if there is none.
func (l phraseList) beginsIn(text string) int {
	for _, phrase := range l {
		if after, begins := strings.CutPrefix(text, phrase); begins && beginsWord(after) {
			return len(phrase)
		}
	}
	return 0
}

// endsWord and beginsWord report whether a word may end before, or begin after, what stands between two texts.
func endsWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return !unicode.IsLetter(r)
}

func beginsWord(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return !unicode.IsLetter(r)
}

// senses are the words of each axis, for 1 and -1, that count in the whole clause.
var senses = [...][2]phraseList{
	change: {listOf("up"), listOf("down")},
	bound:  {listOf("least"), listOf("most")},
	gain:   {listOf("gain"), listOf("lost")},
}

// Bounds beside a figure.
var (
	leastBefore, mostBefore = listOf("least before"), listOf("most before")
	moreBefore, lessBefore  = listOf("more before"), listOf("less before")
	leastAfter, mostAfter   = listOf("least after"), listOf("most after")
	taxes                   = listOf("taxes")
	negations               = listOf("not")
	ofFigure                = phraseList{"von", "of", "de"} // "at least of 3"
	clauseEnd               = lazyregexp.New(`[,.:]\s|[;!?()|—\n]|(?i:\s(?:and|but|while|whereas|although|after|before|and|und|aber|während|nach|nachdem|et|mais|tandis|après|y|pero|mientras|tras|maar|terwijl|na)\s)`)
)

// readSenses reads what a line says of its figures.
func readSenses(line string, found []Figure) {
	if len(found) == 0 {
		return
	}
	from := strings.LastIndexByte(line[:found[0].Start], '\n') + 1
	for from < len(line) {
		to := endOfClause(line, from)
		var in []*Figure
		for i := range found {
			if f := &found[i]; f.Start >= from && f.Start < to && len(f.Values) > 0 && !f.IsYear() {
				in = append(in, f)
			}
		}
		if len(in) > 0 {
			readClause(line, from, to, in)
		}
		from = to
	}
}

// endOfClause returns the end of the clause that begins at a place of a line. "Before tax" begins none.
func endOfClause(line string, from int) int {
	for to := from; ; {
		m := clauseEnd.FindStringIndex(line[to:])
		if m == nil {
			return len(line)
		}
		if to += m[1]; taxes.beginsIn(strings.ToLower(line[to:])) == 0 {
			return to
		}
	}
}

func readClause(line string, from, to int, in []*Figure) {
	small := func(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }
	clause := small(line[from:to])
	var s sense
	for axis, signs := range senses {
		if axis != bound || len(in) == 1 {
			s[axis] = signOf(signs[0].isIn(clause), signs[1].isIn(clause))
		}
	}
	if (s[change] != 0 || s[gain] != 0) && negations.isIn(clause) {
		s[change], s[gain] = 0, 0
	}
	for _, f := range in {
		if f.sense = s; f.Values[0] < 0 {
			f.sense[gain] = -1
		}
		before, after := small(line[from:f.Start]), small(line[min(f.End, to):to])
		before = strings.TrimSpace(before[:len(before)-ofFigure.endsIn(before)])
		_, second, _ := strings.Cut(after, " ") // "30 days or more", "30 or more"
		longest := 0
		for _, b := range []struct {
			length int
			sign   int8
		}{
			{leastBefore.endsIn(before), 1}, {mostBefore.endsIn(before), -1}, {moreBefore.endsIn(before), 2}, {lessBefore.endsIn(before), -2},
			{max(leastAfter.beginsIn(second), leastAfter.beginsIn(after)), 1}, {max(mostAfter.beginsIn(second), mostAfter.beginsIn(after)), -1},
		} {
			if b.length > longest {
				longest, f.sense[bound] = b.length, b.sign
			}
		}
	}
}

func signOf(plus, minus bool) int8 {
	switch {
	case plus && !minus:
		return 1
	case minus && !plus:
		return -1
	}
	return 0
}

// isContradicted reports whether the texts have a figure only with the opposite of what the answer says of it.
func (k *knownFigures) isContradicted(f Figure) bool {
	if f.sense == (sense{}) || len(f.Values) == 0 || f.IsYear() {
		return false
	}
	var same, opposite [len(f.sense)]bool
	count := func(axis int, sign int8) {
		if axis == bound && sign*f.sense[axis] == -2 { // the complement
			return
		}
		same[axis] = same[axis] || sign*f.sense[axis] > 0
		opposite[axis] = opposite[axis] || sign*f.sense[axis] < 0
	}
	for _, x := range k.figures {
		if x.sense != (sense{}) && sameUnit(f, x) && k.equal(f, x) {
			for axis := range f.sense {
				count(axis, x.sense[axis])
			}
		}
	}
	if f.sense[change] != 0 {
		for _, l := range k.lines {
			for _, p := range l.pairs {
				if p.gives(f) {
					count(change, p.sign())
				}
			}
		}
	}
	for axis := range f.sense {
		if opposite[axis] && !same[axis] && !(axis == gain && f.Unit == Percent) { // a rate is no profit
			return true
		}
	}
	return false
}

// ofPair reports whether a figure is the change of what a sentence says that it became.
func (k *knownFigures) ofPair(f Figure) bool {
	return f.sense[change] != 0 && len(f.Values) > 0 && slices.ContainsFunc(k.lines, func(l lineOf) bool {
		return !l.table && slices.ContainsFunc(l.pairs, func(p pair) bool { return p.gives(f) })
	})
}

// pair is a figure that became another one, and whether the words between them call it a rise or a fall.
type pair struct {
	old, new Figure
	said     int8
}

// gives reports whether a figure is the difference of a pair, or its change in percent.
func (p pair) gives(f Figure) bool {
	a, b := p.old.Values[0], p.new.Values[0]
	switch {
	case f.Unit == Percent && p.old.Unit != Percent:
		return a != 0 && f.result(100*(b-a)/a)
	case f.Unit == Points:
		return p.old.Unit == Percent && f.result(b-a)
	}
	return f.Unit != Time && f.Unit != Percent && p.old.Unit != Percent && a != b && f.result(b-a)
}

func (p pair) sign() int8 {
	a, b := p.old.Values[0], p.new.Values[0]
	if a < 0 && b < 0 {
		a, b = -a, -b
	}
	return signOf(b > a, b < a)
}

var (
	fromWords = language.NewSet("from von vom de du desde van da")
	toWords   = language.NewSet("to auf à a hasta para naar tot")
	byWords   = language.NewSet("by um de del en met di em")
	toBetween = lazyregexp.New(`(?i)^\s*(?:in \d{4}\s+|en \d{4}\s+)?(?:to|auf|à|a|hasta|para|naar|tot)\s*$`)
	fromAfter = lazyregexp.New(`(?i)^\s*(?:in \d{4}\s+|en \d{4}\s+)?(?:from|von|van|desde)\s*$`)
	// oldAfter matches what stands between a figure and an earlier one: ", up 12 % from".
	oldAfter = lazyregexp.New(`(?i)^(?:[^.;:!?|\n]|\.\d){1,80}\s(?:from|compared (?:to|with)|against|gegenüber|nach|von|contre|frente a|desde|tegenover|van)\s(?:the\s)?$`)
)

// withoutOld returns figures of which those that something became another one from are no rise or fall.
func withoutOld(found []Figure, pairs []pair) {
	for i := range found {
		if slices.ContainsFunc(pairs, func(p pair) bool { return p.old.Start == found[i].Start }) {
			found[i].sense[change] = 0
		}
	}
}

// pairsIn returns what became what in a sentence: "from 310 to 290", "310 in 2022 and 290 in 2023".
func pairsIn(line string, found []Figure) (out []pair) {
	isValue := func(f Figure) bool { return len(f.Values) > 0 && !f.IsYear() }
	for i := 1; i < len(found); i++ {
		f, g := found[i-1], found[i]
		if !isValue(f) || !isValue(g) || f.End > g.Start {
			continue
		}
		switch before, between := wordBefore(line[:f.Start]), line[f.End:g.Start]; {
		case fromWords[before] && toBetween.MatchString(between):
			out = append(out, pair{old: f, new: g})
		case toWords[before] && fromAfter.MatchString(between):
			out = append(out, pair{old: g, new: f})
		}
	}
	for i, f := range found {
		for _, g := range found[i+1 : min(len(found), i+3)] {
			if between := line[f.End:max(f.End, g.Start)]; isValue(f) && isValue(g) && oldAfter.MatchString(between) && (f.Unit != Percent || g.Unit == Percent) {
				small := strings.ToLower(between)
				if said := signOf(senses[change][0].isIn(small) || phraseList{"up"}.isIn(small), senses[change][1].isIn(small) || phraseList{"down"}.isIn(small)); said != 0 {
					out = append(out, pair{g, f, said})
				}
			}
		}
	}
	if len(out) > 0 || len(found) < 4 {
		return out
	}
	for _, yearFirst := range []bool{false, true} {
		type dated struct {
			year float64
			Figure
		}
		var all []dated
		for i := 0; i+1 < len(found); i += 2 {
			value, year := found[i], found[i+1]
			if yearFirst {
				value, year = year, value
			}
			if !isValue(value) || !year.IsYear() {
				break
			}
			all = append(all, dated{year.Values[0], value})
		}
		if 2*len(all) != len(found) {
			continue
		}
		slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(a.year, b.year) })
		for i := 1; i < len(all); i++ {
			out = append(out, pair{old: all[i-1].Figure, new: all[i].Figure})
		}
		break
	}
	return out
}

// column is a column of a table with a year in its name, as a number that later days exceed.
type column struct{ cell, year int }

var fiscalYear = lazyregexp.New(`(?i)\bFY\s?'?(?:20)?(\d\d)\b`)

// columnsOf returns the columns of a row of a table that has years and no other figures; nil for any other line.
func columnsOf(line string, found []Figure) (out []column) {
	for _, f := range found {
		switch {
		case f.Day.Year > 0:
			out = append(out, column{cellAt(line, f.Start), 10_000*f.Day.Year + 100*f.Day.Month + f.Day.Date})
		case f.IsYear():
			out = append(out, column{cellAt(line, f.Start), 10_000 * int(f.Values[0])})
		default:
			return nil
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, m := range fiscalYear.FindAllStringSubmatchIndex(line, -1) {
		year, _ := strconv.Atoi(line[m[2]:m[3]]) // two digits
		out = append(out, column{cellAt(line, m[0]), 10_000 * (2000 + year)})
	}
	return out
}

func cellAt(line string, place int) int { return strings.Count(line[:place], "|") }

// cellOf returns the cell of a row of a table.
func cellOf(row string, cell int) string {
	if all := strings.Split(row, "|"); cell < len(all) {
		return all[cell]
	}
	return ""
}

// pairsOf returns what became what in a row whose columns have years: all of its values, or those in their cells.
func pairsOf(line string, values []Figure, columns []column) (out []pair) {
	if len(values) != len(columns) {
		all := values
		values = nil
		for _, c := range columns {
			i := slices.IndexFunc(all, func(f Figure) bool { return cellAt(line, f.Start) == c.cell })
			if i < 0 {
				return nil
			}
			values = append(values, all[i])
		}
	}
	for i := 1; i < len(values); i++ {
		switch a, b := values[i-1], values[i]; {
		case columns[i-1].year < columns[i].year:
			out = append(out, pair{old: a, new: b})
		case columns[i-1].year > columns[i].year:
			out = append(out, pair{old: b, new: a})
		}
	}
	return out
}

// contradictsItself reports whether a line of an answer calls it a rise that something became less, or a fall
// that it became more.
func contradictsItself(f Figure, pairs []pair) bool {
	return slices.ContainsFunc(pairs, func(p pair) bool {
		said := cmp.Or(p.said, f.sense[change])
		return said != 0 && p.new.Start == f.Start && p.new.Unit == p.old.Unit && p.sign() == -said
	})
}

// isReversed reports whether a figure became another one in the texts, of which the answer says that it became
// the figure.
func (k *knownFigures) isReversed(f Figure, pairs []pair) bool {
	has := func(old, new Figure) bool {
		return slices.ContainsFunc(k.lines, func(l lineOf) bool {
			return slices.ContainsFunc(l.pairs, func(p pair) bool {
				return sameUnit(old, p.old) && sameUnit(new, p.new) && k.equal(old, p.old) && k.equal(new, p.new)
			})
		})
	}
	return slices.ContainsFunc(pairs, func(p pair) bool {
		return p.new.Start == f.Start && has(p.new, p.old) && !has(p.old, p.new)
	})
}
