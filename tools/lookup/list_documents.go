package lookup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

const (
	maxDocuments = 100
	maxTitle     = 200 // characters of a title
)

// ListDocuments lists the documents that the caller may see.
func ListDocuments(docs Library) tools.Tool {
	return tools.Tool{
		Name:        "list_documents",
		Description: "List the person's documents: title, id and state, newest first.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"title": {"type": "string", "maxLength": 300, "description": "Only documents whose title holds this"}
			},
			"additionalProperties": false
		}`),
		Approval: tools.Never,
		Run: tools.With("list_documents", func(ctx context.Context, c tools.Call, in struct {
			Title string `json:"title"`
		}) (tools.Result, error) {
			visible, err := docs.VisibleDocuments(ctx, c.Owner)
			if err != nil {
				return tools.Result{}, err
			}
			return tools.Result{Content: listed(visible, in.Title)}, nil
		}),
	}
}

func listed(visible []chat.Document, part string) string {
	part = strings.TrimSpace(part)
	var lines []string
	fits := 0
	for _, d := range visible {
		if !naming.Holds(d, part) {
			continue
		}
		if fits++; fits > maxDocuments {
			continue
		}
		lines = append(lines, line(d))
	}
	switch {
	case fits == 0 && part == "":
		return "There are no documents."
	case fits == 0:
		return "No document's title holds that."
	case fits > maxDocuments:
		lines = append(lines, fmt.Sprintf("and %d more; name a part of the title to see them", fits-maxDocuments))
	}
	return strings.Join(lines, "\n")
}

// line describes a document in a list.
func line(d chat.Document) string {
	return fmt.Sprintf("- %s (id %s, %s)", llm.Data(title(d)), d.ID, d.Status)
}

func title(d chat.Document) string {
	return language.Truncate(chat.OneLine(cmp.Or(d.Label, d.Title)), maxTitle)
}
