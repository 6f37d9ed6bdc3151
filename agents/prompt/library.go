package prompt

import (
	"cmp"
	"context"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/llm"
)

// LibraryStore reads what a person has.
type LibraryStore interface {
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	ListImports(ctx context.Context, owner, threadID, turnID string, limit int) ([]chat.Import, error)
}

// Library returns all documents that a person may see, and after them the imports that failed
// before there was a document.
func Library(ctx context.Context, store LibraryStore, owner string) ([]llm.Document, error) {
	docs, err := store.VisibleDocuments(ctx, owner)
	if err != nil {
		return nil, err
	}
	list, err := store.ListImports(ctx, owner, "", "", imports.Listed)
	out, newer := Known(docs), map[string]bool{}
	for _, i := range list { // the newest first
		if i.State == chat.ImportFailed && i.DocID == "" && !newer[i.Key] {
			out = append(out, llm.Document{Title: cmp.Or(i.Name, i.URL), Status: string(chat.DocFailed), Added: i.CreatedAt, Imported: true})
		}
		newer[i.Key] = true
	}
	return out, err
}
