// Command tables measures what the engine without a model answers from tables, and how many
// wrong figures of answers are marked, on the tables and questions of others:
//
//	go -C bench run ./tables -tatqa path/to/TAT-QA/.git -finance path/to/financebench/.git
//
// It needs clones of github.com/NExTplusplus/TAT-QA and github.com/patronus-ai/financebench;
// nothing of them is kept.
//
// With -seaborn and -corpus (clones of github.com/mwaskom/seaborn-data and
// github.com/Unstructured-IO/unstructured; Debian's tables are in its package distro-info-data) it asks
// 40 questions about ten tables instead: query_table, with the SELECT that a careful model writes, and
// the engine without a model.
//
//   - tables: how many questions of TAT-QA that a table answers are answered right; of how many
//     there is an answer at all.
//   - figures: of right answers, how many are marked; of the same answers with a digit of a figure
//     changed, how many are not. Answers of FinanceBench that name no figure that they are
//     computed from are counted apart: they have to be marked.
//   - quotations: of cited sentences of the sources, how many are removed or marked; of the same
//     without a word, how many are not.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	agent "github.com/palaver-chat/palaver/agents/documents/offline"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/documents/figures"
	"github.com/palaver-chat/palaver/llm"
)

func main() {
	tatqa := flag.String("tatqa", "", "git directory of a clone of TAT-QA")
	finance := flag.String("finance", "", "git directory of a clone of FinanceBench")
	var from sources
	flag.StringVar(&from.seaborn, "seaborn", "", "git directory of a clone of seaborn-data")
	flag.StringVar(&from.corpus, "corpus", "", "git directory of a clone of Unstructured")
	flag.StringVar(&from.debian, "debian", "/usr/share/distro-info", "directory of Debian's package distro-info-data")
	verbose := flag.Bool("verbose", false, "print what was wrong")
	every := flag.Int("every", 1, "take each nth table only")
	flag.Parse()
	from.tatqa = *tatqa
	ctx := context.Background()
	if from.seaborn != "" {
		if err := published(ctx, from, *verbose); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(ctx, *tatqa, *finance, *every, *verbose); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, tatqa, finance string, every int, verbose bool) error {
	var said []answer
	if tatqa != "" {
		raw, err := show(ctx, tatqa, "dataset_raw/tatqa_dataset_dev.json")
		if err != nil {
			return err
		}
		var all []tableWithQuestions
		if err := json.Unmarshal(raw, &all); err != nil {
			return err
		}
		right, answered, n := 0, 0, 0
		for i, t := range all {
			if i%every != 0 {
				continue
			}
			for _, q := range t.Questions {
				if q.From != "table" || q.Type == "multi-span" {
					continue
				}
				n++
				text, ok := agent.FromTables(q.Question, t.opened())
				good := ok && q.isRight(text)
				if ok {
					answered++
				}
				if good {
					right++
				} else if verbose {
					fmt.Printf("%v %s\n   want %s\n   got  %s\n", ok, q.Question, q.Answer, strings.ReplaceAll(text, "\n", "\n        "))
				}
				if a, ok := q.sentence(t.text()); ok {
					said = append(said, a)
				}
			}
		}
		fmt.Printf("tables: %d questions, %d answered, %d right\n", n, answered, right)
	}
	if finance != "" {
		more, err := financeAnswers(ctx, finance)
		if err != nil {
			return err
		}
		said = append(said, more...)
	}
	check(said, verbose)
	return nil
}

// check prints how many answers are marked, and how many with a planted mistake are not.
func check(said []answer, verbose bool) {
	var right, marked, open, openMarked, planted, passed int
	for _, a := range said {
		bad := figures.Check(a.text, a.sources, a.allowed)
		if a.open {
			open, openMarked = open+1, openMarked+min(len(bad), 1)
			continue
		}
		right, marked = right+1, marked+min(len(bad), 1)
		if len(bad) > 0 && verbose {
			fmt.Printf("marked %q in: %s\n", bad[0].Text, a.text)
		}
		for _, wrong := range plant(a) {
			planted++
			if !slices.ContainsFunc(figures.Check(wrong, a.sources, a.allowed), func(f figures.Figure) bool {
				return !slices.ContainsFunc(bad, func(b figures.Figure) bool { return b.Text == f.Text })
			}) {
				passed++
				if verbose {
					fmt.Printf("passed: %s\n    was: %s\n", wrong, a.text)
				}
			}
		}
	}
	fmt.Printf("figures: %d right answers, %d of them marked; %d with a wrong figure, %d of them not marked\n", right, marked, planted, passed)
	if open > 0 {
		fmt.Printf("answers that name no figure that they are computed from: %d, %d of them marked\n", open, openMarked)
	}
	checkQuotes(said, verbose)
}

func show(ctx context.Context, data, file string) ([]byte, error) {
	return exec.CommandContext(ctx, "git", "--git-dir", data, "show", "HEAD:"+file).Output()
}

type tableWithQuestions struct {
	Table struct {
		UID   string
		Table [][]string
	}
	Paragraphs []struct{ Text string }
	Questions  []question
}

type question struct {
	Question   string
	Answer     json.RawMessage
	Type       string `json:"answer_type"`
	From       string `json:"answer_from"`
	Scale      string
	Derivation string
}

// text is the table as extraction writes it.
func (t tableWithQuestions) text() string {
	var b strings.Builder
	for _, row := range t.Table.Table {
		last := len(row)
		for last > 0 && strings.TrimSpace(row[last-1]) == "" {
			last--
		}
		if last > 0 {
			b.WriteString(strings.Join(row[:last], " | ") + "\n")
		}
	}
	return b.String()
}

func (t tableWithQuestions) opened() (f llm.Facts) {
	for i, c := range chunk.Split(t.text()) {
		f.Opened = append(f.Opened, llm.Passage{N: i + 1, DocID: "d", Title: "Report", Heading: c.Heading, Text: c.Text})
	}
	return f
}

func (q question) values() (out []string) {
	var list []string
	if json.Unmarshal(q.Answer, &list) == nil {
		return list
	}
	return []string{strings.Trim(string(q.Answer), `"`)}
}

// bold matches what an answer puts forward: in bold, or the percentage of a ratio.
var bold = regexp.MustCompile(`(\*\*[^*]+\*\*|\([-\d.,]+ %\))`)

var year = regexp.MustCompile(`\b(?:19|20)\d\d\b`)

// isRight reports whether an answer has the value, rounded to two decimals, in bold, or names no other year than the right one.
func (q question) isRight(text string) bool {
	for _, want := range q.values() {
		plain := strings.NewReplacer(",", "", "$", "", "€", "", "%", "", "(", "-", ")", "", "£", "").Replace(want)
		v, err := strconv.ParseFloat(strings.TrimSpace(plain), 64)
		found := false
		if year.MatchString(want) { // in the name of the only column
			first, _, _ := strings.Cut(text, "\n")
			said := year.FindAllString(first, -1)
			found = len(said) > 0 && !slices.ContainsFunc(said, func(y string) bool { return y != want })
		}
		for _, m := range bold.FindAllStringSubmatch(text, -1) {
			if err != nil {
				found = found || strings.Contains(strings.ToLower(m[1]), strings.ToLower(strings.TrimSpace(want)))
				continue
			}
			for _, f := range figures.Find(m[1]) {
				found = found || len(f.Values) > 0 && math.Abs(math.Abs(f.Values[0])-math.Abs(v)) < 0.011
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// answer is an answer with what it cites.
type answer struct {
	text             string
	sources, allowed []string
	open             bool // names no figure that it is computed from
}

// sentence makes an answer of a question with its derivation.
func (q question) sentence(source string) (answer, bool) {
	values := q.values()
	if len(values) != 1 || q.Type == "count" || q.Type == "arithmetic" && q.Derivation == "" {
		return answer{}, false
	}
	unit := map[string]string{"percent": "%", "million": " million", "thousand": " thousand", "billion": " billion"}[q.Scale]
	text := q.Question + " It is " + values[0] + unit
	if q.Type == "arithmetic" {
		text += " (" + q.Derivation + ")"
	} else {
		text = q.Question + " It is " + values[0]
	}
	return answer{text: text + ".", sources: []string{source}, allowed: []string{q.Question}}, true
}

func financeAnswers(ctx context.Context, data string) (out []answer, err error) {
	raw, err := show(ctx, data, "data/financebench_open_source.jsonl")
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(raw) {
		var q struct {
			Company, Question, Answer, Justification string
			Doc                                      string `json:"doc_name"`
			Type                                     string `json:"question_type"`
			Reasoning                                string `json:"question_reasoning"`
			Evidence                                 []struct {
				Text string `json:"evidence_text"`
				Page string `json:"evidence_text_full_page"`
			}
		}
		if err := json.Unmarshal(line, &q); err != nil {
			return nil, err
		}
		if c := strings.ToUpper(q.Company); c == "" || c[0] < 'A' || c[0] > 'J' {
			continue
		}
		a := answer{text: strings.TrimSpace(q.Answer + " " + q.Justification), allowed: []string{q.Question, q.Doc}}
		a.open = q.Type == "metrics-generated" && q.Reasoning == "Numerical reasoning"
		for _, e := range q.Evidence {
			a.sources = append(a.sources, e.Text, e.Page)
		}
		out = append(out, a)
	}
	return out, nil
}

// plant returns an answer with one figure changed, for each that has two digits, is no year and that
// no text would have then.
func plant(a answer) (out []string) {
	at := 0
	for _, allowed := range a.allowed { // the question that the answer repeats is not changed
		if strings.HasPrefix(a.text, allowed) {
			at = len(allowed)
		}
	}
	for _, f := range figures.Find(a.text) {
		if f.Start < at || len(f.Values) == 0 || f.IsYear() || f.Digits < 2 {
			continue
		}
		digits := []byte(a.text)
		i := f.Start + strings.IndexAny(a.text[f.Start:f.End], "123456789")
		digits[i] = '1' + (digits[i]-'1'+3)%9
		if !slices.ContainsFunc(append(a.sources, a.allowed...), func(s string) bool { return strings.Contains(s, string(digits[i:f.End])) }) {
			out = append(out, string(digits))
		}
	}
	return out
}

var sentences = regexp.MustCompile(`[A-Z][^.|"“”\n]{60,300}\.`)

// checkQuotes prints how many quotations of sentences of the sources are marked, and how many with
// a word left out are not.
func checkQuotes(said []answer, verbose bool) {
	quoted := map[string]bool{}
	right, marked, planted, passed := 0, 0, 0, 0
	for _, a := range said {
		for _, source := range a.sources {
			s := sentences.FindString(source)
			if words := strings.Fields(s); len(words) > 8 && !quoted[s] {
				quoted[s] = true
				right, planted = right+1, planted+1
				marked += count(!stays(s, source))
				wrong := strings.Join(slices.Delete(words, len(words)/2, len(words)/2+1), " ")
				passed += count(stays(wrong, source))
				if verbose && stays(wrong, source) {
					fmt.Printf("passed: %q\n    was: %q\n", wrong, s)
				}
			}
		}
	}
	fmt.Printf("quotations: %d right ones, %d of them marked; %d without a word, %d of them not marked\n", right, marked, planted, passed)
}

// stays reports whether an answer that quotes and cites a source keeps its quotation.
func stays(quote, source string) bool {
	f := cite.New([]cite.Source{{N: 1, DocID: "d", ChunkID: "d.0", Text: source}})
	answer := "It says: “" + quote + "” [1]"
	shown := f.Write(answer)
	tail, _ := f.Close()
	return strings.Contains(shown+tail, "“"+quote+"”")
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
