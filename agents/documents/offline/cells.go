package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
)

// cellQuestion is a question that asks for cells of a row, by the row's name and by columns.
type cellQuestion struct {
	tableQuestion
	t       *openTable
	r       reading
	rows    []namedRow // at least one, in the order of the question
	columns []int      // at least one, by their years; the first row has numbers in them
}

// cells reads a question that asks for cells of a row, by the row's name and by columns: the
// value, a change, an average, a ratio of two rows, or the column with the largest one.
func (q tableQuestion) cells(t *openTable) (reading, bool) {
	x := cellQuestion{tableQuestion: q, t: t, r: reading{table: t, used: map[int]bool{}}}
	ok := x.find() && x.answer()
	return x.r, ok
}

// find finds the rows and the columns.
func (q *cellQuestion) find() bool {
	q.rows = q.namedRows(q.t)
	if len(q.rows) == 0 || q.rows[0].unclear {
		return false
	}
	q.columns = q.namedColumns(q.t, &q.r, q.rows[0])
	if len(q.columns) == 1 && q.asks("average") { // the average of a year is that of its begin and its end
		year := yearOf(q.t.Columns[q.columns[0]].Name)
		before := slices.IndexFunc(q.t.Columns, func(c tables.Column) bool {
			return year > 0 && c.Kind == tables.Number && slices.Contains(yearsIn(c.Name), year-1)
		})
		if before >= 0 {
			q.columns = append(q.columns, before)
		}
	}
	q.columns = slices.DeleteFunc(q.columns, func(c int) bool { return !q.isNumber(0, c) })
	q.rows = slices.DeleteFunc(q.rows, func(n namedRow) bool { // "total" in "Total charges" is no row
		return len(q.rows) > 1 && slices.ContainsFunc(q.columns, func(c int) bool {
			named := q.column(q.t.Columns[c].Name, q.t.lang)
			return len(named) > len(n.words) && !slices.ContainsFunc(n.words, func(i int) bool { return !slices.Contains(named, i) })
		})
	})
	if len(q.columns) == 0 || len(q.rows) == 0 {
		return false
	}
	q.r.wide = len(q.columns) > 1 && q.r.sure == 0 && !slices.ContainsFunc(q.columns, func(c int) bool { return q.year(c) > 0 })
	if len(q.columns) > 1 && (q.compares() || q.asks("average") || q.asks("sum") || q.asks("max") || q.asks("min") || q.hasBound()) {
		if q.columns = q.alike(q.t, q.columns); q.columns == nil || q.lacksYear() {
			return false
		}
	}
	slices.SortStableFunc(q.columns, func(a, b int) int { return cmp.Compare(q.year(a), q.year(b)) })
	first := q.rows[0]
	q.r.use(append(first.words, first.section...)...)
	q.r.sure += 1 + len(first.words)
	q.r.rows, q.r.also = []int{first.row}, q.columns
	unnamed := !q.t.Columns[q.columns[0]].Named
	return !unnamed || len(q.years) == 0 && len(q.columns) == 1 // else of which year?
}

// answer writes the answer.
func (q *cellQuestion) answer() bool {
	last := len(q.columns) - 1
	from, to := q.columns[0], q.columns[last]
	switch {
	case q.compares() && (q.asks("average") || len(q.rows) > 2): // of several rows together
		return false
	case q.asks("ratio") && q.second() && q.value(1, to) != 0:
		q.ratio(to)
	case q.asks("change") && q.second() && last == 0:
		q.difference(to)
	case q.asks("change") && !q.second() && q.year(from) > 0 && q.year(from) < q.year(to):
		q.change(from, to)
	case q.compares():
		return false
	case q.hasBound():
		return q.within()
	case q.asks("average") && last > 0:
		q.total("average", messages.AverageOver)
	case q.asks("sum") && last > 0:
		q.total("sum", messages.TotalOver)
	case q.says("max") && last > 0 && (q.says("period") || q.says("list")) && q.year(from) > 0:
		q.extreme("max", 1, messages.HighestIn)
	case q.says("min") && last > 0 && (q.says("period") || q.says("list")) && q.year(from) > 0:
		q.extreme("min", -1, messages.LowestIn)
	case q.asks("count") && last > 0, q.asks("max"), q.asks("min"), q.asks("average"):
		return false
	case slices.ContainsFunc(q.in(q.said["ratio"]), func(i int) bool { return !q.r.used[i] }): // "per share" is in a name
		return false
	default:
		if q.rows[0].all(q.tableQuestion, "sum") {
			q.r.use(q.in(q.said["sum"])...)
		}
		q.r.use(q.in(q.said["count"])...) // "the number of shares in 2019" is a value
		q.say(messages.ValuesIn, messages.Params{"values": q.values()})
	}
	return true
}

// asks reports whether the question has an entry of a list in other words than those of the row's name.
func (q *cellQuestion) asks(list string) bool {
	return slices.ContainsFunc(q.in(q.said[list]), func(i int) bool { return !slices.Contains(q.rows[0].words, i) })
}

// second reports whether the question names a second row, which has numbers in all of the columns.
func (q *cellQuestion) second() bool {
	return len(q.rows) > 1 && !slices.ContainsFunc(q.columns, func(c int) bool { return !q.isNumber(1, c) })
}

func (q *cellQuestion) compares() bool { return q.asks("change") || q.asks("ratio") && q.second() }

func (q *cellQuestion) cell(row, c int) tables.Cell { return q.t.Rows[q.rows[row].row].Cells[c] }
func (q *cellQuestion) isNumber(row, c int) bool    { return q.cell(row, c).IsNumber }
func (q *cellQuestion) value(row, c int) float64    { return q.cell(row, c).Number }
func (q *cellQuestion) year(c int) int              { return yearOf(q.t.Columns[c].Name) }
func (q *cellQuestion) header(c int) string         { return excerpt.PlainTitle(q.t.Columns[c].Name) }
func (q *cellQuestion) label(row int) string        { return excerpt.PlainTitle(q.t.label(q.rows[row].row)) }

// shown is a value of the first row with its unit.
func (q *cellQuestion) shown(c int) string {
	plain := plainNumber(q.value(0, c), decimalsIn(q.cell(0, c))) // rows may have other decimals
	if column := q.t.Columns[c]; column.Unit == figures.Percent && !strings.Contains(q.cell(0, c).Text+column.Name, "%") {
		return plain // other cells are percentages
	}
	return q.t.withUnit(plain, c)
}

// values are the cells of the first row in the order of the table.
func (q *cellQuestion) values() string {
	var said []string
	for _, c := range slices.Sorted(slices.Values(q.columns)) {
		said = append(said, "**"+q.shown(c)+"** ("+q.header(c)+")")
	}
	return strings.Join(said, ", ")
}

func (q *cellQuestion) say(m messages.Message, params messages.Params) {
	if params["name"] == nil {
		params["name"] = q.label(0)
	}
	params["table"] = q.t.name()
	q.r.text = q.voice.say(m, params)
}

// both shows the second row, too.
func (q *cellQuestion) both(lists ...string) {
	for _, list := range lists {
		q.r.use(q.in(q.said[list])...)
	}
	q.r.use(q.rows[1].words...)
	q.r.rows = append(q.r.rows, q.rows[1].row)
	q.r.sure++
}

func (q *cellQuestion) ratio(c int) {
	q.both("ratio", "percent")
	share := q.value(0, c) / q.value(1, c)
	q.say(messages.RatioIs, messages.Params{"share": plainNumber(share, 2), "percent": plainNumber(100*share, 2), "other": q.label(1), "column": q.header(c)})
}

// difference says how much two rows differ: by how much the later one, if they are years.
func (q *cellQuestion) difference(c int) {
	q.both("change", "percent")
	from, to := 1, 0
	if yearOf(q.label(from)) > yearOf(q.label(to)) { // "from 2020 to 2021"
		from, to = to, from
	}
	d := q.value(to, c) - q.value(from, c)
	change := q.t.withUnit(plainNumber(d, max(decimalsIn(q.cell(from, c)), decimalsIn(q.cell(to, c)))), c)
	if before := q.value(from, c); before != 0 && q.asks("percent") {
		change += " (" + plainNumber(100*d/math.Abs(before), 2) + " %)"
	}
	q.say(messages.DifferenceIs, messages.Params{"name": q.label(to), "other": q.label(from), "value": change, "column": q.header(c)})
}

// change says how much the row changed from one column to another. In percent, that means nothing where a loss became a profit.
func (q *cellQuestion) change(from, to int) {
	q.r.use(q.in(append(q.said["change"], q.said["percent"]...))...)
	before, after := q.value(0, from), q.value(0, to)
	change := "**" + q.t.withUnit(plainNumber(after-before, max(decimalsIn(q.cell(0, from)), decimalsIn(q.cell(0, to)))), to) + "**"
	if before*after > 0 || before != 0 && q.asks("percent") {
		change += " (**" + plainNumber(100*(after-before)/math.Abs(before), 2) + " %**)"
	}
	q.say(messages.ChangedBy, messages.Params{"change": change, "before": q.shown(from), "from": q.header(from), "after": q.shown(to), "to": q.header(to)})
}

// within names the columns whose cells keep the bounds of the question.
func (q *cellQuestion) within() bool {
	q.columns = slices.DeleteFunc(q.columns, func(c int) bool { return !q.isWithin(q.t, q.rows[0].row, c, &q.r) })
	q.say(messages.ValuesIn, messages.Params{"values": q.values()})
	return len(q.columns) > 0
}

// total adds the columns up, or takes their average.
func (q *cellQuestion) total(list string, over messages.Message) {
	q.r.use(q.in(q.said[list])...)
	sum := 0.0
	var names []string
	for _, c := range slices.Sorted(slices.Values(q.columns)) {
		sum += q.value(0, c)
		names = append(names, q.header(c))
	}
	decimals := decimalsOf(math.Round(sum*1e6) / 1e6)
	if list == "average" {
		sum, decimals = sum/float64(len(q.columns)), 2
	}
	q.say(over, messages.Params{"columns": messages.Joined(string(q.voice), names), "value": q.t.withUnit(plainNumber(sum, decimals), q.columns[0])})
}

// extreme says in which column the row has its highest or lowest value.
func (q *cellQuestion) extreme(list string, sign float64, most messages.Message) {
	q.r.use(q.in(q.said[list])...)
	c := slices.MaxFunc(q.columns, func(a, b int) int { return cmp.Compare(sign*q.value(0, a), sign*q.value(0, b)) })
	q.say(most, messages.Params{"column": q.header(c), "value": q.shown(c), "n": len(q.columns)})
}

// lacksYear reports whether the question names a year of which the row has no value.
func (q *cellQuestion) lacksYear() bool {
	for c, col := range q.t.Columns {
		for _, y := range yearsIn(col.Name) {
			in := func(c int) bool { return slices.Contains(yearsIn(q.t.Columns[c].Name), y) }
			if slices.Contains(q.years, y) && !q.isNumber(0, c) && !slices.ContainsFunc(q.columns, in) {
				return true
			}
		}
	}
	return false
}

// hasBound reports whether the question compares something with an amount: "less than 100 million".
func (q *cellQuestion) hasBound() bool {
	return slices.ContainsFunc(q.limits(q.t), func(l limit) bool { return l.Unit != figures.Time })
}

// bound returns a figure of the question as a column would have it: in its unit, and "100 million" in its scale.
func (t openTable) bound(f figures.Figure, c int) float64 {
	v := f.In(t.Columns[c].Name)
	if f.Scale != 1 {
		v /= cmp.Or(figures.ScaleIn(t.Columns[c].Name), figures.ScaleIn(t.Columns[0].Name), figures.ScaleIn(t.Caption), figures.ScaleIn(t.Heading), 1)
	}
	return v
}

// isWithin reports whether a cell keeps the bounds of the question: "less than 100 million".
func (q tableQuestion) isWithin(t *openTable, row, c int, r *reading) bool {
	v := t.Rows[row].Cells[c].Number
	bounds := 0
	for _, l := range q.limits(t) {
		if l.Unit == figures.Time {
			continue
		}
		if !l.holds(v, t.bound(l.Figure, c)) {
			return false
		}
		bounds++
		r.use(q.in(append(q.said["compares"], l.words...))...)
	}
	return bounds > 0
}

// alike returns those of columns that can be set against each other: whose names differ by their date only. Of
// several kinds, these are the ones that the question names, else those that are no percentages; nil if that is not
// clear.
func (q tableQuestion) alike(t *openTable, columns []int) []int {
	dated := slices.DeleteFunc(slices.Clone(columns), func(c int) bool { return len(yearsIn(t.Columns[c].Name)) != 1 })
	if len(dated) > 1 {
		columns = dated
	}
	kinds := map[string][]int{}
	for _, c := range columns {
		name := inBrackets.ReplaceAllString(strings.ToLower(strings.ReplaceAll(t.Columns[c].Name, "%", " percent ")), " ")
		words := slices.DeleteFunc(language.Words(name), func(w string) bool { return hasDigit(w) || figures.Month(w) > 0 })
		kind := strings.Join(words, " ")
		kinds[kind] = append(kinds[kind], c)
	}
	if rest := kinds[""]; len(kinds) == 2 && rest != nil { // "Year ended 2024" beside "2023"
		delete(kinds, "")
		for kind, of := range kinds {
			kinds[kind] = append(of, rest...)
		}
	}
	var best []int
	score, clear := -1, false
	for _, of := range kinds {
		column := t.Columns[of[0]]
		n := len(uniqueOf(q.column(column.Name, t.lang)))
		if (column.Unit == figures.Percent || strings.Contains(column.Name, "%")) == (q.says("percent") && !q.says("change")) {
			n += len(q.words)
		}
		if n >= score {
			best, score, clear = of, n, n > score
		}
	}
	if !clear {
		return nil
	}
	return best
}

func yearOf(name string) int {
	if y := yearsIn(name); len(y) > 0 {
		return y[0]
	}
	return 0
}

// namedRow is a row whose name the question has.
type namedRow struct {
	row     int
	words   []int
	section []int // words of its section
	beside  int   // what brackets in its name say: 1 if the question has it, -1 if it does not
	unclear bool  // another row has as much of the question
}

// all reports whether the words of the row's name are those of a list in the question: "total" in
// "total assets" is no sum.
func (n namedRow) all(q tableQuestion, list string) bool {
	return slices.ContainsFunc(q.in(q.said[list]), func(i int) bool { return slices.Contains(n.words, i) })
}

// namedRows returns the rows that have numbers and whose names are in the question, in the order
// of the question; of names that share words, the longest.
func (q tableQuestion) namedRows(t *openTable) []namedRow {
	var found []namedRow
	for i, row := range t.Rows {
		if !slices.ContainsFunc(row.Cells, func(c tables.Cell) bool { return c.IsNumber }) {
			continue
		}
		label := t.label(i)
		if t.repeats(label, row.Section) {
			continue
		}
		if words := q.match(inBrackets.ReplaceAllString(label, " "), t.lang); words != nil && (q.says("other") || !anyIs("other", label)) {
			n := namedRow{row: i, words: uniqueOf(words), section: uniqueOf(q.some(row.Section, t.lang))}
			for _, note := range inBrackets.FindAllString(label, -1) {
				switch {
				case len(q.some(note, t.lang)) > 0:
					for _, w := range language.Words(note) {
						if i := q.index(w, t.lang); i >= 0 {
							n.words = uniqueOf(append(n.words, i))
						}
					}
					n.beside = 1
				case strings.ContainsFunc(note, unicode.IsLetter) && n.beside == 0:
					n.beside = -1
				}
			}
			n.words = q.together(n.words)
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b namedRow) int {
		return cmp.Or(len(b.words)-len(a.words), len(b.section)-len(a.section), b.beside-a.beside)
	})
	var out []namedRow
	taken := map[int]bool{}
	for i, n := range found {
		n.unclear = slices.ContainsFunc(found[i+1:], func(o namedRow) bool {
			return slices.Equal(o.words, n.words) && len(o.section) == len(n.section) && o.beside == n.beside
		})
		if !slices.ContainsFunc(n.words, func(w int) bool { return taken[w] }) {
			out = append(out, n)
			for _, w := range n.words {
				taken[w] = true
			}
		}
	}
	// A word may stand in the names of both, at its first place.
	slices.SortStableFunc(out, func(a, b namedRow) int { return slices.Max(a.words) - slices.Max(b.words) })
	return out
}

// together returns words of the question at those of their places that are the nearest to the others: in "total wages
// and pilots' wages", each row has its own "wages".
func (q tableQuestion) together(words []int) []int {
	once := slices.IndexFunc(words, func(i int) bool {
		return !q.words[i].filler && !slices.ContainsFunc(q.words, func(x word) bool { return x.text == q.words[i].text && x.at != q.words[i].at })
	})
	if once < 0 {
		return words
	}
	anchor := words[once]
	for k := range words {
		for i := range q.words {
			if q.words[i].text == q.words[words[k]].text && max(i-anchor, anchor-i) < max(words[k]-anchor, anchor-words[k]) {
				words[k] = i
			}
		}
	}
	return words
}

// repeats reports whether several rows of a section have one name: then it says what kind they are of.
func (t openTable) repeats(label, section string) bool {
	n := 0
	for i, row := range t.Rows {
		if row.Section == section && t.label(i) == label {
			n++
		}
	}
	return n > 1
}

// uniqueOf returns a list without duplicates, in its order.
func uniqueOf(list []int) (out []int) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// namedColumns returns the columns of numbers that the question names by year or by name; all of
// them if it names none. A year that no column has, nor the name of the row, is another one.
func (q tableQuestion) namedColumns(t *openTable, r *reading, row namedRow) []int {
	q.years = slices.DeleteFunc(slices.Clone(q.years), func(y int) bool {
		return slices.ContainsFunc(row.words, func(i int) bool { return yearOf(q.words[i].text) == y })
	})
	best := 0
	scores := make([]int, len(t.Columns))
	used := make([][]int, len(t.Columns))
	for c, col := range t.Columns {
		if col.Kind != tables.Number || c == 0 && col.IsYears() {
			continue
		}
		scores[c] = 1
		for _, y := range yearsIn(col.Name) {
			if slices.Contains(q.years, y) {
				scores[c] += 10
			}
		}
		used[c] = q.column(col.Name, t.lang)
		scores[c] += len(uniqueOf(used[c]))
		best = max(best, scores[c])
	}
	asked := func(d figures.Day) bool { // quarters end in several months
		return slices.ContainsFunc(q.days, func(of figures.Day) bool { return of.Month == d.Month })
	}
	var other []int // columns that end in months for which the question does not ask
	for c, col := range t.Columns {
		if days := figures.Days(col.Name); len(days) > 0 && scores[c] > 10 && !slices.ContainsFunc(days, asked) {
			other = append(other, c)
		}
	}
	if len(q.days) > 0 && slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return slices.ContainsFunc(figures.Days(c.Name), asked) }) {
		for _, c := range other {
			scores[c] = 0
		}
	}
	dated := slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return len(yearsIn(c.Name)) > 0 })
	if len(q.years) > 0 && dated && best < 10 {
		return nil
	}
	around := yearsIn(t.Heading + " " + t.Caption + " " + t.title)
	for _, y := range q.years {
		in := slices.Contains(around, y) || slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return slices.Contains(yearsIn(c.Name), y) })
		if !in && (dated || !t.Columns[len(t.Columns)-1].Named) {
			return nil
		}
	}
	var out []int
	for c, s := range scores {
		if s > 0 && (s == best || best > 10 && len(q.years) > 1 && s > 10) {
			out = append(out, c)
			if len(yearsIn(t.Columns[c].Name)) > 1 && len(q.years) > 0 { // "change 2018 to 2019"
				out = out[:len(out)-1]
				continue
			}
			if s > 1 {
				r.sure++
				r.use(used[c]...)
				for i, w := range q.words {
					if y := yearOf(w.text); y > 0 && slices.Contains(yearsIn(t.Columns[c].Name), y) {
						r.use(i)
					}
				}
			}
		}
	}
	return out
}
