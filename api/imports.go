package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/imports/links"
)

type importJSON struct {
	ID             string             `json:"id"`
	URL            string             `json:"url"`
	SourceType     chat.SourceType    `json:"source_type"`
	ConversationID string             `json:"conversation_id,omitempty"`
	Name           string             `json:"name,omitempty"`
	State          chat.ImportState   `json:"state"`
	Outcome        chat.ImportOutcome `json:"outcome,omitempty"`
	DocumentID     string             `json:"document_id,omitempty"`
	Chunks         int                `json:"chunks,omitempty"`
	Code           string             `json:"code,omitempty"`
	Message        string             `json:"message"`
	messages.Coded
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// importsJSON is a list of imports, newest first.
type importsJSON struct {
	Imports []importJSON `json:"imports"`
}

func showImport(i chat.Import) importJSON {
	message := imports.Progress(i)
	if i.State.Final() {
		message = imports.Ended(i)
	}
	return importJSON{ID: i.ID, URL: i.URL, SourceType: i.Source, ConversationID: i.ThreadID, Name: cmp.Or(i.Title, i.Name), State: i.State, Outcome: i.Outcome,
		DocumentID: i.DocID, Chunks: i.Chunks, Code: i.Code, Message: message.Text, Coded: message.Coded, CreatedAt: dialect.Stamp(i.CreatedAt), UpdatedAt: dialect.Stamp(i.UpdatedAt)}
}

// listedImports is the most imports in one list.
const listedImports = 100

type importBody struct {
	URL            string `json:"url"`
	ConversationID string `json:"conversation_id"`
}

func (s *server) createImport(c *gin.Context) error {
	var b importBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	var p dialect.Problems
	p.Text("url", b.URL, 1, links.MaxLength)
	if b.ConversationID != "" {
		p.UUIDs("conversation_id", []string{b.ConversationID})
	}
	if err := p.Err(); err != nil {
		return err
	}
	who := identity.Of(c)
	if b.ConversationID != "" {
		_, err := s.Store.Conversation(c.Request.Context(), who.ID, b.ConversationID)
		if errors.Is(err, db.ErrNotFound) {
			return problem.InvalidField("conversation_id", messages.FieldConversation)
		}
		if err != nil {
			return err
		}
	}
	i, err := s.beginImport(c.Request.Context(), who, chat.Import{ThreadID: b.ConversationID, URL: b.URL, Announce: b.ConversationID != ""})
	if err != nil {
		return err
	}
	return respond(c, http.StatusAccepted, showImport(i))
}

// beginImport records and starts an import for the caller who.
func (s *server) beginImport(ctx context.Context, who identity.Caller, i chat.Import) (chat.Import, error) {
	if err := s.limits.AdmitChange(ctx, who, "imports"); err != nil {
		return i, err
	}
	if s.Model.Embedding != "" {
		if err := s.limits.AdmitPaid(ctx, who, "uploads"); err != nil {
			return i, err
		}
	}
	ctx, cancel := request.Detached(ctx)
	defer cancel()
	i.ID, i.Owner, i.CreatedAt = uuid.NewString(), who.ID, s.now()
	i, err := s.imports().Begin(ctx, s.limits.Insert(who), i)
	var refused *imports.Error
	if errors.As(err, &refused) {
		return i, problem.InvalidField("url", refused.Message())
	}
	return i, err
}

func (s *server) imports() *imports.Jobs {
	return &imports.Jobs{Store: s.Store, Places: s.ImportSources.Places(), Start: func(ctx context.Context, owner, key string) error {
		start, done := request.FractionOfDeadline(ctx, 2)
		defer done()
		return problem.Engine(s.Threads.Import(start, owner, key))
	}}
}

func (s *server) listImports(c *gin.Context) error {
	var p dialect.Problems
	conversation := request.Query(c, &p, "conversation_id", dialect.MaxID)
	if conversation != "" {
		p.UUIDs("conversation_id", []string{conversation})
	}
	if err := p.Err(); err != nil {
		return err
	}
	list, err := s.Store.ListImports(c.Request.Context(), identity.Of(c).ID, conversation, "", listedImports)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, importsJSON{showAll(list, showImport)})
}

// reimport imports a document from its source again.
func (s *server) reimport(c *gin.Context, id string) error {
	who := identity.Of(c)
	d, err := s.Store.Document(c.Request.Context(), who.ID, id)
	switch {
	case err != nil:
		return err
	case d.Owner != who.ID:
		return db.ErrForbidden
	case d.SourceURL == "":
		return problem.InvalidField("id", messages.FieldNoSource)
	}
	i, err := s.beginImport(c.Request.Context(), who, chat.Import{URL: d.SourceURL})
	if err != nil {
		return err
	}
	return respond(c, http.StatusAccepted, showImport(i))
}
