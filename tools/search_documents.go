package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/naming"
	"github.com/palaver-chat/palaver/llm"
)

// Searcher finds passages of the documents that owner may see, best first. Without docIDs it
// searches all of them.
type Searcher interface {
	Search(ctx context.Context, owner, query string, docIDs []string, k int) ([]chat.Hit, error)
}

// Documents lists the documents that owner may see, newest first.
type Documents interface {
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
}

const (
	defaultPassages = 6
	maxPassages     = 12
	maxNamed        = 20 // documents of one search
)

// SearchDocuments finds passages of the caller's documents.
func SearchDocuments(search Searcher, docs Documents) Tool {
	return Tool{
		Name:        "search_documents",
		Description: "Search the person's documents. Returns passages that answers can cite. Search for the words that the documents would use; search again with other words when little comes back.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for"},
				"documents": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 300}, "description": "Search only these: titles or ids as list_documents shows them. Leave out to search all."},
				"limit": {"type": "integer", "minimum": 1, "maximum": 12, "description": "How many passages; 6 when left out"}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
		Approval: Never,
		Run: func(ctx context.Context, c Call) (Result, error) {
			in := struct {
				Query     string   `json:"query"`
				Documents []string `json:"documents"`
				Limit     int      `json:"limit"`
			}{}
			if err := json.Unmarshal(c.Arguments, &in); err != nil {
				return Failed(messages.ToolUnreadable), nil
			}
			if in.Limit == 0 {
				in.Limit = defaultPassages
			}
			only, unknown, err := findNamed(ctx, docs, c.Owner, in.Documents[:min(len(in.Documents), maxNamed)])
			if err != nil {
				return Result{}, fmt.Errorf("search_documents: %w", err)
			}
			if unknown != "" {
				return Failed(messages.Plain("No document is called " + llm.Data(unknown) + ". list_documents shows what there is.")), nil
			}
			hits, err := search.Search(ctx, c.Owner, in.Query, only, min(in.Limit, maxPassages))
			if err != nil {
				return Result{}, fmt.Errorf("search_documents: %w", err)
			}
			return shown(hits), nil
		},
	}
}

// shown formats passages, numbered from 1, as they are shown to a person. Prompts have their
// own format.
func shown(hits []chat.Hit) Result {
	if len(hits) == 0 {
		return Result{Content: "Nothing was found."}
	}
	var r Result
	var passages []string
	for i, h := range hits {
		r.ChunkIDs = append(r.ChunkIDs, h.ID)
		source := chat.OneLine(h.Title)
		if h.Heading != "" && h.Heading != h.Title {
			source += ", " + chat.OneLine(h.Heading)
		}
		passages = append(passages, fmt.Sprintf("[%d] %s\n%s", i+1, source, h.Text))
	}
	r.Content = strings.Join(passages, "\n\n")
	return r
}

// findNamed returns the documents that a model names by id, title or part of a title; unknown is
// the first name without a match.
func findNamed(ctx context.Context, docs Documents, owner string, names []string) (ids []string, unknown string, _ error) {
	if len(names) == 0 {
		return nil, "", nil
	}
	visible, err := docs.VisibleDocuments(ctx, owner)
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		found := byName(visible, strings.TrimSpace(name))
		if len(found) == 0 {
			return nil, name, nil
		}
		ids = append(ids, found...)
	}
	return ids, "", nil
}

// byName returns the documents with this id or name, else those whose names contain it.
func byName(visible []chat.Document, name string) (ids []string) {
	if name == "" {
		return nil
	}
	var part []string
	for _, d := range visible {
		switch {
		case strings.EqualFold(d.ID, name) || naming.Is(d, name):
			ids = append(ids, d.ID)
		case naming.Holds(d, name):
			part = append(part, d.ID)
		}
	}
	if len(ids) == 0 {
		return part
	}
	return ids
}
