// Command finance measures search on the annual reports of FinanceBench
// (github.com/patronus-ai/financebench), of companies whose names begin with A to J.
//
//	go -C bench run ./finance -data path/to/financebench/.git
//
// It needs a clone of that repository, of which it reads the questions and the PDFs that they
// are about; nothing of them is kept, but for the texts in the folder -cache if it is given.
//
//   - first: for how many questions that name a company and a year the first passage is of the
//     right filing.
//   - recall@10: for how many questions a page with the answer is among those of the first ten
//     passages, when the filing is searched, and when all are.
//   - after the loop: for how many questions such a page is among what a careful person sees who
//     uses the tools of agents (careful.go), with the mean numbers of passages and calls.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/tools/lookup"
)

const (
	owner = "bench"
	best  = 10 // passages of a search
)

type question struct {
	Company, Question string
	Doc               string `json:"doc_name"`
	Evidence          []struct {
		Doc  string `json:"doc_name"`
		Page int    `json:"evidence_page_num"` // from 0
	}
}

func main() {
	data := flag.String("data", "", "git directory of a clone of FinanceBench")
	cache := flag.String("cache", "", "folder in which the texts of the PDFs are kept for the next run")
	verbose := flag.Bool("verbose", false, "print the questions whose page was not found, and those with another filing first")
	flag.Parse()
	if err := run(context.Background(), *data, *cache, *verbose); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, data, cache string, verbose bool) error {
	questions, err := readQuestions(ctx, data)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "palaver-finance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "palaver.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	stored := map[string]error{}
	for _, q := range questions {
		if _, tried := stored[q.Doc]; !tried {
			if stored[q.Doc] = storeFiling(ctx, store, data, cache, q.Doc); stored[q.Doc] != nil {
				log.Printf("%s is left out: %v", q.Doc, stored[q.Doc]) // a clone may lack large files
			}
		}
	}
	questions = slices.DeleteFunc(questions, func(q question) bool { return stored[q.Doc] != nil })
	search := retrieval.New(store, nil)
	var named, first, inFiling, inAll, afterLoop, seen, calls int
	for _, q := range questions {
		one, err := search.Search(ctx, owner, q.Question, []string{q.Doc}, best)
		if err != nil {
			return err
		}
		all, err := search.Search(ctx, owner, q.Question, nil, best)
		if err != nil {
			return err
		}
		found, foundInAll := q.hasPage(one), q.hasPage(all)
		inFiling += count(found)
		inAll += count(foundInAll)
		person := careful{tools: lookup.Tools(store, search)}
		if err := person.look(ctx, q.Question); err != nil {
			return err
		}
		shown, err := store.ChunksByID(ctx, owner, person.shown)
		if err != nil {
			return err
		}
		looked := q.hasPage(shown)
		afterLoop, seen, calls = afterLoop+count(looked), seen+len(shown), calls+person.calls
		right := len(all) > 0 && all[0].DocID == q.Doc
		if q.namesFiling() {
			named++
			first += count(right)
		}
		if verbose && (!foundInAll || !looked || q.namesFiling() && !right) {
			fmt.Printf("%s: page in filing %v, in all %v, after the loop %v, first %v: %s\n", q.Doc, found, foundInAll, looked, right, q.Question)
		}
	}
	n, filings := float64(len(questions)), map[string]bool{}
	for _, q := range questions {
		filings[q.Doc] = true
	}
	fmt.Printf("%d filings, %d questions\nfirst: %.3f of %d\nrecall@%d in the filing: %.3f\nrecall@%d over all: %.3f\nafter the loop: %.3f, with %.0f passages in %.1f calls\n",
		len(filings), len(questions), float64(first)/float64(named), named, best, float64(inFiling)/n, best, float64(inAll)/n,
		float64(afterLoop)/n, float64(seen)/n, float64(calls)/n)
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func readQuestions(ctx context.Context, data string) (list []question, err error) {
	raw, err := show(ctx, data, "data/financebench_open_source.jsonl")
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		var q question
		if err := d.Decode(&q); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if c := strings.ToUpper(q.Company); c != "" && c[0] >= 'A' && c[0] <= 'J' {
			list = append(list, q)
		}
	}
}

func show(ctx context.Context, data, file string) ([]byte, error) {
	return exec.CommandContext(ctx, "git", "--git-dir", data, "show", "HEAD:"+file).Output()
}

// hasPage reports whether a hit stands on a page with the answer.
func (q question) hasPage(hits []chat.Hit) bool {
	return slices.ContainsFunc(hits, func(h chat.Hit) bool {
		return slices.ContainsFunc(h.Pages, func(p chat.PageStart) bool {
			for _, e := range q.Evidence {
				if h.DocID == e.Doc && p.Page == e.Page+1 {
					return true
				}
			}
			return false
		})
	})
}

var year = regexp.MustCompile(`(?:19|20)\d\d`)

// namesFiling reports whether a question has the company's name, or its first word, and the year
// of the filing's name.
func (q question) namesFiling() bool {
	asked := strings.ToLower(q.Question)
	company, _, _ := strings.Cut(strings.ToLower(q.Company), " ")
	y := year.FindString(q.Doc)
	return y != "" && strings.Contains(asked, company) && (strings.Contains(asked, y) || strings.Contains(asked, "fy"+y[2:]))
}

// storeFiling stores a PDF as the product does.
func storeFiling(ctx context.Context, store *sqlite.Store, data, cache, name string) error {
	c, err := filing(ctx, data, cache, name)
	if err != nil {
		return err
	}
	title, _ := naming.FromFile(name + ".pdf")
	d := chat.Document{ID: name, Owner: owner, Title: title, Name: name + ".pdf", Format: "pdf"}
	if err := store.CreateDocument(ctx, d, []byte("-")); err != nil {
		return err
	}
	chunks := chunk.ForDocument(d.ID, c.Text)
	chunk.SetPages(chunks, c.Pages)
	return store.StoreVersion(ctx, owner, d.ID, "", db.OwnNames{Others: append([]string{c.Title}, c.Names...)}, c.Text, chunks, "", nil)
}

func filing(ctx context.Context, data, cache, name string) (c extract.Content, err error) {
	kept := filepath.Join(cache, name+".json")
	if cache != "" {
		if raw, err := os.ReadFile(kept); err == nil {
			return c, json.Unmarshal(raw, &c)
		}
	}
	raw, err := show(ctx, data, "pdfs/"+name+".pdf")
	if err != nil {
		return c, err
	}
	if c, err = extract.All().Content(ctx, "pdf", raw); err != nil || cache == "" {
		return c, err
	}
	text, err := json.Marshal(c)
	return c, errors.Join(err, os.WriteFile(kept, text, 0o600))
}
