package offline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/agents/excerpt"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/documents/tables"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
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
			for c, col := range t.Columns {
				t.Columns[c].Name = spaced(col.Name)
			}
			for _, r := range t.Rows {
				o.markers = append(o.markers, passages[from+joined.Part(r.Start)].N)
			}
			out = append(out, o)
		}
		from = to
	}
	return out
}

var insideName = lazyregexp.New(`(\p{Ll})(\p{Lu})`)

// spaced writes the name of a column that a program gave it in words: "melting Point" for "meltingPoint".
func spaced(name string) string {
	if r, _ := utf8.DecodeRuneInString(name); !unicode.IsLower(r) || strings.Contains(name, " ") {
		return name
	}
	return insideName.ReplaceAllStringFunc(name, func(two string) string {
		r := []rune(two)
		return string(r[0]) + " " + string(unicode.ToLower(r[1]))
	})
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
	// wide: it shows all columns of numbers, because the question names none of them.
	wide bool
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
	limits := q.in(slices.Concat(q.said["above"], q.said["below"], q.said["before"], q.said["after"], q.said["between"]))
	for i, w := range q.words {
		if w.filler && (!r.used[i] || r.records && !slices.Contains(limits, i)) {
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
		for i := range q.words {
			if r.wide && (unknown(i) || q.says("amount asked")) {
				return true
			}
		}
		return slices.ContainsFunc(r.table.Rows, func(row tables.Row) bool { // another row that it names
			words := q.match(inBrackets.ReplaceAllString(row.Cells[0].Text, " "), r.table.lang)
			return slices.ContainsFunc(words, func(i int) bool {
				return unknown(i) && !slices.ContainsFunc(slices.Collect(maps.Keys(r.used)), func(k int) bool { return q.words[k].text == q.words[i].text })
			})
		})
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
		if q.comparesOtherwise() {
			continue
		}
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
		if (t.Columns[c].Kind == tables.Text || c == 0 && t.Columns[c].IsYears()) && x.Text != "" {
			return x.Text
		}
	}
	return ""
}

var inBrackets = lazyregexp.New(`\([^)]*\)`)

var yearPattern = lazyregexp.New(`(?i)\b(?:fy)?((?:19|20)\d\d)\b|\bfy?\s?'?(\d\d)\b`)

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
func (t openTable) number(v float64, column int) string { return plainNumber(v, t.decimals(column)) }

func (t openTable) decimals(column int) (decimals int) {
	for _, r := range t.Rows {
		decimals = max(decimals, decimalsIn(r.Cells[column]))
	}
	return decimals
}

// decimalsIn returns how many decimals a cell has; those of amounts may be zeros.
func decimalsIn(cell tables.Cell) int {
	switch {
	case !cell.IsNumber:
		return 0
	case centsAtEnd.MatchString(cell.Text): // 12.50
		return max(decimalsOf(cell.Number), 2)
	}
	return decimalsOf(cell.Number)
}

var centsAtEnd = lazyregexp.New(`[.,]\d\d(?:\D*)$`)

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
