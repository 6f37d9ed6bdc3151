package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/documents/naming"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

const (
	maxDocuments = 100
	maxTitle     = 200 // characters of a title
)

// ListDocuments lists the documents that the caller may see.
func ListDocuments(docs Documents) Tool {
	return Tool{
		Name:        "list_documents",
		Description: "List the person's documents: title, id and state, newest first.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"title": {"type": "string", "maxLength": 300, "description": "Only documents whose title holds this"}
			},
			"additionalProperties": false
		}`),
		Approval: Never,
		Run: func(ctx context.Context, c Call) (Result, error) {
			in := struct {
				Title string `json:"title"`
			}{}
			if err := json.Unmarshal(c.Arguments, &in); err != nil {
				return Failed(messages.ToolUnreadable), nil
			}
			visible, err := docs.VisibleDocuments(ctx, c.Owner)
			if err != nil {
				return Result{}, fmt.Errorf("list_documents: %w", err)
			}
			return Result{Content: listed(visible, in.Title)}, nil
		},
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
		title := llm.Data(language.Truncate(chat.OneLine(cmp.Or(d.Label, d.Title)), maxTitle))
		lines = append(lines, fmt.Sprintf("- %s (id %s, %s)", title, d.ID, d.Status))
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
