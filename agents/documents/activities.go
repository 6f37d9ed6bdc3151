// Package documents has the agent that answers from the person's documents: its workflow code
// (agent.go), its activities, its rules about messages (intent, mention) and its prompts.
package documents

import (
	"context"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/retrieval"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/tools"
)

// Searcher picks the passages an answer may use.
type Searcher interface {
	// Select searches the documents of docIDs; none means every document that owner
	// may see. known are documents of docIDs that the caller has read already.
	Select(ctx context.Context, owner string, action chat.Action, query string, docIDs []string, known ...chat.Document) (retrieval.Selection, error)
	// Respell corrects words of a query that occur in no document.
	Respell(ctx context.Context, owner, query string, docIDs []string) (string, error)
}

// Activities are those of the documents agent. They are safe for concurrent use.
type Activities struct {
	*activities.Kit
	Search Searcher
	Web    tools.WebSearch // nil: no web search
	// ImportPlaces are those whose links messages import, beside Google Drive.
	ImportPlaces []links.Place
}

// acts names activities; it is never called.
var acts *Activities

// Register registers the activities under the names of their methods.
func (a *Activities) Register(r worker.ActivityRegistry) {
	for _, activity := range []any{
		a.IntentByRules, a.DocsByRules, a.InferIntent, a.InferDocs, a.ReadAnswer, a.Retrieve, a.SayImporting,
		a.WebConfigured, a.WordWebQuery, a.SearchWeb, a.Write,
	} {
		r.RegisterActivity(activity)
	}
}
