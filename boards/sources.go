package boards

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/naming"
)

// Library is the part of a store with the documents that items come from.
type Library interface {
	VisibleDocuments(ctx context.Context, owner string) ([]chat.Document, error)
	DocumentText(ctx context.Context, owner, id string) (string, error)
	DocumentChunks(ctx context.Context, owner, docID string, limit int) ([]chat.Hit, error)
}

// maxChunks is the most passages of a document that are read to find that of a quote.
const maxChunks = 20_000

// Source checks the document of an addition, and completes p: for an input that stands for a
// document, the title and the beginning of the text; for a citation, the place of its quote
// in the document. A document is named by its id or its title. An error about the parameters
// is a *board.Invalid.
func Source(ctx context.Context, lib Library, owner string, p *board.Params) error {
	if p.DocumentID != "" {
		if err := sourceInput(ctx, lib, owner, p); err != nil {
			return err
		}
	}
	if p.Citation != nil {
		c, err := locate(ctx, lib, owner, *p.Citation)
		if err != nil {
			return err
		}
		p.Citation = &c
	}
	return nil
}

func sourceInput(ctx context.Context, lib Library, owner string, p *board.Params) error {
	doc, text, err := document(ctx, lib, owner, "document_id", p.DocumentID)
	if err != nil {
		return err
	}
	p.DocumentID = doc.ID
	if strings.TrimSpace(p.Title) == "" {
		p.Title = cut(chat.OneLine(cmp.Or(doc.Label, doc.Title)), board.MaxTitle)
	}
	if strings.TrimSpace(p.Text) == "" {
		p.Text = strings.TrimSpace(cut(strings.TrimSpace(text), board.MaxText))
	}
	return nil
}

// locate completes a citation with the words, the place and the passage of its document.
func locate(ctx context.Context, lib Library, owner string, c board.Citation) (board.Citation, error) {
	if n := len([]rune(c.Quote)); n > board.MaxQuote {
		return c, &board.Invalid{Field: "citation.quote", Problem: "is too long: quote the sentence that says it"}
	}
	doc, text, err := document(ctx, lib, owner, "citation.document_id", c.DocumentID)
	if err != nil {
		return c, err
	}
	start, end, found := cite.Locate(text, c.Quote)
	if !found {
		return c, &board.Invalid{Field: "citation.quote", Problem: "is not in the document: quote it word for word"}
	}
	quote := string([]rune(text)[start:end])
	if len([]rune(quote)) > board.MaxQuote { // the document's white space can make it longer
		return c, &board.Invalid{Field: "citation.quote", Problem: "is too long: quote the sentence that says it"}
	}
	out := board.Citation{DocumentID: doc.ID, Title: cut(chat.OneLine(cmp.Or(doc.Label, doc.Title)), board.MaxTitle), Quote: quote, Start: start, End: end}
	chunks, err := lib.DocumentChunks(ctx, owner, doc.ID, maxChunks)
	if err != nil {
		return c, err
	}
	for _, chunk := range chunks { // the last passage that begins before the quote
		if chunk.Start <= start {
			out.ChunkID = chunk.ID
		}
	}
	return out, nil
}

// document finds a ready document that owner may see, by its id or title, with its text.
func document(ctx context.Context, lib Library, owner, field, name string) (chat.Document, string, error) {
	visible, err := lib.VisibleDocuments(ctx, owner)
	if err != nil {
		return chat.Document{}, "", err
	}
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(visible, func(d chat.Document) bool { return d.ID == name })
	if i < 0 {
		i = slices.IndexFunc(visible, func(d chat.Document) bool { return naming.Is(d, name) })
	}
	if i < 0 {
		i = onlyPart(visible, name)
	}
	if i < 0 {
		return chat.Document{}, "", &board.Invalid{Field: field, Problem: "names no document of the library"}
	}
	text, err := lib.DocumentText(ctx, owner, visible[i].ID)
	if errors.Is(err, db.ErrNotFound) {
		return chat.Document{}, "", &board.Invalid{Field: field, Problem: "names a document whose text is not there yet"}
	}
	return visible[i], text, err
}

// onlyPart returns the index of the only document whose names contain name; -1: none, or
// several.
func onlyPart(docs []chat.Document, name string) int {
	only := -1
	for i, d := range docs {
		switch {
		case name == "" || !naming.Holds(d, name):
		case only >= 0:
			return -1
		default:
			only = i
		}
	}
	return only
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}
