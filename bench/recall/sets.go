package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/chunk"
)

// Parts of a set. Weights and word lists are chosen by the results of the tuned part; the
// held-out part only checks that choice.
const (
	tuned   = "tuned"
	heldOut = "held out"
)

// set is documents with questions about them.
type set struct {
	name      string
	documents []document
	items     []item
}

type document struct {
	id, title, text string
	chunks          []chat.Chunk
}

// item is a question with the passages that answer it. It has a label for each thing
// that must be found, and any of a label's passages is enough.
type item struct {
	text, part string
	labels     []map[string]bool // ids of passages
}

func load(ctx context.Context, o options) (sets []set, err error) {
	for _, name := range strings.Split(o.sets, ",") {
		var s set
		switch name {
		case "debian":
			s, err = debian(ctx, o.docs)
		case "policies", "contracts":
			s, err = everyday(name)
		case "regulations":
			if o.obliqa == "" {
				continue
			}
			s, err = regulations(o.obliqa, o.sample)
		default:
			err = fmt.Errorf("-sets: %q is not known", name)
		}
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// debian has one document. All its questions are in the tuned part, because the search
// was tuned on them before this command had parts.
func debian(ctx context.Context, dir string) (set, error) {
	policy, checklist, err := documents(ctx, dir)
	if err != nil {
		return set{}, err
	}
	l, err := parse(policy, checklist)
	if err != nil {
		return set{}, err
	}
	d := document{"policy", "Debian Policy Manual", l.text, chunk.ForDocument("policy", l.text)}
	s := set{name: "debian", documents: []document{d}}
	for _, change := range l.items {
		q := item{text: change.text, part: tuned}
		for _, number := range change.sections {
			label := map[string]bool{}
			for _, c := range d.chunks {
				if l.touches(c.Start, c.End, number) {
					label[c.ID] = true
				}
			}
			q.labels = append(q.labels, label)
		}
		s.items = append(s.items, q)
	}
	return s, nil
}

//go:embed testdata
var files embed.FS

// everyday reads the questions of one folder and the documents of both, so that a
// question also competes with the documents of the other set. The last question of each
// section is held out.
func everyday(name string) (set, error) {
	s := set{name: name}
	sections := map[string]map[string]bool{} // by document / heading
	for _, folder := range []string{"policies", "contracts"} {
		names, err := files.ReadDir("testdata/" + folder)
		if err != nil {
			return set{}, err
		}
		for _, f := range names {
			key, isDocument := strings.CutSuffix(f.Name(), ".md")
			if !isDocument {
				continue
			}
			text, err := files.ReadFile(path.Join("testdata", folder, f.Name()))
			if err != nil {
				return set{}, err
			}
			d := document{id: key, text: string(text), chunks: chunk.ForDocument(key, string(text))}
			d.title = strings.TrimPrefix(strings.SplitN(d.text, "\n", 2)[0], "# ")
			s.documents = append(s.documents, d)
			for heading, label := range sectionsOf(d) {
				sections[key+" / "+heading] = label
			}
		}
	}
	questions, err := files.ReadFile("testdata/" + name + "/questions.txt")
	if err != nil {
		return set{}, err
	}
	var label map[string]bool
	for line := range strings.Lines(string(questions)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.Contains(line, " / "):
			if label = sections[line]; label == nil {
				return set{}, fmt.Errorf("%s: no section %q", name, line)
			}
			if n := len(s.items); n > 0 {
				s.items[n-1].part = heldOut
			}
		default:
			s.items = append(s.items, item{line, tuned, []map[string]bool{label}})
		}
	}
	s.items[len(s.items)-1].part = heldOut
	return s, nil
}

// sectionsOf returns, by heading, the ids of the passages that overlap a section of a
// document.
func sectionsOf(d document) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	at, heading := 0, ""
	for line := range strings.Lines(d.text) {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.TrimSpace(h)
			out[heading] = map[string]bool{}
		}
		end := at + utf8.RuneCountInString(line)
		for _, c := range d.chunks {
			if heading != "" && strings.TrimSpace(line) != "" && at < c.End && c.Start < end {
				out[heading][c.ID] = true
			}
		}
		at = end
	}
	return out
}

// regulations reads ObliQA and keeps its passages. It takes up to sample questions each
// of its development and test files, chosen by the hash of their ids.
func regulations(dir string, sample int) (set, error) {
	s := set{name: "regulations"}
	names, err := filepath.Glob(filepath.Join(dir, "StructuredRegulatoryDocuments", "*.json"))
	if err != nil || len(names) == 0 {
		return set{}, fmt.Errorf("-obliqa: no StructuredRegulatoryDocuments in %s", dir)
	}
	slices.Sort(names)
	at := map[string]string{} // ids of passages by ObliQA's document and passage ids
	for _, name := range names {
		var passages []struct {
			PassageID, Passage string
			DocumentID         int
		}
		if err := readJSON(name, &passages); err != nil {
			return set{}, err
		}
		id := "d" + strings.TrimSuffix(filepath.Base(name), ".json")
		d := document{id: id, title: "Regulations " + id}
		for _, p := range passages {
			text := p.PassageID + " " + strings.TrimSpace(p.Passage)
			start := utf8.RuneCountInString(d.text)
			n := len(d.chunks)
			c := chat.Chunk{ID: id + "." + strconv.Itoa(n), DocID: id, Ordinal: n, Text: text, Start: start, End: start + utf8.RuneCountInString(text)}
			d.chunks, d.text = append(d.chunks, c), d.text+text+"\n\n"
			at[fmt.Sprint(p.DocumentID, " ", p.PassageID)] = c.ID
		}
		s.documents = append(s.documents, d)
	}
	for file, part := range map[string]string{"ObliQA_dev.json": tuned, "ObliQA_test.json": heldOut} {
		var questions []struct {
			QuestionID, Question string
			Passages             []struct {
				DocumentID int
				PassageID  string
			}
		}
		if err := readJSON(filepath.Join(dir, file), &questions); err != nil {
			return set{}, err
		}
		slices.SortFunc(questions, func(a, b struct {
			QuestionID, Question string
			Passages             []struct {
				DocumentID int
				PassageID  string
			}
		}) int {
			return strings.Compare(mixed(a.QuestionID), mixed(b.QuestionID))
		})
		for _, q := range questions[:min(sample, len(questions))] {
			it := item{text: q.Question, part: part}
			for _, p := range q.Passages {
				if id := at[fmt.Sprint(p.DocumentID, " ", p.PassageID)]; id != "" {
					it.labels = append(it.labels, map[string]bool{id: true})
				}
			}
			s.items = append(s.items, it)
		}
	}
	return s, nil
}

// mixed returns a hash of an id, to sort ids in an order that does not depend on them.
func mixed(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return fmt.Sprintf("%016x", h.Sum64())
}

func readJSON(name string, into any) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
