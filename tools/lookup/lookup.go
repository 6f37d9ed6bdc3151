// Package lookup has the tools with which agents look things up in the documents that a person
// may see: one file for each, and the list of all in Tools.
//
// A tool is a function that returns a tools.Tool. Its result is either a text, or passages that
// an answer can cite (passages), with a note on where they stand and how to read on. Every read
// is of the call's owner, and bounded; what cannot be found is a text that says so, and no error,
// because the model goes on from it.
package lookup

import (
	"context"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/tools"
)

// Searcher finds passages of the documents that owner may see, best first. Without docIDs it
// searches all of them.
type Searcher interface {
	Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error)
}

// Library is the part of a store that the tools read.
type Library interface {
	// VisibleDocuments lists the documents that owner may see, newest first.
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	// DocumentChunks lists a document's first limit passages in order.
	DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error)
	ListSets(ctx context.Context, owner, cursor string, limit int) (db.Page[chat.DocumentSet], error)
}

// Tools returns the tools. Add one here.
func Tools(library Library, search Searcher) tools.List {
	return tools.List{
		SearchDocuments(search, library),
		FindInDocument(library),
		ReadDocument(library, search),
		Outline(library),
		QueryTable(library),
		ListDocuments(library),
		Calculate(),
	}
}

const (
	// maxPassages is the number of passages of one result.
	maxPassages = 12
	// maxRead is the number of passages of a document that one call looks at: about 10 MB.
	maxRead = 10_000
)

// passages returns a result with the passages, which prompts number across the whole turn. note
// says where they stand; where adds it for each passage.
func passages(hits []chat.Hit, note string) tools.Result {
	r := tools.Result{Note: note}
	var shown []string
	for i, h := range hits {
		r.ChunkIDs = append(r.ChunkIDs, h.ID)
		source := chat.OneLine(h.Title)
		if h.Heading != "" && h.Heading != h.Title {
			source += ", " + chat.OneLine(h.Heading)
		}
		shown = append(shown, fmt.Sprintf("[%d] %s\n%s", i+1, source, h.Text))
	}
	if note != "" {
		shown = append([]string{note}, shown...)
	}
	r.Content = strings.Join(shown, "\n\n")
	return r
}

// where says which passage of its document a hit is, and on which page it begins.
func where(h chat.Hit) string {
	place := fmt.Sprintf("passage %d", h.Ordinal)
	if page := chat.PageAt(h.Pages, h.Start); page > 0 {
		place += fmt.Sprintf(" (page %d)", page)
	}
	return place
}

// one returns the document that a model names by id, title or a part of a title. why says what is
// wrong when it is none or several.
func one(ctx context.Context, docs Library, owner, name string) (doc chat.Document, why string, _ error) {
	visible, err := docs.VisibleDocuments(ctx, owner)
	if err != nil {
		return doc, "", err
	}
	found := named(visible, name)
	switch len(found) {
	case 0:
		return doc, noDocument(name), nil
	case 1:
		return found[0], "", nil
	}
	var lines []string
	for _, d := range found[:min(len(found), maxPassages)] {
		lines = append(lines, line(d))
	}
	return doc, "Several documents are called like that. Name one by its id, or ask the person which one is meant:\n" + strings.Join(lines, "\n"), nil
}

// documentArgument names the document that a tool looks at.
type documentArgument struct {
	Document string `json:"document"`
}

func (d documentArgument) name() string { return d.Document }

// withPassages is tools.With for a tool that looks at all passages of the document that its
// arguments name.
func withPassages[In interface{ name() string }](name string, library Library, run func(ctx context.Context, in In, doc chat.Document, all []chat.Hit) (tools.Result, error)) func(context.Context, tools.Call) (tools.Result, error) {
	return tools.With(name, func(ctx context.Context, c tools.Call, in In) (tools.Result, error) {
		doc, why, err := one(ctx, library, c.Owner, in.name())
		if err != nil || why != "" {
			return tools.Result{Content: why}, err
		}
		all, err := library.DocumentChunks(ctx, c.Owner, doc.ID, maxRead)
		if err != nil {
			return tools.Result{}, err
		}
		return run(ctx, in, doc, all)
	})
}

func noDocument(name string) string {
	return "No document is called " + shortName(name) + ". list_documents shows what there is."
}

func shortName(name string) string { return language.Truncate(chat.OneLine(name), maxTitle) }

// named returns the documents with this id or name, else those whose names contain it.
func named(visible []chat.Document, name string) (found []chat.Document) {
	if name = strings.TrimSpace(name); name == "" {
		return nil
	}
	var part []chat.Document
	for _, d := range visible {
		switch {
		case strings.EqualFold(d.ID, name) || naming.Is(d, name):
			found = append(found, d)
		case naming.Holds(d, name):
			part = append(part, d)
		}
	}
	if len(found) == 0 {
		return part
	}
	return found
}
