package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/tools"
)

const (
	defaultPassages = 6  // of one query
	maxFound        = 24 // of all queries of a call
	maxNamed        = 20 // documents of one search
	maxSets         = 200
)

// SearchDocuments finds passages of the caller's documents.
func SearchDocuments(search Searcher, library Library) tools.Tool {
	return tools.Tool{
		Name: "search_documents",
		Description: "Search the person's documents. Returns passages that answers can cite. Search for the words that the documents would use: names, years and terms of the question are better than a sentence. " +
			"Search again with other words when little comes back, and for several things at once with also.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to look for"},
				"also": {"type": "array", "maxItems": 5, "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "description": "Further queries, searched at the same time"},
				"documents": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 300}, "description": "Search only these: titles or ids as list_documents shows them. Leave out to search all."},
				"set": {"type": "string", "maxLength": 300, "description": "Search only the documents of this set of the person: its name or id"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 12, "description": "How many passages for each query; 6 when left out"}
			},
			"required": ["query"],
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: tools.With("search_documents", func(ctx context.Context, c tools.Call, in struct {
			Query     string   `json:"query"`
			Also      []string `json:"also"`
			Documents []string `json:"documents"`
			Set       string   `json:"set"`
			Limit     int      `json:"limit"`
		}) (tools.Result, error) {
			in.Limit = cmp.Or(in.Limit, defaultPassages)
			only, why, err := scope(ctx, library, c.Owner, in.Documents[:min(len(in.Documents), maxNamed)], in.Set)
			if err != nil {
				return tools.Result{}, err
			}
			if why != "" {
				return tools.Failed(messages.Plain(why)), nil
			}
			queries := append([]string{in.Query}, in.Also...)
			found := make([][]chat.Hit, len(queries))
			g, gctx := errgroup.WithContext(ctx)
			for i, q := range queries {
				g.Go(func() (err error) {
					found[i], err = search.Search(gctx, c.Owner, q, only, min(in.Limit, maxPassages))
					return err
				})
			}
			if err := g.Wait(); err != nil {
				return tools.Result{}, err
			}
			return together(queries, found), nil
		}),
	}
}

// together returns the passages of several searches, each once: the best of each search, then the
// second best, and so on.
func together(queries []string, found [][]chat.Hit) tools.Result {
	var hits []chat.Hit
	seen := map[string]bool{}
	for rank := range maxPassages {
		for _, list := range found {
			if rank < len(list) && !seen[list[rank].ID] && len(hits) < maxFound {
				seen[list[rank].ID] = true
				hits = append(hits, list[rank])
			}
		}
	}
	if len(hits) == 0 {
		return tools.Result{Content: "Nothing was found."}
	}
	var places []string
	for _, h := range hits {
		places = append(places, where(h))
	}
	note := "In this order: " + strings.Join(places, ", ") + " of the document that each names. read_document shows what stands around a passage."
	for i, list := range found {
		if len(list) == 0 {
			note += "\nNothing was found for: " + shortName(queries[i])
		}
	}
	return passages(hits, note)
}

// scope returns the documents to search: those of the names, and those of the set; nil for all.
// why says what is wrong with a name.
func scope(ctx context.Context, library Library, owner string, names []string, set string) (ids []string, why string, _ error) {
	if len(names) > 0 {
		visible, err := library.VisibleDocuments(ctx, owner)
		if err != nil {
			return nil, "", err
		}
		for _, name := range names {
			found := named(visible, name)
			if len(found) == 0 {
				return nil, noDocument(name), nil
			}
			for _, d := range found {
				ids = append(ids, d.ID)
			}
		}
	}
	if set == "" {
		return ids, "", nil
	}
	page, err := library.ListSets(ctx, owner, "", maxSets)
	if err != nil {
		return nil, "", err
	}
	var others []string
	for _, s := range page.Items {
		if s.ID == set || strings.EqualFold(strings.TrimSpace(s.Name), strings.TrimSpace(set)) {
			if len(s.DocIDs) == 0 {
				return nil, "The set has no documents.", nil
			}
			return append(ids, s.DocIDs...), "", nil
		}
		others = append(others, shortName(s.Name))
	}
	return nil, "There is no set " + shortName(set) + ". The sets are: " + strings.Join(others[:min(len(others), maxPassages)], ", ") + ".", nil
}
