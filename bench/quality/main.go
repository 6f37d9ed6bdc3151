// Command quality measures how well the documents agent understands messages. It sends
// tables of messages to a running server, as a person would, and compares the outcome of
// each with the expected one.
//
//	go -C bench run ./quality                                  # the server of this checkout
//	go -C bench run ./quality -before path/to/older/server     # and an older one beside it
//	go -C bench run ./quality -sets tuned -verbose             # what went wrong, message by message
//
// It measures the offline engine, and a scripted model that answers what the table
// expects: this measures the rules around a model, not the model.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

const limit = 20 * time.Minute

func main() {
	server := flag.String("server", "../bin/palaver-standalone", "the server to measure (make build makes it)")
	before := flag.String("before", "", "an older server to measure, too")
	sets := flag.String("sets", "tuned,heldout,fresh,second,railway,clinic,museum,sailing", "sets of messages")
	engines := flag.String("engines", "offline,scripted", "engines to measure")
	into := flag.String("into", "", "document to write the table into, such as ../docs/quality.md")
	verbose := flag.Bool("verbose", false, "print each message with a wrong outcome, and the figures of each category")
	only := flag.String("only", "", "only messages of this category")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	b := bench{now: time.Now(), verbose: *verbose, only: *only}
	table, err := b.compare(ctx, *before, *server, strings.Split(*sets, ","), strings.Split(*engines, ","))
	if err == nil && *into != "" {
		err = stack.WriteInto(*into, "bench/quality", table)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table)
}

type bench struct {
	now     time.Time
	verbose bool
	only    string
}

// compare measures each engine on each server and returns a Markdown table.
func (b bench) compare(ctx context.Context, before, server string, sets, engines []string) (string, error) {
	var out strings.Builder
	out.WriteString("| engine | messages | intent | documents | questions: precision | recall | honest \"not found\" |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, engine := range engines {
		for _, release := range []struct{ name, server string }{{", before", before}, {"", server}} {
			if release.server == "" {
				continue
			}
			lines, err := b.measure(ctx, release.server, engine, sets)
			if err != nil {
				return "", fmt.Errorf("%s%s: %w", engine, release.name, err)
			}
			for _, set := range sets {
				s := lines[set]
				fmt.Fprintf(&out, "| %s%s | %s | %s | %s | %s | %s | %s |\n", engine, release.name, set, s.intent, s.docs, s.precision, s.recall, s.honest)
			}
		}
	}
	return out.String(), nil
}

// measure runs all cases of the sets on one server with one engine.
func (b bench) measure(ctx context.Context, server, engine string, sets []string) (map[string]score, error) {
	var model *llmtest.Server
	url := ""
	if engine == "scripted" {
		var err error
		if model, err = llmtest.Listen("127.0.0.1:0", llmtest.Pace{}); err != nil {
			return nil, err
		}
		defer model.Close()
		url = model.URL
	}
	s, err := stack.StartOn(ctx, server, url, os.Stderr)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	out := map[string]score{}
	for _, set := range sets {
		r := runner{bench: b, model: model}
		if err := r.prepare(ctx, s, set); err != nil {
			return nil, err
		}
		if out[set], err = r.set(ctx, set); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runner is one user with the library of a set.
type runner struct {
	bench
	model *llmtest.Server // nil: the offline engine
	user  *stack.User
	ids   map[string]string // by key
	keys  map[string]string // by id
}

func (r *runner) prepare(ctx context.Context, s *stack.Stack, set string) (err error) {
	if r.user, err = s.NewUser(); err != nil {
		return err
	}
	r.ids, r.keys = map[string]string{}, map[string]string{}
	library, err := readLibrary(set, r.now)
	if err != nil {
		return err
	}
	for _, d := range library {
		if r.ids[d.key], err = r.user.UploadText(ctx, d.title, d.text); err != nil {
			return err
		}
	}
	seen, err := titles(ctx, r.user)
	if err != nil {
		return err
	}
	for key, begin := range sampleTitles {
		for title, id := range seen {
			if strings.HasPrefix(title, begin) {
				r.ids[key] = id
			}
		}
	}
	for key, id := range r.ids {
		r.keys[id] = key
	}
	return nil
}

func (r *runner) set(ctx context.Context, set string) (score, error) {
	cases, err := readCases(set, r.now)
	if err != nil {
		return score{}, err
	}
	var total score
	byCategory := map[string]*score{}
	for _, c := range cases {
		if r.only != "" && c.category != r.only {
			continue
		}
		want, err := r.known(c.docs)
		if err != nil {
			return score{}, err
		}
		got, err := r.run(ctx, c)
		if err != nil {
			return score{}, fmt.Errorf("%q: %w", c.message, err)
		}
		s, wrong := judge(c, got, want)
		total.add(s)
		if byCategory[c.category] == nil {
			byCategory[c.category] = &score{}
		}
		byCategory[c.category].add(s)
		if r.verbose && len(wrong) > 0 {
			said := strings.Join(wrong, "; ")
			for id, key := range r.keys {
				said = strings.ReplaceAll(said, id, key)
			}
			fmt.Printf("%s %q: want %s %v %s: %s\n", c.category, c.message, c.action, c.docs, c.question, said)
		}
	}
	if r.verbose {
		for category, s := range byCategory {
			fmt.Printf("= %s %s: intent %s, documents %s, precision %s, recall %s, honest %s\n", set, category, s.intent, s.docs, s.precision, s.recall, s.honest)
		}
	}
	return total, nil
}

func (r *runner) known(keys []string) ([]string, error) {
	var ids []string
	for _, key := range keys {
		if r.ids[key] == "" {
			return nil, fmt.Errorf("no document has the key %q", key)
		}
		ids = append(ids, r.ids[key])
	}
	return ids, nil
}

// run sends the messages of a case and returns the outcome of the last one.
func (r *runner) run(ctx context.Context, c testCase) (outcome, error) {
	thread := uuid.NewString()
	for _, e := range c.earlier {
		action := "inquire"
		if strings.HasPrefix(e.text, "Summarize") {
			action = "summarize"
		}
		if err := r.script(testCase{action: action, docs: e.docs, message: e.text}); err != nil {
			return outcome{}, err
		}
		got, err := say(ctx, r.user, thread, e.text)
		for err == nil && got.question != "" && len(got.options) > 0 {
			got, err = answer(ctx, r.user, thread, got)
		}
		if err != nil {
			return outcome{}, err
		}
	}
	if err := r.script(c); err != nil {
		return outcome{}, err
	}
	return say(ctx, r.user, thread, c.message)
}

func (r *runner) script(c testCase) error {
	if r.model == nil {
		return nil
	}
	docs, err := r.known(c.docs)
	if err != nil {
		return err
	}
	if c.question == "doc_choice" && len(docs) == 0 {
		for id, key := range r.keys {
			if strings.Contains(c.message, "leave") && strings.HasPrefix(key, "leave") || strings.Contains(c.message, "northwind") && strings.HasPrefix(key, "northwind") {
				docs = append(docs, id)
			}
		}
	}
	script(r.model, c, docs, c.question == "text_input" && c.category == "names")
	return nil
}
