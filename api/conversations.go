package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

const (
	maxTitle   = 200
	idleStatus = "idle" // status of a conversation without open turns
)

type conversationJSON struct {
	ID            string `json:"id"`
	Title         string `json:"title"`
	CreatedAt     string `json:"created_at"`
	LastMessageAt string `json:"last_message_at"`
	Status        string `json:"status"`
	Approval      bool   `json:"approval,omitempty"` // interrupted by a question about tool calls
	Pinned        bool   `json:"pinned,omitempty"`
	Archived      bool   `json:"archived,omitempty"`
	SpaceID       string `json:"space_id,omitempty"`
	// Scope are the spaces whose documents a conversation in none reads, too.
	Scope  []string `json:"space_ids,omitempty"`
	Shared bool     `json:"shared,omitempty"`  // with those who read the space
	Author string   `json:"author,omitempty"`  // of one that somebody else shares
	Match  string   `json:"match,omitempty"`   // of a search: the words around the match in a message
	TurnID string   `json:"turn_id,omitempty"` // the turn of the message that it was created with
	// Documents are the documents that were used up to the newest head. Lists of
	// conversations leave them out.
	Documents []chat.DocRef `json:"documents,omitempty"`
}

func showConversation(v chat.Conversation) conversationJSON {
	last := v.LastMessageAt
	if last.IsZero() {
		last = v.CreatedAt
	}
	status := v.Status
	status = cmp.Or(status, idleStatus)
	return conversationJSON{ID: v.ID, Title: v.Title, CreatedAt: dialect.Stamp(v.CreatedAt), LastMessageAt: dialect.Stamp(last), Status: status, Approval: v.Approval, Match: v.Match, Pinned: v.Pinned, Archived: v.Archived, SpaceID: v.Space, Scope: v.Scope, Shared: v.Shared}
}

// showTo also shows who shares the conversation with a caller.
func showTo(caller string) func(chat.Conversation) conversationJSON {
	return func(v chat.Conversation) conversationJSON {
		out := showConversation(v)
		if v.Owner != caller {
			out.Author = v.Owner
		}
		return out
	}
}

func (s *server) listConversations(c *gin.Context) error {
	var p dialect.Problems
	n := request.Limit(c, &p, 30, 100)
	q := strings.TrimSpace(request.Query(c, &p, "q", request.MaxQuery))
	cursor := request.Query(c, &p, "cursor", request.MaxCursor)
	archived := p.Choice("archived", c.Query("archived"), "false", "true")
	if archived && q != "" {
		p.Add("archived", "cannot be combined with q")
	}
	if err := p.Err(); err != nil {
		return err
	}
	page, err := s.conversationPage(c.Request.Context(), identity.Of(c).ID, q, archived, cursor, n)
	if err != nil {
		return err
	}
	s.checkConversations(c.Request.Context(), identity.Of(c).ID, page.Items)
	return respond(c, http.StatusOK, listOf(page, showTo(identity.Of(c).ID)))
}

func (s *server) conversationPage(ctx context.Context, owner, q string, archived bool, cursor string, n int) (db.Page[chat.Conversation], error) {
	if archived {
		return s.Store.ArchivedConversations(ctx, owner, cursor, n)
	}
	return s.Store.ListConversations(ctx, owner, q, cursor, n)
}

type conversationBody struct {
	ID      *string `json:"id"`
	Title   *string `json:"title"`
	Message *string `json:"message"`
}

// createConversation creates a conversation, or returns the existing one with this
// id. A message starts its first turn, which the thread's stream shows.
func (s *server) createConversation(c *gin.Context) error {
	var b conversationBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	var p dialect.Problems
	v := chat.Conversation{ID: uuid.NewString(), Owner: who.ID, Space: db.SpaceOf(ctx), CreatedAt: s.now(), Status: idleStatus}
	if b.ID != nil && *b.ID != "" {
		v.ID = p.UUID("id", *b.ID)
	}
	if b.Title != nil {
		v.Title = chat.OneLine(*b.Title)
		p.Text("title", v.Title, 0, maxTitle)
	}
	message := ""
	if b.Message != nil {
		message = strings.TrimSpace(*b.Message)
		p.Text("message", message, 1, chat.MaxMessage)
	}
	if err := p.Err(); err != nil {
		return err
	}
	if err := s.boardThread(ctx, who.ID, v.ID); err != nil {
		return err
	}
	counted, err := s.admitThread(ctx, who, v.ID)
	if err != nil {
		return err
	}
	made, err := s.limits.Insert(who).CreateConversation(ctx, v)
	if err != nil {
		counted.Refund(ctx)
		return err
	}
	out := showConversation(made)
	if message != "" {
		turn, err := s.submit(ctx, who, dialect.Submit{
			ThreadID: made.ID, OnBusy: chat.Supersede, AgentUnset: true,
			Content: chat.Content{Message: message, Agent: chat.AgentDocuments},
		})
		if err != nil {
			return err
		}
		turn.early.Close() // this request does not follow the turn
		out.TurnID = turn.ID
	}
	return respond(c, http.StatusCreated, out)
}

// admitThread counts a conversation that does not exist yet, or refuses it with 429.
func (s *server) admitThread(ctx context.Context, who identity.Caller, id string) (*limits.Admission, error) {
	if _, err := s.Store.Conversation(ctx, who.ID, id); !notFound(err) {
		return &limits.Admission{}, nil
	}
	return s.limits.AdmitThread(ctx, who)
}

func (s *server) getConversation(c *gin.Context, id string) error {
	who := identity.Of(c).ID
	ctx, owner, err := s.author(c.Request.Context(), who, id)
	if err != nil {
		return err
	}
	v, err := s.Store.Conversation(ctx, owner, id)
	if err != nil {
		return err
	}
	one := []chat.Conversation{v}
	s.checkConversations(ctx, owner, one)
	out := showTo(who)(one[0])
	if out.Documents, err = s.documentsOf(ctx, owner, id); err != nil {
		return err
	}
	return respond(c, http.StatusOK, out)
}

// author returns the owner of a conversation that somebody else shares with the space of ctx,
// and a context in which owner reads it; owner for their own.
func (s *server) author(ctx context.Context, owner, id string) (_ context.Context, author string, err error) {
	if db.SpaceOf(ctx) == "" {
		return ctx, owner, nil
	}
	author, err = s.Store.AuthorInSpace(ctx, owner, id)
	return db.ReadBy(ctx, owner), author, err
}

// branchConversation copies a branch of a shared conversation to one of the caller's own.
func (s *server) branchConversation(c *gin.Context, id string) error {
	head, err := readHead(c)
	if err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	counted, err := s.limits.AdmitThread(ctx, who)
	if err != nil {
		return err
	}
	made, err := s.limits.Insert(who).CopyBranch(ctx, id, head, chat.Conversation{ID: uuid.NewString(), Owner: who.ID, Space: db.SpaceOf(ctx), CreatedAt: s.now()})
	if err != nil {
		counted.Refund(ctx)
		return err
	}
	return respond(c, http.StatusCreated, showConversation(made))
}

// documentsOf returns the documents that were used up to the newest settled turn.
func (s *server) documentsOf(ctx context.Context, owner, thread string) ([]chat.DocRef, error) {
	head, err := s.Store.Head(ctx, owner, thread)
	if err != nil {
		return nil, err
	}
	for head != chat.RootCheckpoint {
		t, err := s.Store.Turn(ctx, owner, head)
		if err != nil {
			return nil, err
		}
		if t.Status.Settled() {
			return s.Store.Registry(ctx, owner, thread, head)
		}
		head = t.Parent
	}
	return nil, nil
}

func (s *server) patchConversation(c *gin.Context, id string) error {
	var b conversationPatch
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	change, err := b.change()
	if err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	if change.Shared != nil {
		if err := s.checkOwner(ctx, who.ID, id); err != nil {
			return err
		}
		if db.SpaceOf(ctx) == "" {
			return problem.Invalid("shared", "needs the space of the conversation ("+spaceHeader+")")
		}
	}
	v, err := s.Store.ChangeConversation(ctx, who.ID, id, change)
	if err != nil {
		return err
	}
	if change.Shared != nil {
		s.Audit.Record(entry(who, audit.ConversationShared, map[string]any{"conversation": id, "space": v.Space, "shared": v.Shared}))
	}
	return respond(c, http.StatusOK, showConversation(v))
}

func (s *server) deleteConversation(c *gin.Context, id string) error {
	return respondEmpty(c, s.removeConversation(c.Request.Context(), identity.Of(c), id))
}

// removeConversation ends the workflow first, so that it does not write to deleted rows.
// It deletes the histories before the row, because a retry needs the row.
func (s *server) removeConversation(ctx context.Context, who identity.Caller, id string) error {
	if _, err := s.Store.Conversation(ctx, who.ID, id); err != nil {
		return err
	}
	if err := s.Threads.Delete(ctx, id); err != nil {
		return problem.Engine(err)
	}
	if err := s.Threads.ForgetThread(ctx, id); err != nil {
		return problem.Engine(err)
	}
	if err := s.Store.DeleteConversation(ctx, who.ID, id); err != nil {
		return err
	}
	s.deleted(who, "conversation", id)
	return nil
}
