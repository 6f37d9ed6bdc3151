package offline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
)

// condition is what the rows of an answer have in common.
type condition struct {
	says  string
	holds func(tables.Row) bool
	// key: it names one row by a column whose values all differ.
	key bool
}

// records reads a question about the rows of a table: which fulfil a condition, how many they
// are, a total, an average, and the highest or the lowest of them.
func (q tableQuestion) records(t *openTable) (reading, bool) {
	r := reading{table: t, used: map[int]bool{}, records: true}
	q.said = maps.Clone(q.said)
	conditions := q.conditions(t, &r)
	for _, col := range t.Columns { // a word that names a column says what the rows are
		if used := q.column(col.Name, t.lang); len(used) > 0 {
			r.use(used...)
			r.sure++
		}
	}
	var rows []int
	looked := 0
	for i, row := range t.Rows {
		if row.Total {
			continue
		}
		looked++
		if !slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(row) }) {
			rows = append(rows, i)
		}
	}
	for _, i := range append(q.in(q.said["thing"]), q.in(q.said["being"])...) {
		if !q.words[i].filler {
			r.use(i)
		}
	}
	c, compared := q.dimension(t, &r)
	if !compared {
		c = q.measure(t, &r)
	}
	of := q.voice.say(messages.RowsOf, messages.Params{"n": looked, "table": t.name()})
	whole := of
	if len(conditions) > 0 {
		var said []string
		for _, x := range conditions {
			said = append(said, x.says)
		}
		whole += " (" + strings.Join(said, "; ") + ")"
		of = q.voice.say(messages.SomeOf, messages.Params{"n": len(rows), "of": whole})
	}
	r.rows = rows
	if c >= 0 {
		r.also = []int{c}
	}
	periods := slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Kind == tables.Number && len(yearsIn(c.Name)) > 0 })
	switch list := q.operation(); {
	case periods && len(conditions) > 0 && (list == "" && !q.says("above") && !q.says("below") || list == "sum" || list == "average"): // a statement, whose rows are no records
		return r, false
	case periods && (list == "sum" || list == "average") && c >= 0 && !t.areAlike(rows, c):
		return r, false
	case (list != "" || q.says("percent")) && slices.ContainsFunc(conditions, func(c condition) bool { return c.key }):
		return r, false // nothing is counted or compared within one row
	case q.says("change"), q.says("ratio"):
		return r, false
	case q.says("percent") && (list == "" || list == "count") && len(conditions) > 0 && len(rows) > 0:
		r.use(q.in(slices.Concat(q.said["percent"], q.said["count"], q.said["amount asked"]))...)
		r.text = q.voice.say(messages.ShareMatches, messages.Params{"percent": plainNumber(100*float64(len(rows))/float64(looked), 1), "of": of})
		return r, true
	case list == "count" && slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return anyIs("count", c.Name) && len(q.column(c.Name, t.lang)) > 1 }):
		return r, false // the number of shares is a value
	case list == "count":
		r.use(q.in(q.said[list])...)
		return r, q.count(&r, rows, c, of)
	case list == "" && q.says("amount asked") && c >= 0 && len(conditions) == 0 && !slices.ContainsFunc(q.column(t.Columns[c].Name, t.lang), func(i int) bool { return !hasDigit(q.words[i].text) }):
		return r, false // a year says of when, not of what
	case list == "average" || list == "sum" || list == "" && q.says("amount asked") && c >= 0:
		r.use(q.in(q.said[cmp.Or(list, "amount asked")])...)
		if c < 0 || t.Columns[c].Kind != tables.Number {
			return r, false
		}
		return r, q.add(&r, list, rows, c, of)
	case list != "":
		r.use(q.in(q.said[list])...)
		if c < 0 {
			return r, false
		}
		return r, q.extreme(&r, list, rows, c, of)
	case len(conditions) > 0 && q.says("amount asked") && t.numbers() > 1: // of which column?
		return r, false
	case len(conditions) > 0:
		if len(rows) == 0 && slices.ContainsFunc(conditions, func(c condition) bool { return c.key }) {
			return r, false // the row that is named is not in it, or it is no condition
		}
		if len(rows) == 0 {
			r.text = q.voice.say(messages.NoRow, messages.Params{"of": whole})
		} else {
			r.text = upperFirst(of) + ":"
		}
		return r, q.says("list") || q.says("lookup") || len(rows) > 0 && len(rows) <= maxRows
	}
	return r, false
}

// areAlike reports whether the cells of a column may be of one kind: a statement has totals, or amounts beside ratios.
func (t openTable) areAlike(rows []int, c int) bool {
	cents := map[bool]bool{}
	for _, i := range rows {
		if cell := t.Rows[i].Cells[c]; cell.IsNumber {
			cents[decimalsOf(cell.Number) > 0] = true
		}
	}
	return len(cents) < 2 && !slices.ContainsFunc(t.Rows, func(row tables.Row) bool { return row.Total || row.Section != "" })
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// operation returns the list of what a question asks of rows; "" if it asks for the rows.
func (q tableQuestion) operation() string {
	for _, list := range operations {
		if q.says(list) {
			return list
		}
	}
	return ""
}

// count says how many rows there are. Of a column that the question counts, its values count; of a
// quantity, also its sum.
func (q tableQuestion) count(r *reading, rows []int, c int, of string) bool {
	t := r.table
	what := q.voice.say(messages.CountedRows, messages.Params{"n": len(rows)})
	for k, col := range t.Columns {
		used := q.afterCount(col.Name, t.lang)
		if col.Kind != tables.Text || len(used) == 0 {
			continue
		}
		values := language.Set{}
		for _, i := range rows {
			if v := t.Rows[i].Cells[k].Text; v != "" {
				values[strings.ToLower(v)] = true
			}
		}
		r.use(used...)
		r.sure++
		if len(values) > 1 && len(values) < len(rows) || q.says("different") {
			what = q.voice.say(messages.Different, messages.Params{"n": len(values), "column": excerpt.PlainTitle(col.Name), "rows": what})
		}
		break
	}
	matches := messages.RowsMatch
	if len(rows) == 1 {
		matches = messages.RowMatches
	}
	r.text = q.voice.say(matches, messages.Params{"what": "**" + strings.Replace(what, " ", "** ", 1), "of": of})
	// "How many parts": perhaps their pieces.
	if c < 0 || !anyIs("quantity column", t.Columns[c].Name) {
		c = slices.IndexFunc(t.Columns, func(c tables.Column) bool { return c.Kind == tables.Number && anyIs("quantity column", c.Name) })
	}
	if c >= 0 && t.Columns[c].Kind == tables.Number && len(rows) > 0 {
		sum, _ := t.sum(rows, c)
		r.also = []int{c}
		r.text += " " + q.voice.say(messages.SumOfTheir, messages.Params{"column": excerpt.PlainTitle(t.Columns[c].Name), "value": t.withUnit(t.number(sum, c), c)})
	}
	return true
}

// afterCount returns the words of a column's name that follow the words that ask for a count.
func (q tableQuestion) afterCount(name, lang string) (used []int) {
	for _, i := range q.some(name, lang) {
		if slices.Contains(q.counted(), i) && !is("quantity column", q.words[i].text) {
			return []int{i}
		}
	}
	return nil
}

// counted returns the first words behind those that ask for a count: "smokers", and "electric cars".
func (q tableQuestion) counted() (out []int) {
	for _, s := range q.said["count"] {
		for i, w := range q.words {
			if w.at < s.end || w.filler && len(out) == 0 {
				continue
			}
			if w.filler || len(out) == 2 {
				break
			}
			out = append(out, i)
		}
	}
	return out
}

func (t openTable) sum(rows []int, c int) (sum float64, n int) {
	for _, i := range rows {
		if cell := t.Rows[i].Cells[c]; cell.IsNumber {
			sum += cell.Number
			n++
		}
	}
	return math.Round(sum*1e8) / 1e8, n
}

func (q tableQuestion) add(r *reading, list string, rows []int, c int, of string) bool {
	t := r.table
	sum, n := t.sum(rows, c)
	name := excerpt.PlainTitle(t.Columns[c].Name)
	if n == 0 {
		return false
	}
	if list != "average" {
		r.text = q.voice.say(messages.TotalOf, messages.Params{"column": name, "value": t.withUnit(t.number(sum, c), c), "of": of})
		return true
	}
	r.text = q.voice.say(messages.AverageOf, messages.Params{"column": name, "value": t.withUnit(plainNumber(sum/float64(n), 2), c), "of": of})
	return true
}

// extreme answers with the rows that have the highest or the lowest value.
func (q tableQuestion) extreme(r *reading, list string, rows []int, c int, of string) bool {
	t := r.table
	high := list == "max" || list == "last day"
	compare := func(a, b int) int {
		x, y := t.Rows[a].Cells[c], t.Rows[b].Cells[c]
		if t.Columns[c].Kind == tables.Date {
			switch {
			case x.Day.Before(y.Day):
				return -1
			case y.Day.Before(x.Day):
				return 1
			}
			return 0
		}
		return cmp.Compare(x.Number, y.Number)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		cell := t.Rows[i].Cells[c]
		return !cell.IsNumber && cell.Day.IsZero()
	})
	if len(rows) == 0 {
		return false
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		if high {
			return compare(b, a)
		}
		return compare(a, b)
	})
	n := 1
	if wanted, at := q.howMany(); wanted > 1 {
		n = min(wanted, len(rows))
		r.use(at)
	}
	for n < len(rows) && compare(rows[n], rows[n-1]) == 0 { // equal ones
		n++
	}
	r.rows = rows[:n]
	label := q.labelColumn(t)
	if label >= 0 {
		r.also = append(r.also, label)
	}
	most := map[string]messages.Message{"max": messages.HighestIs, "min": messages.LowestIs, "last day": messages.LatestIs, "first day": messages.EarliestIs}[list]
	value := "**" + escapeCell(t.Rows[rows[0]].Cells[c].Text) + "**"
	if label >= 0 && t.Rows[rows[0]].Cells[label].Text != "" && label != c {
		value += " (**" + excerpt.PlainTitle(t.Rows[rows[0]].Cells[label].Text) + "**)"
	}
	r.text = q.voice.say(most, messages.Params{"column": excerpt.PlainTitle(t.Columns[c].Name), "value": value, "of": of})
	return true
}

// labelColumn returns the column that says which record a row is; -1 without a column of texts: one
// that the question names, else the first with many different values, else the one with the most.
func (q tableQuestion) labelColumn(t *openTable) int {
	best, score := -1, 0
	for c, col := range t.Columns {
		if col.Kind != tables.Text {
			continue
		}
		s := t.distinct(c)
		switch {
		case len(q.column(col.Name, t.lang)) > 0:
			return c
		case 4*s >= 3*len(t.Rows):
			s = len(t.Rows)
		}
		if s > score {
			best, score = c, s
		}
	}
	return best
}

func escapeCell(s string) string { return excerpt.PlainTitle(s) }

// howMany returns the number in "the three largest", and which word it is; 0 if there is none.
func (q tableQuestion) howMany() (n, at int) {
	for i, w := range q.words {
		if n = figures.Count(w.text); n == 0 && len(q.said["above"])+len(q.said["below"]) == 0 {
			n, _ = strconv.Atoi(w.text)
		}
		if n > 1 && n <= maxRows {
			return n, i
		}
	}
	return 0, 0
}

// measure returns the column whose values are added up or compared; -1 if it is not known. A
// question that names none means the only one, that of a quantity, or that of an amount.
func (q tableQuestion) measure(t *openTable, r *reading) int {
	op := q.operation()
	best, score, tied := -1, 0, false
	var used []int
	for c, col := range t.Columns {
		if col.Kind == tables.Text {
			continue
		}
		days := op == "last day" || op == "first day"
		if days != (col.Kind == tables.Date) && !(days && col.IsYears()) {
			continue
		}
		names := q.column(col.Name, t.lang)
		if days {
			names = q.some(col.Name, t.lang)
		}
		s := 4 * len(uniqueOf(slices.DeleteFunc(slices.Clone(names), func(i int) bool { return slices.Contains(q.in(q.said["sum"]), i) })))
		if words := language.Words(col.Name); strings.Contains(" "+q.text, " "+strings.Join(words, " ")) { // the whole name
			s += 2 * len(words)
		}
		for _, y := range yearsIn(col.Name) {
			if slices.Contains(q.years, y) {
				s += 8
				for i, w := range q.words {
					if yearOf(w.text) == y {
						names = append(names, i)
					}
				}
			}
		}
		for _, list := range []string{"quantity column", "amount column", "due column"} {
			if in := q.in(q.said[list]); len(in) > 0 && anyIs(list, col.Name) {
				s += 2
				names = append(names, in...)
			}
		}
		if s > 0 && anyIs("identifier column", col.Name) && !q.says("max") && !q.says("min") && !days {
			s = 0
		}
		switch {
		case s > score:
			best, score, used, tied = c, s, names, false
		case s == score && s > 0:
			tied = true
		}
	}
	if tied { // it is not clear which one
		return -1
	}
	if best >= 0 {
		r.use(used...)
		r.sure++
		return best
	}
	if op == "" || op == "count" {
		return -1
	}
	var candidates []int
	for c, col := range t.Columns {
		wanted := tables.Number
		if op == "last day" || op == "first day" {
			wanted = tables.Date
		}
		if col.Kind == wanted && !anyIs("identifier column", col.Name) {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 1 {
		return candidates[0]
	}
	prefer := []string{"amount column", "quantity column"}
	if !q.says("price word") && (op == "max" || op == "min") && len(candidates) > 1 {
		return -1
	}
	for _, list := range prefer {
		var of []int
		for _, c := range candidates {
			if anyIs(list, t.Columns[c].Name) {
				of = append(of, c)
			}
		}
		if len(of) == 1 {
			return of[0]
		}
	}
	return -1
}

// dimensions are what adjectives compare: each has its lists in tables.txt.
var dimensions = []string{"mass", "length", "height", "age", "speed", "depth", "width", "heat"}

// ComparesRows reports whether a question counts, adds up or compares.
func ComparesRows(question string) bool {
	text := strings.ToLower(question)
	for _, list := range operations {
		if len(find(list, text)) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(dimensions, func(d string) bool { return len(find(d+" most", text))+len(find(d+" least", text)) > 0 })
}

// dimension reads "the heaviest": the column of numbers that has the weight, and whether its most or
// its least is asked for. The column is -1 if none is known to have it, or several: another column never
// answers. ok is false if no adjective asks for a dimension, or if one of age may mean a day.
func (q tableQuestion) dimension(t *openTable, r *reading) (column int, ok bool) {
	for _, d := range dimensions {
		most, least := q.said[d+" most"], q.said[d+" least"]
		if len(most)+len(least) == 0 {
			continue
		}
		var found []int
		for c, col := range t.Columns {
			if col.Kind == tables.Number && anyIs(d+" column", col.Name) {
				found = append(found, c)
			}
		}
		named := func(c int) int { return len(uniqueOf(q.column(t.Columns[c].Name, t.lang))) }
		if len(found) > 1 { // those of which the question names the most
			most := named(slices.MaxFunc(found, func(a, b int) int { return cmp.Compare(named(a), named(b)) }))
			found = slices.DeleteFunc(found, func(c int) bool { return named(c) < most })
		}
		unnamed := len(found) > 0 && named(found[0]) == 0
		others := slices.ContainsFunc(t.Columns, func(c tables.Column) bool {
			return (c.Kind != tables.Text || d == "age") && len(q.column(c.Name, t.lang)) > 0
		})
		if len(found) == 0 && d == "age" { // the oldest of a day
			return 0, false
		}
		if (len(found) == 0 || unnamed && d != "age") && others { // "the longest sleep" of a column "sleep"
			q.said["max"], q.said["min"] = slices.Concat(q.said["max"], most), slices.Concat(q.said["min"], least)
			return 0, false
		}
		for _, list := range operations {
			q.said[list] = nil
		}
		q.said["max"], q.said["min"] = most, least
		if len(found) != 1 || len(most) > 0 && len(least) > 0 {
			return -1, true
		}
		r.use(q.in(slices.Concat(most, least))...)
		r.sure++
		return found[0], true
	}
	return 0, false
}

// anyIs reports whether a word of a name is an entry of a list.
func anyIs(list, name string) bool { return len(find(list, strings.ToLower(name))) > 0 }

// conditions returns what the question says about the rows.
func (q tableQuestion) conditions(t *openTable, r *reading) []condition {
	var out []condition
	add := func(says string, holds func(tables.Row) bool, used ...int) {
		out = append(out, condition{says: says, holds: holds})
		r.use(used...)
		r.sure++
	}
	q.states(t, r, add)
	q.marks(t, add)
	q.ranges(t, add)
	q.bounds(t, add)
	q.dates(t, add)
	q.against(t, add)
	before := len(out)
	keys := q.values(t, r, add)
	for i := range keys {
		out[before+i].key = keys[i]
	}
	return out
}

type addCondition func(says string, holds func(tables.Row) bool, used ...int)

// states reads open, paid and overdue.
func (q tableQuestion) states(t *openTable, r *reading, add addCondition) {
	for _, state := range []string{"overdue", "open", "paid"} {
		if !q.says(state) {
			continue
		}
		used := q.in(q.said[state])
		if not := q.endsAt("not", q.said[state][0].start); not.end > 0 { // not paid, not open
			used = append(used, q.in([]span{not})...)
			if state == "overdue" {
				return
			}
			state = map[string]string{"open": "paid", "paid": "open"}[state]
		}
		if c, values := t.withValue(state); c >= 0 {
			add(excerpt.PlainTitle(t.Columns[c].Name)+": "+strings.Join(values, ", "), func(row tables.Row) bool { return is(state, row.Cells[c].Text) }, used...)
			return
		}
		paid := -1 // a column that says whether or when
		for c, col := range t.Columns {
			if anyIs("paid", col.Name) {
				paid = c
			}
		}
		isPaid := func(row tables.Row) bool {
			return paid >= 0 && row.Cells[paid].Text != "" && !is("no", row.Cells[paid].Text) && row.Cells[paid].Text != "-"
		}
		status, _ := t.withValue("paid")
		closed, _ := t.withValue("closed")
		settled := func(row tables.Row) bool {
			return isPaid(row) || status >= 0 && is("paid", row.Cells[status].Text) || closed >= 0 && is("closed", row.Cells[closed].Text)
		}
		switch due := t.dueColumn(); {
		case state == "overdue" && due >= 0 && !q.now.IsZero():
			today := figures.Day{Year: q.now.Year(), Month: int(q.now.Month()), Date: q.now.Day()}
			says := excerpt.PlainTitle(t.Columns[due].Name) + " " + q.voice.say(messages.Before, messages.Params{"day": today})
			if paid >= 0 || status >= 0 {
				says += ", " + q.voice.say(messages.NotPaid, nil)
			}
			add(says, func(row tables.Row) bool {
				return !row.Cells[due].Day.IsZero() && row.Cells[due].Day.Before(today) && !settled(row)
			}, used...)
		case state == "open" && (paid >= 0 || status >= 0):
			add(q.voice.say(messages.NotPaid, nil), func(row tables.Row) bool { return !settled(row) }, used...)
		case state == "paid" && paid >= 0:
			add(q.voice.say(messages.Paid, nil), isPaid, used...)
		}
		return
	}
}

// marks reads "how many smokers": those whose column says yes, if it says yes or no.
func (q tableQuestion) marks(t *openTable, add addCondition) {
	for c, col := range t.Columns {
		used := q.afterCount(col.Name, t.lang)
		if len(used) == 0 || col.Kind != tables.Text || anyIs("paid", col.Name) || slices.ContainsFunc(t.Rows, func(row tables.Row) bool {
			v := row.Cells[c].Text
			return v != "" && !is("yes", v) && !is("no", v)
		}) {
			continue
		}
		add(excerpt.PlainTitle(col.Name)+": "+q.voice.say(messages.Yes, nil), func(row tables.Row) bool { return is("yes", row.Cells[c].Text) }, used...)
	}
}

// withValue returns a column of texts with values that are entries of a list; -1 if there is none.
func (t openTable) withValue(list string) (int, []string) {
	for c, col := range t.Columns {
		var values []string
		if col.Kind != tables.Text {
			continue
		}
		for _, row := range t.Rows {
			if v := row.Cells[c].Text; len(v) < 30 && is(list, v) && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			return c, values
		}
	}
	return -1, nil
}

// numbers counts the columns of numbers.
func (t openTable) numbers() (n int) {
	for _, c := range t.Columns {
		if c.Kind == tables.Number {
			n++
		}
	}
	return n
}

func (t openTable) dueColumn() int {
	return slices.IndexFunc(t.Columns, func(c tables.Column) bool { return c.Kind == tables.Date && anyIs("due column", c.Name) })
}

// figureColumn returns the column of numbers that a figure of the question is about; -1: it is not
// clear which one.
func (q tableQuestion) figureColumn(t *openTable, f figures.Figure) int {
	best, score, candidates, tied := -1, -1, 0, false
	for c, col := range t.Columns {
		if col.Kind != tables.Number || anyIs("identifier column", col.Name) && len(q.column(col.Name, t.lang)) == 0 {
			continue
		}
		candidates++
		named := uniqueOf(q.column(col.Name, t.lang))
		s := 3 * len(named)
		if len(named) > 0 && len(named) == len(language.Words(col.Name)) { // "stock" beside "minimum stock"
			s += 2
		}
		if f.Unit != "" && (f.Unit == col.Unit || f.Factor > 0 && f.IsIn(col.Name)) {
			s++
		}
		for _, list := range []string{"quantity column", "amount column"} {
			if anyIs(list, col.Name) && q.says(list) {
				s++
			}
		}
		if s >= score {
			best, score, tied = c, s, s == score
		}
	}
	if score == 0 && candidates > 1 || tied { // it is not clear which one
		return -1
	}
	return best
}

// ranges reads "between 5 and 10" about a column of numbers.
func (q tableQuestion) ranges(t *openTable, add addCondition) {
	for i, f := range q.figures {
		if i+1 < len(q.figures) {
			next := q.figures[i+1]
			if between := q.between(f.Start, f.End, next.Start); between != nil {
				if c := q.figureColumn(t, next); c >= 0 {
					name := t.Columns[c].Name
					low, high := t.bound(f, c), t.bound(next, c)
					add(excerpt.PlainTitle(name)+" "+q.voice.say(messages.Between, messages.Params{"range": q.text[f.Start:next.End]}), func(row tables.Row) bool {
						cell := row.Cells[c]
						return cell.IsNumber && low <= cell.Number && cell.Number <= high
					}, slices.Concat(between, q.in([]span{{f.Start, next.End}}), q.column(name, t.lang))...)
				}
			}
		}
	}
}

// bounds reads "more than 500" about a column of numbers.
func (q tableQuestion) bounds(t *openTable, add addCondition) {
	for _, l := range q.limits(t) {
		c := q.figureColumn(t, l.Figure)
		if c < 0 {
			continue
		}
		name := t.Columns[c].Name
		bound := t.bound(l.Figure, c)
		says := ": " + l.Text
		switch {
		case l.sign > 0:
			says = " " + q.voice.say(messages.Above, messages.Params{"value": l.Text})
		case l.sign < 0:
			says = " " + q.voice.say(messages.Below, messages.Params{"value": l.Text})
		}
		add(excerpt.PlainTitle(name)+says, func(row tables.Row) bool {
			return row.Cells[c].IsNumber && l.holds(row.Cells[c].Number, bound)
		}, append(q.in(append(q.said["compares"], l.words...)), q.column(name, t.lang)...)...)
	}
}

// dateColumn returns the column of days, or of years, that the question is about, and the day of a
// row in it; -1: there is none, or it is not clear which one.
func (q tableQuestion) dateColumn(t *openTable) (dates int, dayOf func(tables.Row) figures.Day) {
	dates = -1
	for c, col := range t.Columns {
		if col.Kind == tables.Date && (dates < 0 || len(q.column(col.Name, t.lang)) > len(q.column(t.Columns[dates].Name, t.lang))) {
			dates = c
		}
	}
	dayOf = func(row tables.Row) figures.Day { return row.Cells[dates].Day }
	if dates >= 0 && len(q.column(t.Columns[dates].Name, t.lang)) == 0 {
		several := 0
		for c, col := range t.Columns {
			if col.Kind == tables.Date {
				several++
				if is("date column", col.Name) {
					dates, several = c, -len(t.Columns)
				}
			}
		}
		if several > 1 {
			return -1, nil
		}
	}
	if dates < 0 { // years after or before another; those of one year are values
		if dates = slices.IndexFunc(t.Columns, tables.Column.IsYears); dates < 0 || !q.says("after") && !q.says("before") && !q.says("between") {
			return -1, nil
		}
		dayOf = func(row tables.Row) figures.Day {
			if cell := row.Cells[dates]; cell.IsNumber {
				return figures.Day{Year: int(cell.Number), Month: 1, Date: 1}
			}
			return figures.Day{}
		}
	}
	return dates, dayOf
}

// dates reads "before 1 May 2026" about a column of days or years.
func (q tableQuestion) dates(t *openTable, add addCondition) {
	dates, dayOf := q.dateColumn(t)
	if dates < 0 {
		return
	}
	day := func(d figures.Day, from, to int) {
		name := excerpt.PlainTitle(t.Columns[dates].Name)
		after, before := q.endsAt("after", from), q.endsAt("before", from)
		used := append(q.in([]span{{from, to}}), q.column(t.Columns[dates].Name, t.lang)...)
		holds := func(row tables.Row) bool {
			x := dayOf(row)
			switch {
			case x.IsZero():
				return false
			case after.end > 0:
				return d.Before(x) && !d.Covers(x) || is("that day too", q.text[after.start:after.end]) && d.Covers(x)
			case before.end > 0:
				return x.Before(d)
			}
			return d.Covers(x)
		}
		when := q.text[from:to]
		if after.end > 0 {
			when = q.voice.say(messages.After, messages.Params{"day": when})
			used = append(used, q.in([]span{after})...)
		}
		if before.end > 0 {
			when = q.voice.say(messages.Before, messages.Params{"day": when})
			used = append(used, q.in([]span{before})...)
		}
		add(name+" "+when, holds, used...)
	}
	ranged := func(from, to figures.Day) bool {
		between := q.between(from.Start, from.End, to.Start)
		if between == nil {
			return false
		}
		name := excerpt.PlainTitle(t.Columns[dates].Name)
		add(name+" "+q.voice.say(messages.Between, messages.Params{"range": q.text[from.Start:to.End]}), func(row tables.Row) bool {
			x := dayOf(row)
			return !x.IsZero() && !x.Before(from) && (x.Before(to) || to.Covers(x))
		}, slices.Concat(between, q.in([]span{{from.Start, to.End}}), q.column(t.Columns[dates].Name, t.lang))...)
		return true
	}
	if len(q.days) == 2 && ranged(q.days[0], q.days[1]) {
		return
	}
	if len(q.days) == 0 && len(q.years) >= 2 {
		at := func(y int) figures.Day {
			i := strings.Index(q.text, fmt.Sprint(y))
			return figures.Day{Year: y, Month: 1, Date: 1, Start: i, End: i + 4}
		}
		from, to := at(q.years[0]), at(q.years[1])
		to.Month, to.Date = 12, 31
		if from.Start >= 0 && to.Start >= 0 && ranged(from, to) {
			return
		}
	}
	for _, d := range q.days {
		day(d, d.Start, d.End)
	}
	if len(q.days) == 0 {
		for i, w := range q.words {
			if m := figures.Month(w.text); m > 0 && len(w.text) > 2 {
				r := figures.Day{Month: m}
				if i > 0 && !is("before a month", q.words[i-1].text) {
					continue
				}
				day(r, w.at, w.at+len(w.text))
				return
			}
		}
		for _, y := range q.years {
			at := strings.Index(q.text, fmt.Sprint(y))
			if t.Columns[dates].Kind == tables.Date || q.endsAt("after", at).end > 0 || q.endsAt("before", at).end > 0 {
				day(figures.Day{Year: y}, at, at+4)
			}
		}
	}
}

// against reads "below the minimum stock" and "more than ordered": a column of numbers that is compared
// with another one in each row. The words of the second column's name say nothing else.
func (q tableQuestion) against(t *openTable, add addCondition) {
	for list, sign := range map[string]float64{"above": 1, "below": -1} {
		for _, s := range q.said[list] {
			second, words := q.columnAfter(t, s)
			if second < 0 {
				continue
			}
			in := func(o span) bool { return slices.ContainsFunc(words, func(i int) bool { return o.has(q.words[i].at) }) }
			first, score := -1, 0
			for c, col := range t.Columns {
				if c == second || col.Kind != tables.Number || anyIs("identifier column", col.Name) {
					continue
				}
				named := slices.DeleteFunc(q.column(col.Name, t.lang), func(i int) bool { return slices.Contains(words, i) })
				n := 1 + 6*len(named)
				if len(named) == len(language.Words(col.Name)) {
					n += 2
				}
				for _, w := range language.Words(col.Name) { // "stock" and "minimum stock"
					if strings.HasSuffix(strings.ToLower(t.Columns[second].Name), w) {
						n += 2
					}
				}
				switch amount := anyIs("amount column", col.Name); {
				case amount == anyIs("amount column", t.Columns[second].Name):
					n += 2
				case anyIs("quantity column", col.Name) && !amount:
					n++
				}
				switch {
				case n > score:
					first, score = c, n
				case n == score:
					first = -1 // it is not clear which one
				}
			}
			if first < 0 {
				continue
			}
			equal := is("or equal", q.text[s.start:s.end])
			add(excerpt.PlainTitle(t.Columns[first].Name)+" "+list+" "+excerpt.PlainTitle(t.Columns[second].Name), func(row tables.Row) bool {
				x, y := row.Cells[first], row.Cells[second]
				return x.IsNumber && y.IsNumber && (sign*x.Number > sign*y.Number || equal && x.Number == y.Number)
			}, append(q.in(append(q.said["compares"], s)), append(words, q.column(t.Columns[first].Name, t.lang)...)...)...)
			for name := range q.said {
				if name != "thing" && name != "being" {
					q.said[name] = slices.DeleteFunc(slices.Clone(q.said[name]), func(o span) bool { return o != s && in(o) })
				}
			}
		}
	}
}

// columnAfter returns the column of numbers whose name stands behind a place of the question, and the
// words of it; -1 if there is none. Of several, it is the one with most words.
func (q tableQuestion) columnAfter(t *openTable, s span) (column int, words []int) {
	from := slices.IndexFunc(q.words, func(w word) bool { return w.at >= s.end })
	column = -1
	for c, col := range t.Columns {
		if from < 0 || col.Kind != tables.Number || anyIs("identifier column", col.Name) {
			continue
		}
		names := language.Words(inBrackets.ReplaceAllString(col.Name, " "))
		i, begin := from, from
		for begin < len(q.words) && q.words[begin].filler && !q.isOne(begin, names, t.lang) {
			begin++ // the, their
		}
		i = begin
		for i < len(q.words) && q.isOne(i, names, t.lang) {
			i++
		}
		if n := i - begin; n >= len(names) && n > len(words) {
			column, words = c, nil
			for ; begin < i; begin++ {
				words = append(words, begin)
			}
		}
	}
	return column, words
}

// isOne reports whether a word of the question is one of a column's name.
func (q tableQuestion) isOne(i int, names []string, lang string) bool {
	return slices.ContainsFunc(names, func(w string) bool {
		for s := range stemsOf(w, lang) {
			if q.words[i].stems[s] {
				return true
			}
		}
		return false
	})
}

// excluded returns the words before word i that exclude it, as in "not in warehouse W3"; nil if there are none.
func (q tableQuestion) excluded(t *openTable, i int) []int {
	not := q.in(slices.Concat(q.said["not"], q.said["except"]))
	for i--; i >= 0; i-- {
		switch {
		case slices.Contains(not, i):
			return not
		case !q.words[i].filler && !slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return q.isOne(i, language.Words(c.Name), t.lang) }):
			return nil
		}
	}
	return nil
}

// between returns the words around two places of the question that make them the ends of a range, as in
// "between 2009 and 2013"; nil if they are none.
func (q tableQuestion) between(start, end, next int) []int {
	from := q.endsAt("between", start)
	if from.end == 0 || next < end {
		return nil
	}
	for _, to := range q.said["to"] {
		if to.start >= end && to.end <= next && next-end < 10 {
			return q.in([]span{from, to})
		}
	}
	return nil
}

// endsAt returns the place of an entry of a list that ends right before a place.
func (q tableQuestion) endsAt(list string, at int) span {
	for _, s := range q.said[list] {
		if s.end <= at && at-s.end < 8 {
			return s
		}
	}
	return span{}
}

// values reads values of columns of texts that the question has. Values of one column are
// alternatives. It returns which conditions name one row each. Words that are a part of a longer value count for the longer one only.
func (q tableQuestion) values(t *openTable, r *reading, add addCondition) (keys []bool) {
	type found struct {
		column int
		value  string
		words  []int
	}
	var all []found
	for c, col := range t.Columns {
		if col.Kind == tables.Date {
			continue
		}
		seen := language.Set{}
		for _, row := range t.Rows {
			v := row.Cells[c].Text
			if seen[v] || v == "" || len(v) > 80 || row.Total || col.Kind == tables.Number && !anyIs("identifier column", col.Name) {
				continue
			}
			seen[v] = true
			words := q.match(v, t.lang)
			if words == nil || !slices.ContainsFunc(words, func(i int) bool { return !r.used[i] }) {
				continue
			}
			all = append(all, found{c, v, words})
		}
	}
	// The longest first; of equal ones that of a column that the question names, then that of the
	// column with fewer different values.
	named := func(c int) int { return len(q.column(t.Columns[c].Name, t.lang)) }
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(len(uniqueOf(b.words))-len(uniqueOf(a.words)), named(b.column)-named(a.column), t.distinct(a.column)-t.distinct(b.column))
	})
	r.unclear = r.unclear || slices.ContainsFunc(all, func(a found) bool {
		return slices.ContainsFunc(all, func(b found) bool {
			return a.column < b.column && slices.Equal(a.words, b.words) && named(a.column) == named(b.column) && t.differ(a.column, a.value, b.column, b.value)
		})
	})
	taken := map[int]int{} // word → column
	byColumn := map[int][]string{}
	var order []int
	for _, f := range all {
		if slices.ContainsFunc(f.words, func(i int) bool { _, is := taken[i]; return is || r.used[i] && len(f.words) == 1 }) {
			continue
		}
		for _, i := range f.words {
			taken[i] = f.column
		}
		if byColumn[f.column] == nil {
			order = append(order, f.column)
		}
		byColumn[f.column] = append(byColumn[f.column], f.value)
		r.use(f.words...)
	}
	for _, c := range order {
		values := byColumn[c]
		if whole := yearsIn(strings.Join(values, " ")); len(whole) == len(values) && len(whole) > 1 { // "from 2020 to 2024"
			for _, row := range t.Rows {
				if y := row.Cells[c].Text; slices.Contains(q.years, yearOf(y)) && len(y) == 4 && !slices.Contains(values, y) {
					values = append(values, y)
				}
			}
		}
		if len(values) == 1 && q.says("list") && q.plural(t.Columns[c].Name, t.lang) { // all of them are asked for
			r.unclear = true
		}
		keys = append(keys, t.distinct(c) == len(t.Rows) && len(values) == 1)
		first := len(q.words)
		for i, of := range taken {
			if of == c {
				first = min(first, i)
			}
		}
		says, not := ": ", q.excluded(t, first)
		if not != nil {
			says, keys[len(keys)-1] = ": not ", false
		}
		add(excerpt.PlainTitle(t.Columns[c].Name)+says+excerpt.PlainTitle(strings.Join(values, ", ")), func(row tables.Row) bool {
			return (not == nil) == slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, row.Cells[c].Text) })
		}, append(not, q.column(t.Columns[c].Name, t.lang)...)...)
	}
	return keys
}

// plural reports whether the question has the name of a column with an ending: "categories" of "category".
func (q tableQuestion) plural(name, lang string) bool {
	return slices.ContainsFunc(q.column(name, lang), func(i int) bool {
		return slices.ContainsFunc(language.Words(name), func(w string) bool {
			return len(q.words[i].text) > len(w) && sameWord(q.words[i].text, w, lang)
		})
	})
}

// differ reports whether other rows have value a in column c than have value b in column d.
func (t openTable) differ(c int, a string, d int, b string) bool {
	return slices.ContainsFunc(t.Rows, func(row tables.Row) bool {
		return (row.Cells[c].Text == a) != (row.Cells[d].Text == b)
	})
}

// distinct counts the different values of a column.
func (t openTable) distinct(c int) int {
	values := language.Set{}
	for _, row := range t.Rows {
		values[row.Cells[c].Text] = true
	}
	return len(values)
}
