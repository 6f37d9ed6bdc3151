package offline

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/offline/excerpt"
)

// openTable is a table that an answer may look at.
type openTable struct {
	tables.Table
	title   string // of its document
	lang    string
	markers []int // of the passage that each row is in
}

// open returns the tables of the documents that are open.
func open(passages []llm.Passage) []openTable {
	var out []openTable
	for from := 0; from < len(passages); {
		to := from + 1
		for to < len(passages) && passages[to].DocID == passages[from].DocID {
			to++
		}
		var texts []string
		for _, p := range passages[from:to] {
			texts = append(texts, p.Text)
		}
		joined := tables.Join(texts)
		lang := language.Detect(joined.Text)
		for _, t := range tables.Find(joined.Text) {
			o := openTable{Table: t, title: passages[from].Title, lang: lang}
			for _, r := range t.Rows {
				o.markers = append(o.markers, passages[from+joined.Part(r.Start)].N)
			}
			out = append(out, o)
		}
		from = to
	}
	return out
}

// name says which table it is.
func (t openTable) name() string {
	out := "**" + excerpt.PlainTitle(t.title) + "**"
	if n := excerpt.PlainTitle(t.Name()); n != "Untitled" && n != excerpt.PlainTitle(t.title) {
		out += ", " + n
	}
	return out
}

// reading is one way to answer a question from a table.
type reading struct {
	table *openTable
	used  map[int]bool // words of the question that it understands
	sure  int          // names of columns, values and rows that the question has
	text  string       // the answer, without its rows
	rows  []int        // to show
	also  []int        // columns to show
	// records: it counts, adds up or compares rows.
	records bool
	// unclear: a value of the question is one of several columns, whose rows differ.
	unclear bool
}

func (r *reading) use(words ...int) {
	for _, w := range words {
		r.used[w] = true
	}
}

// understood returns the share of the words of a question that a reading understands.
func (r reading) understood(q tableQuestion) float64 {
	known, all := 0.0, 0.0
	for i, w := range q.words {
		if w.filler && !r.used[i] {
			continue
		}
		all++
		if r.used[i] {
			known++
		}
	}
	return known / max(1, all)
}

// misses reports whether a reading does not understand a word that says of what: one before the name of
// a column ("safety stock"), or a compound that ends with it. A reading of records must also understand
// names, what is counted, and words that compare or exclude.
func (r reading) misses(q tableQuestion) bool {
	unknown := func(i int) bool { return !q.words[i].filler && !r.used[i] }
	neutral := q.in(q.said["neutral"])
	for _, c := range r.also {
		name := r.table.Columns[c].Name
		for _, i := range q.column(name, r.table.lang) {
			if i > 0 && unknown(i-1) && !slices.Contains(neutral, i-1) && q.words[i-1].end() == q.words[i].at-1 && !hasDigit(q.words[i-1].text+q.words[i].text) {
				return true
			}
		}
	}
	for i, x := range q.words {
		if unknown(i) && language.Compounding(r.table.lang) && slices.ContainsFunc(r.table.Columns, func(c tables.Column) bool {
			return slices.ContainsFunc(language.Words(c.Name), func(w string) bool { return endsWith(x.text, w, r.table.lang) })
		}) {
			return true
		}
	}
	for _, s := range slices.Concat(q.said["before"], q.said["after"]) { // "before Sarge"
		i := slices.IndexFunc(q.words, func(w word) bool { return w.at >= s.end })
		if i >= 0 && q.text[s.start:s.end] != "by" && q.words[i].at-s.end < 3 && !q.words[i].filler && r.used[i] && !hasDigit(q.words[i].text) && slices.ContainsFunc(q.in([]span{s}), func(i int) bool { return !r.used[i] }) {
			return true
		}
	}
	if !r.records {
		return false
	}
	if r.unclear {
		return true
	}
	limits := q.in(slices.Concat(q.said["not"], q.said["except"], q.said["above"], q.said["below"], q.said["more"], q.said["less"], q.said["beyond"]))
	if n, _ := q.howMany(); n > 1 && q.says("period") && (q.says("last day") || q.says("first day")) { // "in the last five years"
		return true
	}
	for _, f := range q.figures { // a bound that is not understood
		limits = append(limits, q.in([]span{{f.Start, f.End}})...)
	}
	for _, y := range q.years {
		for i, w := range q.words {
			if yearOf(w.text) == y {
				limits = append(limits, i)
			}
		}
	}
	for i, w := range q.words {
		if !r.used[i] && (w.name && !w.filler || slices.Contains(limits, i)) {
			return true
		}
	}
	for _, s := range slices.Concat(q.said["count"], q.said["list"]) { // of what
		if i := slices.IndexFunc(q.words, func(w word) bool { return w.at >= s.end && !w.filler }); i >= 0 && !r.used[i] && q.words[i].at-s.end < 20 {
			return true
		}
	}
	return false
}

// leastUnderstood is the share of the words of a question that an answer from a table must
// understand: an unknown word may be a condition.
const leastUnderstood = 0.75

// FromTables answers a question from the tables of the open documents; ok is false if no table
// answers it.
func FromTables(question string, f llm.Facts) (text string, ok bool) {
	if len(f.Opened) == 0 {
		return "", false
	}
	var best reading
	bestScore, v := 0.0, voiceOf(f)
	all := open(f.Opened)
	for i := range all {
		t := &all[i]
		t.lang = cmp.Or(t.lang, language.Detect(question))
		q := readQuestion(spellApart(question, t), t.lang, f.Now)
		q.voice = v
		for _, read := range []func(*openTable) (reading, bool){q.cells, q.records} {
			r, ok := read(t)
			if !ok {
				continue
			}
			sure := r.sure
			own, named := q.some(t.Heading+" "+t.Caption, t.lang), q.some(t.title, t.lang)
			r.use(own...)
			r.use(named...)
			if r.records && len(own)+len(named) > 0 { // "the highest invoice" of the table of invoices
				sure++
			}
			for _, list := range []string{"list", "lookup", "period", "different", "amount asked"} {
				r.use(q.in(q.said[list])...)
			}
			score := r.understood(q)
			if score < leastUnderstood || sure == 0 || r.misses(q) {
				continue
			}
			// A table that is named outranks another of a document that is named.
			if score += 0.02*float64(min(sure, 5)) + 0.01*float64(min(len(own), 5)); score > bestScore+1e-9 {
				best, bestScore = r, score
			}
		}
	}
	if bestScore == 0 {
		return "", false
	}
	return best.write(v), true
}

// maxRows is how many rows of a table an answer shows.
const maxRows = 12

func (r reading) write(v voice) string {
	var b strings.Builder
	b.WriteString(r.text)
	if len(r.rows) > 0 {
		b.WriteString("\n\n")
		r.table.writeRows(&b, r.rows[:min(len(r.rows), maxRows)], r.also)
	}
	if n := len(r.rows) - maxRows; n > 0 {
		b.WriteString("\n" + v.say(messages.MoreRows, messages.Params{"n": n}))
	}
	return strings.TrimSpace(b.String())
}

// maxShown is how many columns a table in an answer has.
const maxShown = 8

// writeRows writes rows as a Markdown table, each with its citation.
func (t openTable) writeRows(b *strings.Builder, rows, also []int) {
	var columns []int
	for c := range t.Columns {
		if len(t.Columns) <= maxShown || c == 0 || slices.Contains(also, c) {
			columns = append(columns, c)
		}
	}
	for c := 1; len(columns) < maxShown && c < len(t.Columns); c++ {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	slices.Sort(columns)
	var header []string
	for _, c := range columns {
		name := t.Columns[c].Name
		if !t.Columns[c].Named {
			name = ""
		}
		header = append(header, name)
	}
	var lines [][]string
	var markers []int
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, t.Rows[r].Cells[c].Text)
		}
		lines, markers = append(lines, cells), append(markers, t.markers[r])
	}
	b.WriteString(excerpt.Table(header, lines, markers))
}

// label returns the first text of a row: its name.
func (t openTable) label(row int) string {
	for c, x := range t.Rows[row].Cells {
		if t.Columns[c].Kind == tables.Text && x.Text != "" {
			return x.Text
		}
	}
	return ""
}

var inBrackets = regexp.MustCompile(`\([^)]*\)`)

var yearPattern = regexp.MustCompile(`(?i)\b(?:fy)?((?:19|20)\d\d)\b|\bfy?\s?'?(\d\d)\b`)

// yearsIn returns the years in the name of a column: "2024", "FY2024" and "FY24".
func yearsIn(name string) (out []int) {
	for _, m := range yearPattern.FindAllStringSubmatch(name, -1) {
		y, _ := strconv.Atoi(m[1] + m[2]) // digits only
		if y < 100 {
			y += 2000
		}
		out = append(out, y)
	}
	return out
}

// number writes a value with as many decimals as the numbers of a column have.
func (t openTable) number(v float64, column int) string {
	decimals := 0
	for _, r := range t.Rows {
		cell := r.Cells[column]
		if !cell.IsNumber {
			continue
		}
		decimals = max(decimals, decimalsOf(cell.Number))
		if centsAtEnd.MatchString(cell.Text) { // 12.50
			decimals = max(decimals, 2)
		}
	}
	return plainNumber(v, decimals)
}

var centsAtEnd = regexp.MustCompile(`[.,]\d\d(?:\D*)$`)

func decimalsOf(v float64) int {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return min(len(s)-i-1, 6)
	}
	return 0
}

// plainNumber writes 1234.5 as "1,234.5".
func plainNumber(v float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction, found := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	if v < 0 && strings.Trim(s, "0.") != "" {
		whole = "-" + whole
	}
	return whole
}

// withUnit adds the unit of a column.
func (t openTable) withUnit(s string, column int) string {
	switch unit := t.Columns[column].Unit; {
	case unit == figures.Percent:
		return s + " %"
	case unit != "":
		return s + " " + unit
	}
	return s
}

// cells reads a question that asks for cells of a row, by the row's name and by columns: the
// value, a change, an average, a ratio of two rows, or the column with the largest one.
func (q tableQuestion) cells(t *openTable) (reading, bool) {
	r := reading{table: t, used: map[int]bool{}}
	rows := q.namedRows(t)
	if len(rows) == 0 {
		return r, false
	}
	columns := q.namedColumns(t, &r)
	if len(columns) == 1 && q.says("average") { // the average of a year is that of its begin and its end
		year := yearOf(t.Columns[columns[0]].Name)
		before := slices.IndexFunc(t.Columns, func(c tables.Column) bool {
			return year > 0 && c.Kind == tables.Number && slices.Contains(yearsIn(c.Name), year-1)
		})
		if before >= 0 {
			columns = append(columns, before)
		}
	}
	columns = slices.DeleteFunc(columns, func(c int) bool { return !t.Rows[rows[0].row].Cells[c].IsNumber })
	if len(columns) == 0 {
		return r, false
	}
	first := rows[0]
	r.use(append(first.words, first.section...)...)
	r.sure += 1 + len(first.words)
	r.rows, r.also = []int{first.row}, columns
	names := func(columns []int) string {
		var out []string
		for _, c := range columns {
			out = append(out, excerpt.PlainTitle(t.Columns[c].Name))
		}
		return messages.Joined(string(q.voice), out)
	}
	value := func(row, c int) float64 { return t.Rows[row].Cells[c].Number }
	name := excerpt.PlainTitle(t.label(first.row))
	at := func(c int) string { return excerpt.PlainTitle(t.Columns[c].Name) }
	all := func(c int) string { return t.withUnit(t.number(value(first.row, c), c), c) }
	say := func(m messages.Message, values messages.Params) {
		values["name"], values["table"] = name, t.name()
		r.text = q.voice.say(m, values)
	}
	second := len(rows) > 1 && t.Rows[rows[1].row].Cells[columns[0]].IsNumber
	both := func() {
		r.use(rows[1].words...)
		r.rows = append(r.rows, rows[1].row)
		r.sure++
	}
	byYear := slices.Clone(columns)
	slices.SortStableFunc(byYear, func(a, b int) int { return cmp.Compare(yearOf(t.Columns[a].Name), yearOf(t.Columns[b].Name)) })
	switch {
	case q.says("ratio") && second && value(rows[1].row, columns[0]) != 0:
		r.use(q.in(append(q.said["ratio"], q.said["percent"]...))...)
		both()
		share := value(first.row, columns[0]) / value(rows[1].row, columns[0])
		say(messages.RatioIs, messages.Params{"share": plainNumber(share, 2), "percent": plainNumber(100*share, 2), "other": excerpt.PlainTitle(t.label(rows[1].row)), "column": at(columns[0])})
	case q.says("change") && second && len(columns) == 1:
		r.use(q.in(q.said["change"])...)
		both()
		c := columns[0]
		d := value(first.row, c) - value(rows[1].row, c)
		say(messages.DifferenceIs, messages.Params{"other": excerpt.PlainTitle(t.label(rows[1].row)), "value": t.withUnit(t.number(d, c), c), "column": at(c)})
	case q.says("change") && len(byYear) > 1 && yearOf(t.Columns[byYear[0]].Name) > 0 && yearOf(t.Columns[byYear[0]].Name) < yearOf(t.Columns[byYear[len(byYear)-1]].Name):
		r.use(q.in(append(q.said["change"], q.said["percent"]...))...)
		from, to := byYear[0], byYear[len(byYear)-1]
		d := value(first.row, to) - value(first.row, from)
		change := "**" + t.withUnit(t.number(d, to), to) + "**"
		if before := value(first.row, from); before != 0 {
			change += " (**" + plainNumber(100*d/math.Abs(before), 2) + " %**)"
		}
		say(messages.ChangedBy, messages.Params{"change": change, "before": all(from), "from": at(from), "after": all(to), "to": at(to)})
	case q.says("average") && len(columns) > 1, q.says("sum") && len(columns) > 1 && !first.all(q, "sum"):
		list, over := "average", messages.AverageOver
		sum := 0.0
		for _, c := range columns {
			sum += value(first.row, c)
		}
		decimals := 2
		if !q.says("average") {
			list, over = "sum", messages.TotalOver
		} else {
			sum /= float64(len(columns))
		}
		r.use(q.in(q.said[list])...)
		if list == "sum" {
			decimals = decimalsOf(math.Round(sum*1e6) / 1e6)
		}
		say(over, messages.Params{"columns": names(columns), "value": t.withUnit(plainNumber(sum, decimals), columns[0])})
	case (q.says("max") || q.says("min")) && len(columns) > 1 && (q.says("period") || q.says("list")) && yearOf(t.Columns[byYear[0]].Name) > 0:
		list, sign := "max", 1.0
		if !q.says("max") {
			list, sign = "min", -1
		}
		r.use(q.in(q.said[list])...)
		c := slices.MaxFunc(columns, func(a, b int) int { return cmp.Compare(sign*value(first.row, a), sign*value(first.row, b)) })
		most := messages.HighestIn
		if sign < 0 {
			most = messages.LowestIn
		}
		say(most, messages.Params{"column": at(c), "value": all(c), "n": len(columns)})
	case q.says("count") && len(columns) == 1: // "the number of shares in 2019" is a value
		r.use(q.in(q.said["count"])...)
		say(messages.ValuesIn, messages.Params{"values": "**" + all(columns[0]) + "** (" + at(columns[0]) + ")"})
	case q.says("max") || q.says("min") || q.says("count") || q.says("average") || q.says("change") || q.says("ratio"):
		return r, false
	default:
		if first.all(q, "sum") {
			r.use(q.in(q.said["sum"])...)
		}
		var said []string
		for _, c := range columns {
			said = append(said, "**"+all(c)+"** ("+at(c)+")")
		}
		say(messages.ValuesIn, messages.Params{"values": strings.Join(said, ", ")})
	}
	return r, true
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
		if words := q.match(inBrackets.ReplaceAllString(label, " "), t.lang); words != nil {
			found = append(found, namedRow{i, uniqueOf(words), uniqueOf(q.some(row.Section, t.lang))})
		}
	}
	slices.SortStableFunc(found, func(a, b namedRow) int {
		return cmp.Or(len(b.words)-len(a.words), len(b.section)-len(a.section))
	})
	var out []namedRow
	taken := map[int]bool{}
	for _, n := range found {
		if !slices.ContainsFunc(n.words, func(w int) bool { return taken[w] }) {
			out = append(out, n)
			for _, w := range n.words {
				taken[w] = true
			}
		}
	}
	slices.SortStableFunc(out, func(a, b namedRow) int { return slices.Min(a.words) - slices.Min(b.words) })
	return out
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
// them if it names none.
func (q tableQuestion) namedColumns(t *openTable, r *reading) []int {
	best := 0
	scores := make([]int, len(t.Columns))
	used := make([][]int, len(t.Columns))
	for c, col := range t.Columns {
		if col.Kind != tables.Number {
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
	if len(q.years) > 0 && best < 10 && slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return len(yearsIn(c.Name)) > 0 }) {
		return nil // another year
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
