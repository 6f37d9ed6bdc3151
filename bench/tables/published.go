package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	agent "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
	"github.com/palaver-chat/palaver/tools/lookup"
)

// sources are where the tables that others published come from.
type sources struct{ tatqa, seaborn, corpus, debian string }

// publishedTable is a table with questions about it. Its right answers are computed from records,
// which nothing of Palaver has read.
type publishedTable struct {
	title, source, file string
	questions           []asked
}

// asked is a question as a person asks it, the SELECT that a careful model runs for it, and how
// its answer is computed.
type asked struct {
	question, sql string
	right         func(records) []string
}

// published prints how many of the questions about published tables are answered right, with
// query_table and without a model.
func published(ctx context.Context, from sources, verbose bool) error {
	n, scripted, offline := 0, 0, 0
	others, right, wrong := 0, 0, 0
	for _, p := range slices.Concat(publishedTables, reworded) {
		text, all, err := p.read(ctx, from)
		if err != nil {
			return fmt.Errorf("%s: %w", p.title, err)
		}
		doc := document{title: p.title}
		for i, c := range chunk.Split(text) {
			doc.hits = append(doc.hits, chat.Hit{Title: p.title, Chunk: chat.Chunk{
				ID: "d." + strconv.Itoa(i), DocID: "d", Ordinal: i, Text: c.Text, Heading: c.Heading, Start: c.Start, End: c.End,
			}})
		}
		for _, q := range p.questions {
			want := q.right(all)
			if q.sql == "" {
				others++
				said, answered := agent.FromTables(q.question, doc.facts())
				switch {
				case isAnswer(said, want):
					right++
				case answered:
					wrong++
					fallthrough
				default:
					if verbose {
						fmt.Printf("reworded: %s: %s\n   want %q\n   got  %v %s\n", p.title, q.question, want, answered, strings.ReplaceAll(said[:min(len(said), 900)], "\n", "\n        "))
					}
				}
				continue
			}
			n++
			looked, err := doc.query(ctx, q.sql)
			if err != nil {
				return err
			}
			said, _ := agent.FromTables(q.question, doc.facts())
			for _, got := range []struct {
				by, text string
				good     bool
				count    *int
			}{{"query_table", looked, hasRows(looked, want), &scripted}, {"offline", said, isAnswer(said, want), &offline}} {
				if got.good {
					*got.count++
				} else if verbose {
					fmt.Printf("%s: %s: %s\n   want %q\n   got  %s\n", got.by, p.title, q.question, want, strings.ReplaceAll(got.text[:min(len(got.text), 900)], "\n", "\n        "))
				}
			}
		}
	}
	fmt.Printf("published: %d questions about %d tables, right with query_table %d, without a model %d\n", n, len(publishedTables), scripted, offline)
	fmt.Printf("in other words and languages: %d questions, right without a model %d, not answered %d, wrong %d\n", others, right, others-right-wrong, wrong)
	return nil
}

// read returns a table as extraction writes it, and its records.
func (p publishedTable) read(ctx context.Context, from sources) (string, records, error) {
	var raw []byte
	var err error
	switch p.source {
	case "tatqa":
		return p.readTATQA(ctx, from.tatqa)
	case "debian":
		raw, err = os.ReadFile(filepath.Join(from.debian, p.file))
	case "corpus":
		raw, err = show(ctx, from.corpus, p.file)
	default:
		raw, err = show(ctx, from.seaborn, p.file)
	}
	if err != nil {
		return "", nil, err
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		return "", nil, err
	}
	text, err := extract.All().Text(ctx, "csv", raw)
	return text, newRecords(lines[0], lines[1:]), err
}

// readTATQA returns the table of TAT-QA that has the id file. The records of it have a name and
// years.
func (p publishedTable) readTATQA(ctx context.Context, data string) (string, records, error) {
	raw, err := show(ctx, data, "dataset_raw/tatqa_dataset_dev.json")
	if err != nil {
		return "", nil, err
	}
	var all []tableWithQuestions
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", nil, err
	}
	for _, t := range all {
		if t.Table.UID == p.file {
			return t.text(), newRecords([]string{"name", "2019", "2018", "2017"}, t.Table.Table), nil
		}
	}
	return "", nil, fmt.Errorf("TAT-QA has no table %s", p.file)
}

// document is a library of one document.
type document struct {
	lookup.Library
	title string
	hits  []chat.Hit
}

func (d document) VisibleDocuments(context.Context, string) ([]chat.Document, error) {
	return []chat.Document{{ID: "d", Title: d.title, Status: chat.DocReady}}, nil
}

func (d document) DocumentChunks(context.Context, string, string, int) ([]chat.Hit, error) {
	return d.hits, nil
}

func (d document) ListSets(context.Context, string, string, int) (db.Page[chat.DocumentSet], error) {
	return db.Page[chat.DocumentSet]{}, nil
}

// query returns what query_table says.
func (d document) query(ctx context.Context, sql string) (string, error) {
	arguments, err := json.Marshal(map[string]string{"document": d.title, "sql": sql})
	if err != nil {
		return "", err
	}
	r, err := lookup.QueryTable(d).Run(ctx, tools.Call{Owner: "bench", Arguments: arguments})
	return r.Content, err
}

func (d document) facts() (f llm.Facts) {
	f.Now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, h := range d.hits {
		f.Opened = append(f.Opened, llm.Passage{N: i + 1, DocID: "d", Title: d.title, Heading: h.Heading, Text: h.Text})
	}
	return f
}

// hasRows reports whether a result has the wanted values, one a row.
func hasRows(text string, want []string) bool {
	table, _, _ := strings.Cut(text, "\nComputed from")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	rows = slices.DeleteFunc(rows, func(line string) bool { return !strings.HasPrefix(line, "|") })
	if len(rows) != len(want)+2 {
		return false
	}
	for i, w := range want {
		if !slices.ContainsFunc(strings.Split(rows[i+2], " | "), func(cell string) bool { return same(strings.Trim(cell, "| "), w) }) {
			return false
		}
	}
	return true
}

// isAnswer reports whether an answer says the wanted value in bold, or shows rows with the wanted
// ones and no others.
func isAnswer(text string, want []string) bool {
	if len(want) == 1 && slices.ContainsFunc(bold.FindAllStringSubmatch(text, -1), func(m []string) bool { return same(strings.Trim(m[1], "*()"), want[0]) }) {
		return true
	}
	_, table, _ := strings.Cut(text, "| ---")
	rows := strings.Count(table, "\n|")
	return rows == len(want) && !strings.HasPrefix(text, "**") && !slices.ContainsFunc(want, func(w string) bool {
		return !slices.ContainsFunc(strings.FieldsFunc(table, func(r rune) bool { return r == '|' }), func(cell string) bool { return same(strings.TrimSpace(cell), w) })
	})
}

var group = regexp.MustCompile(`(\d),(\d{3})\b`)

// same reports whether a text is a value, rounded to two decimals.
func same(text, want string) bool {
	v, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return strings.EqualFold(text, want)
	}
	for _, f := range figures.Find(group.ReplaceAllString(text, "$1$2")) {
		if len(f.Values) > 0 && math.Abs(math.Abs(f.Values[0])-math.Abs(v)) < 0.011 {
			return true
		}
	}
	return text == want
}

// records are the rows of a file, by the names of its columns.
type records []map[string]string

func newRecords(header []string, lines [][]string) (out records) {
	for _, line := range lines {
		r := map[string]string{}
		for i, name := range header[:min(len(header), len(line))] {
			r[name] = strings.TrimSpace(line[i])
		}
		out = append(out, r)
	}
	return out
}

type keep func(map[string]string) bool

func is(column, value string) keep {
	return func(r map[string]string) bool { return r[column] == value }
}

func isNot(column, value string) keep {
	return func(r map[string]string) bool { return r[column] != value }
}

func has(column, part string) keep {
	return func(r map[string]string) bool { return strings.Contains(r[column], part) }
}

func above(column string, least float64) keep {
	return func(r map[string]string) bool { v, ok := number(r[column]); return ok && v > least }
}

// before compares dates as texts.
func before(column, day string) keep {
	return func(r map[string]string) bool { return r[column] != "" && r[column] < day }
}

func (all records) where(keeps []keep) records {
	return slices.DeleteFunc(slices.Clone(all), func(r map[string]string) bool {
		return slices.ContainsFunc(keeps, func(k keep) bool { return !k(r) })
	})
}

func number(cell string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "$", "", " ", "").Replace(cell), 64)
	return v, err == nil
}

func (all records) numbers(column string) (out []float64) {
	for _, r := range all {
		if v, ok := number(r[column]); ok {
			out = append(out, v)
		}
	}
	return out
}

func written(v float64) []string { return []string{strconv.FormatFloat(v, 'f', 4, 64)} }

func countOf(keeps ...keep) func(records) []string {
	return func(all records) []string { return []string{strconv.Itoa(len(all.where(keeps)))} }
}

func list(column string, keeps ...keep) func(records) []string {
	return func(all records) (out []string) {
		for _, r := range all.where(keeps) {
			out = append(out, r[column])
		}
		return out
	}
}

func different(column string) func(records) []string {
	return func(all records) []string {
		values := map[string]bool{}
		for _, r := range all {
			values[r[column]] = true
		}
		return []string{strconv.Itoa(len(values))}
	}
}

func total(column string, keeps ...keep) func(records) []string {
	return func(all records) []string {
		sum := 0.0
		for _, v := range all.where(keeps).numbers(column) {
			sum += v
		}
		return written(sum)
	}
}

func average(column string, keeps ...keep) func(records) []string {
	return func(all records) []string {
		values := all.where(keeps).numbers(column)
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return written(sum / float64(len(values)))
	}
}

func highest(column string, keeps ...keep) func(records) []string {
	return func(all records) []string { return written(slices.Max(all.where(keeps).numbers(column))) }
}

func lowest(column string, keeps ...keep) func(records) []string {
	return func(all records) []string { return written(slices.Min(all.where(keeps).numbers(column))) }
}

// first returns the label of the record with the highest number; with its sign -1, the lowest.
func first(label, column string, sign float64, keeps ...keep) func(records) []string {
	return func(all records) []string {
		kept := slices.DeleteFunc(all.where(keeps), func(r map[string]string) bool { _, ok := number(r[column]); return !ok })
		return []string{slices.MaxFunc(kept, func(a, b map[string]string) int {
			x, _ := number(a[column])
			y, _ := number(b[column])
			return cmp.Compare(sign*x, sign*y)
		})[label]}
	}
}

// difference is that of two columns of one record.
func difference(name, to, from string) func(records) []string {
	return func(all records) []string {
		r := all.where([]keep{is("name", name)})
		return written(r.numbers(to)[0] - r.numbers(from)[0])
	}
}
