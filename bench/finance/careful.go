package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/tools"
)

// careful finds pages as a careful person does with the tools of agents: it searches, refines by
// company and year, and opens the statements that the question is about. It knows a question's
// words only.
type careful struct {
	tools tools.List
	shown []string // ids of passages, each once
	calls int
}

// statements are the parts of an annual report that have figures: the words of questions that they
// answer, the names that they have, and how rows of theirs begin.
var statements = []struct{ asked, names, row *regexp.Regexp }{
	{fold(`revenue|sales|income|margin|profit|earning|ebit|tax|expens|cost|interest|dividend|sg&a|r&d|cogs|organic|growth|inventory turnover|payable outstanding|capital.intensi`),
		fold(`statements? of (consolidated )?(income|operations|earnings)|income statements?`), fold(`income tax|tax provision|per (common )?share`)},
	{fold(`asset|liabilit|inventor|receivable|payable|debt|cash and|ratio|working capital|equity|pp&e|ppne|property|turnover|balance|goodwill|liquid|capital.intensi`),
		fold(`balance sheets?|statements? of (consolidated )?financial (condition|position)`), fold(`total (current )?assets`)},
	{fold(`cash flow|capex|capital expend|capital.intensi|free cash|depreciation|amorti|ebitda|operating activities|investing|financing|repurchase|dividend|restructuring`),
		fold(`statements? of (consolidated )?cash flows?|cash flows? statements?`), fold(`(operating|investing|financing) activities`)},
}

func fold(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) }

var (
	asksFor   = regexp.MustCompile(`(?i)(?:19|20)\d\d|fy ?'?(\d\d)\b`)
	formWords = regexp.MustCompile(`(?i)^(?:\d+(?:q[1-4])?|10k|10q|8k|q[1-4]|annualreport|earnings|dated.*|fy.*)$`)
	listed    = regexp.MustCompile(`(?m)^- (.+) \(id (\S+), \w+\)$`)
	outlined  = regexp.MustCompile(`(?m)^- passage (\d+) \(page (\d+)\): (.+)$`)
	size      = regexp.MustCompile(`: (\d+) passages\.`)
)

const (
	short     = 12  // passages that are read whole
	brief     = 160 // passages of a document that is no annual report
	maxPlaces = 2   // that are opened for one thing
	// mostFilings is how many documents one search may name.
	mostFilings = 20
)

// look does what a careful person does for a question.
func (c *careful) look(ctx context.Context, question string) error {
	if _, err := c.call(ctx, "search_documents", map[string]any{"query": question, "limit": 10}); err != nil {
		return err
	}
	filings, all, err := c.filings(ctx, question)
	if err != nil {
		return err
	}
	if len(all) > len(filings) { // the answer may stand in a release or report that its name does not promise it in
		if _, err := c.call(ctx, "search_documents", map[string]any{"query": question, "documents": all, "limit": 10}); err != nil {
			return err
		}
	}
	for _, filing := range filings {
		if err := c.lookInto(ctx, question, filing); err != nil {
			return err
		}
	}
	return nil
}

// lookInto searches a filing, and opens what its outline has about the question. It reads a short
// one whole.
func (c *careful) lookInto(ctx context.Context, question, filing string) error {
	if _, err := c.call(ctx, "search_documents", map[string]any{"query": question, "documents": []string{filing}, "limit": 8}); err != nil {
		return err
	}
	outline, err := c.call(ctx, "outline", map[string]any{"document": filing})
	if err != nil {
		return err
	}
	var passages int
	if m := size.FindStringSubmatch(outline.Content); m != nil {
		fmt.Sscan(m[1], &passages)
	}
	if passages <= brief { // the beginning of a report or release sums it up
		if _, err := c.call(ctx, "read_document", map[string]any{"document": filing}); err != nil || passages <= short {
			return err
		}
	}
	if err := c.openStatements(ctx, question, filing); err != nil {
		return err
	}
	return c.openTopics(ctx, question, filing)
}

// openStatements finds the statements that a question is about by their names and by rows that they
// have, and opens their pages.
func (c *careful) openStatements(ctx context.Context, question, filing string) error {
	for _, s := range statements {
		if !s.asked.MatchString(question) {
			continue
		}
		var pages []string
		for _, word := range []string{"statement", "balance sheet"} {
			found, err := c.call(ctx, "outline", map[string]any{"document": filing, "words": word})
			if err != nil {
				return err
			}
			for _, m := range outlined.FindAllStringSubmatch(found.Content, -1) {
				if s.names.MatchString(m[3]) && !slices.Contains(pages, m[2]) {
					pages = append(pages, m[2])
				}
			}
		}
		opened := 0
		for _, page := range pages {
			has, err := c.pageHas(ctx, filing, page, s.row)
			if err != nil {
				return err
			}
			if has {
				opened++
			}
			if opened == maxPlaces {
				break
			}
		}
	}
	return nil
}

// pageHas opens a page, and reports whether it has a table with such rows. Only then what it shows
// counts as seen.
func (c *careful) pageHas(ctx context.Context, filing, page string, row *regexp.Regexp) (bool, error) {
	before := len(c.shown)
	r, err := c.call(ctx, "read_document", map[string]any{"document": filing, "pages": page})
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(r.Content) {
		if strings.Count(line, " | ") >= 2 && row.MatchString(line) {
			return true, nil
		}
	}
	c.shown = c.shown[:before]
	return false, nil
}

// openTopics opens the headings and tables whose words the question has, and finds its terms: words
// that follow each other.
func (c *careful) openTopics(ctx context.Context, question, filing string) error {
	words := topics(question)
	for _, term := range terms(question) {
		if _, err := c.call(ctx, "find_in_document", map[string]any{"document": filing, "words": `"` + term + `"`}); err != nil {
			return err
		}
	}
	for _, w := range words {
		found, err := c.call(ctx, "outline", map[string]any{"document": filing, "words": w})
		if err != nil {
			return err
		}
		for _, page := range pagesOf(found.Content) {
			var from int
			fmt.Sscan(page, &from)
			if _, err := c.call(ctx, "read_document", map[string]any{"document": filing, "pages": fmt.Sprintf("%d-%d", from, from+1)}); err != nil {
				return err
			}
		}
	}
	return nil
}

var note = fold(`^(table: )?notes? \d`)

// pagesOf returns the pages to open of an outline: those of notes to the accounts first, then the
// first and the last.
func pagesOf(outline string) (pages []string) {
	places := outlined.FindAllStringSubmatch(outline, -1)
	if len(places) == 0 {
		return nil
	}
	var ranked [][]string
	for _, m := range places {
		if note.MatchString(m[3]) {
			ranked = append(ranked, m)
		}
	}
	for _, m := range append(ranked, places[0], places[len(places)-1]) {
		if !slices.Contains(pages, m[2]) && len(pages) < maxPlaces {
			pages = append(pages, m[2])
		}
	}
	return pages
}

// filings returns the ids of the filings of the company that a question names: those of the years
// that it names first, then of the years after, whose reports repeat them. company are those of
// all years.
func (c *careful) filings(ctx context.Context, question string) (ids, company []string, err error) {
	list, err := c.call(ctx, "list_documents", map[string]any{})
	if err != nil {
		return nil, nil, err
	}
	first := c.found() // those that search found, best first
	type filing struct {
		id    string
		score int
	}
	var all []filing
	for _, m := range listed.FindAllStringSubmatch(list.Content, -1) {
		title := m[1]
		if score := nameScore(question, title); score > 0 {
			all = append(all, filing{m[2], 10*score + yearScore(question, title)})
		}
	}
	rank := func(f filing) int { return (slices.Index(first, f.id) + len(all) + 1) % (len(all) + 1) } // others are last
	slices.SortStableFunc(all, func(a, b filing) int { return cmp.Or(b.score-a.score, rank(a)-rank(b)) })
	for _, f := range all {
		if f.score/10 == all[0].score/10 {
			company = append(company, f.id)
		}
		if f.score/10 == all[0].score/10 && (len(ids) < 2 || len(ids) < 3 && f.score == all[0].score) {
			ids = append(ids, f.id)
		}
	}
	if len(ids) == 0 { // the question names none: the filing that search found first
		ids = first[:min(len(first), 1)]
	}
	return ids, company[:min(len(company), mostFilings)], nil
}

var notPlain = regexp.MustCompile(`[^a-z0-9&]+`)

func plain(text string) string {
	return strings.Join(strings.Fields(notPlain.ReplaceAllString(strings.ToLower(text), " ")), " ")
}

// found returns the documents of the passages that were seen, in their order.
func (c *careful) found() (ids []string) {
	for _, passage := range c.shown {
		if id := passage[:strings.LastIndexByte(passage, '.')]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// nameScore is 2 if a question has the company of a title, 1 if it has its first word or a short
// form of it.
func nameScore(question, title string) int {
	asked := " " + plain(question) + " "
	var company []string
	for _, w := range strings.Fields(title) {
		if formWords.MatchString(w) && len(company) > 0 {
			break
		}
		company = append(company, plain(w))
	}
	name := strings.Join(company, " ")
	squeezed := strings.ReplaceAll(asked, " ", "")
	switch {
	case name == "":
		return 0
	case strings.Contains(asked, " "+name+" "), len(name) > 4 && strings.Contains(squeezed, strings.ReplaceAll(name, " ", "")):
		return 2
	case strings.Contains(asked, " "+company[0]+" "), hasShortForm(question, company):
		return 1
	}
	return 0
}

var shortForm = regexp.MustCompile(`\b[A-Z][A-Za-z&]*[A-Z]\b`)

// hasShortForm reports whether a question has a short form of a company's name: the first letters of
// its words, with an n or & between, or letters of its name in their order, as AMEX.
func hasShortForm(question string, company []string) bool {
	initials := ""
	for _, w := range company {
		initials += w[:min(1, len(w))]
	}
	for _, form := range shortForm.FindAllString(question, -1) {
		if len(company) > 1 && strings.EqualFold(strings.NewReplacer("n", "", "&", "").Replace(form), initials) {
			return true
		}
		if form = strings.ToLower(form); len(form) >= 3 && len(form) <= 5 && inOrder(form, strings.Join(company, "")) {
			return true
		}
	}
	return false
}

// inOrder reports whether a name begins with the first two letters of a form and has the others in
// their order.
func inOrder(form, name string) bool {
	if !strings.HasPrefix(name, form[:2]) {
		return false
	}
	for _, r := range form {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+1:]
	}
	return true
}

var letters = regexp.MustCompile(`\pL[\pL&-]+|[.,;:?!()]`)

// common are words of questions that no heading is about.
var common = strings.Fields(`the and for from with what which who how much many does did has have had was were are is not this that then than its their
	company companies year years fiscal quarter amount question answer please give based using data information provided primarily round decimal place places
	state explain useful metric like end most recent between any all other used reported major drove driven change changed compare compared roughly times
	calculate defined among against as of in on by to at be if or an it into out over under about`)

// terms returns what stands together in a question: runs of two or three words that are not common.
func terms(question string) (out []string) {
	var run []string
	end := func() {
		if len(run) >= 2 && len(run) <= 3 {
			out = append(out, strings.Join(run, " "))
		}
		run = nil
	}
	for _, w := range letters.FindAllString(question, -1) {
		if len(w) < 2 || slices.Contains(common, strings.ToLower(w)) {
			end()
			continue
		}
		run = append(run, w)
	}
	end()
	return out[:min(len(out), 4)]
}

// topics returns the first letters of the words of a question that are not common: enough that
// their other forms have them, too.
func topics(question string) (out []string) {
	const stem = 8
	for _, w := range letters.FindAllString(question, -1) {
		w = strings.ToLower(w)
		if len(w) < 5 || slices.Contains(common, w) {
			continue
		}
		if w = strings.TrimSuffix(w, "s"); len(w) > stem {
			w = w[:stem]
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out[:min(len(out), 6)]
}

// yearScore is higher for the filing of the latest year that a question names, and of the years
// after it.
func yearScore(question, title string) int {
	var asked []string
	for _, m := range asksFor.FindAllStringSubmatch(question, -1) {
		y := m[0]
		if m[1] != "" {
			y = "20" + m[1]
		}
		asked = append(asked, y)
	}
	filed := year.FindString(title)
	if len(asked) == 0 || filed == "" {
		return 0
	}
	latest := slices.Max(asked)
	var a, f int
	fmt.Sscan(latest, &a)
	fmt.Sscan(filed, &f)
	switch f - a {
	case 0:
		return 9
	case 1:
		return 5
	case 2, -1:
		return 2
	}
	return 0
}

// call calls a tool as an agent does, and notes the passages that it shows.
func (c *careful) call(ctx context.Context, name string, arguments map[string]any) (tools.Result, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return tools.Result{}, err
	}
	i := slices.IndexFunc(c.tools, func(t tools.Tool) bool { return t.Name == name })
	if i < 0 {
		return tools.Result{}, fmt.Errorf("there is no tool %s", name)
	}
	if wrong := tools.Misfit(c.tools[i].Schema, raw); wrong != "" {
		return tools.Result{}, fmt.Errorf("%s: %s", name, wrong)
	}
	c.calls++
	r, err := c.tools[i].Run(ctx, tools.Call{Owner: owner, Arguments: raw})
	for _, id := range r.ChunkIDs {
		if !slices.Contains(c.shown, id) {
			c.shown = append(c.shown, id)
		}
	}
	return r, err
}
