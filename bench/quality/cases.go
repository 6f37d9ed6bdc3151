package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed testdata
var testdata embed.FS

// testCase is one message and the expected outcome.
type testCase struct {
	category string
	action   string   // talk, * (any), or one of actions
	docs     []string // keys of documents, in any order
	anyDocs  bool     // the documents do not matter
	question string   // type of the expected question; "" for none, ask for any, * when it does not matter
	earlier  []earlierMessage
	message  string
}

// earlierMessage is a message that precedes the measured one in its conversation.
type earlierMessage struct {
	docs []string
	text string
}

// document is a document of a set's library.
type document struct{ key, title, text string }

// readCases reads the tables of one set, a folder of testdata.
func readCases(set string, now time.Time) ([]testCase, error) {
	files, err := fs.Glob(testdata, "testdata/"+set+"/*.txt")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no tables of the set %q", set), err)
	}
	var out []testCase
	for _, file := range files {
		b, err := testdata.ReadFile(file)
		if err != nil {
			return nil, err
		}
		category := strings.TrimSuffix(path.Base(file), ".txt")
		for i, line := range strings.Split(strings.TrimSpace(withYears(string(b), now)), "\n") {
			c, err := readCase(category, line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func withYears(text string, now time.Time) string {
	return strings.NewReplacer("{year}", strconv.Itoa(now.Year()), "{last}", strconv.Itoa(now.Year()-1)).Replace(text)
}

func readCase(category, line string) (testCase, error) {
	columns := strings.SplitN(line, " | ", 4)
	if len(columns) < 4 {
		return testCase{}, fmt.Errorf("a case has four columns: %q", line)
	}
	for i := range columns[:3] {
		columns[i] = strings.TrimSpace(columns[i])
	}
	c := testCase{category: category, action: columns[0], anyDocs: columns[1] == "*", question: columns[2]}
	if c.question == "-" {
		c.question = ""
	}
	if columns[1] != "*" && columns[1] != "-" {
		c.docs = strings.Fields(columns[1])
	}
	messages := strings.Split(strings.ReplaceAll(columns[3], `\n`, "\n"), " >> ")
	for _, m := range messages[:len(messages)-1] {
		var e earlierMessage
		if keys, rest, ok := strings.Cut(strings.TrimPrefix(m, "["), "] "); ok && strings.HasPrefix(m, "[") {
			e.docs, m = strings.Fields(keys), rest
		}
		e.text = m
		c.earlier = append(c.earlier, e)
	}
	c.message = messages[len(messages)-1]
	return c, nil
}

// sampleTitles maps the keys that the tables use to the beginnings of the titles of the
// public sample documents.
var sampleTitles = map[string]string{
	"circular": "Circular 2025/04", "supplier": "Supplier Contract", "email": "Email: Customer list",
	"rw24": "Remote Work and Customer Data Policy 2024", "rw25": "Remote Work and Customer Data Policy 2025",
}

// readLibrary reads the documents of a set: a title in the first line, then the text. A
// set without its own documents has those of the common library.
func readLibrary(set string, now time.Time) ([]document, error) {
	files, err := fs.Glob(testdata, "testdata/"+set+"/library/*.md")
	if err == nil && len(files) == 0 {
		files, err = fs.Glob(testdata, "testdata/library/*.md")
	}
	if err != nil {
		return nil, err
	}
	var out []document
	for _, file := range files {
		b, err := testdata.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text := withYears(string(b), now)
		title, _, _ := strings.Cut(text, "\n")
		out = append(out, document{strings.TrimSuffix(path.Base(file), ".md"), strings.TrimPrefix(title, "# "), text})
	}
	return out, nil
}
