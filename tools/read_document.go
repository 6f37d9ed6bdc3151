package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/palaver-chat/palaver/boards"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/llm"
)

// readDocument reads one document for the agent of discovery boards. If the document is not
// found, the result is not an error, because it must not count as a failed proposal.
func readDocument(lib boards.Library, search Searcher) Tool {
	return Tool{
		Name: board.ToolRead,
		Description: "Read a document of the person's library, to propose facts from it or to answer with citations. Returns up to 12 passages in their order, beginning with passage number from. " +
			"With a query it returns the passages that fit it. Call it again with a higher from until nothing comes.",
		Schema: json.RawMessage(`{
			"type": "object",
			"required": ["document"],
			"properties": {
				"document": {"type": "string", "minLength": 1, "maxLength": 300, "description": "The document's title or id"},
				"from": {"type": "integer", "minimum": 0, "maximum": 100000, "description": "How many passages to skip; 0 when left out"},
				"query": {"type": "string", "maxLength": 1000, "description": "Only passages about this"}
			}
		}`),
		Approval: Never, Only: chat.AgentDiscovery,
		Run: func(ctx context.Context, c Call) (Result, error) {
			var in struct {
				Document string `json:"document"`
				From     int    `json:"from"`
				Query    string `json:"query"`
			}
			if err := json.Unmarshal(c.Arguments, &in); err != nil {
				return Failed(messages.ToolUnreadable), nil
			}
			ids, unknown, err := findNamed(ctx, lib, c.Owner, []string{in.Document})
			switch {
			case err != nil:
				return Result{}, fmt.Errorf("read_document: %w", err)
			case unknown != "":
				return Result{Content: "No document is called " + llm.Data(unknown) + "."}, nil
			case len(ids) > 1:
				return Result{Content: "Several documents are called like " + llm.Data(in.Document) + ". Ask the person which one is meant."}, nil
			}
			var hits []chat.Hit
			if in.Query != "" {
				hits, err = search.Search(ctx, c.Owner, in.Query, ids, maxPassages)
			} else if hits, err = lib.DocumentChunks(ctx, c.Owner, ids[0], in.From+maxPassages); err == nil {
				hits = hits[min(in.From, len(hits)):]
			}
			if err != nil {
				return Result{}, fmt.Errorf("read_document: %w", err)
			}
			if len(hits) == 0 {
				return Result{Content: "There is no further passage in this document."}, nil
			}
			return shown(hits), nil
		},
	}
}
