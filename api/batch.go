package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/errgroup"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

const (
	maxBatch    = 50 // conversations of one request, so that it ends in time
	batchAtOnce = 4
)

type batchBody struct {
	IDs    []string `json:"ids"`
	Action string   `json:"action"`
}

type batchJSON struct {
	Done   []string      `json:"done"`
	Failed []batchFailed `json:"failed"`
}

type batchFailed struct {
	ID      string `json:"id"`
	Code    string `json:"code"`
	Message string `json:"message"`
	messages.Coded
}

// batchActions are the actions on several conversations. Each is idempotent.
var batchActions = map[string]func(s *server, ctx context.Context, who identity.Caller, id string) error{
	"archive":   markArchived(true),
	"unarchive": markArchived(false),
	"delete": func(s *server, ctx context.Context, who identity.Caller, id string) error {
		if err := s.removeConversation(ctx, who, id); !errors.Is(err, db.ErrNotFound) {
			return err
		}
		return nil // it was deleted before
	},
}

func markArchived(archived bool) func(*server, context.Context, identity.Caller, string) error {
	return func(s *server, ctx context.Context, who identity.Caller, id string) error {
		_, err := s.Store.ChangeConversation(ctx, who.ID, id, db.ConversationChange{Archived: &archived})
		return err
	}
}

// changeConversations applies one action to several conversations. If it fails for one,
// the others are still changed.
func (s *server) changeConversations(c *gin.Context) error {
	var b batchBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	var p dialect.Problems
	act := batchActions[b.Action]
	if act == nil {
		p.Add("action", "must be archive, unarchive or delete")
	}
	if len(b.IDs) == 0 || len(b.IDs) > maxBatch {
		p.Add("ids", "must be 1 to 50 ids")
	} else {
		b.IDs = p.UUIDs("ids", b.IDs)
	}
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	errs := make([]error, len(b.IDs))
	var g errgroup.Group
	g.SetLimit(batchAtOnce)
	for i, id := range b.IDs {
		g.Go(func() error {
			if errs[i] = s.checkBound(ctx, who, id); errs[i] == nil {
				errs[i] = act(s, ctx, who, id)
			}
			return nil
		})
	}
	_ = g.Wait()
	out := batchJSON{Done: []string{}, Failed: []batchFailed{}}
	for i, id := range b.IDs {
		if errs[i] == nil {
			out.Done = append(out.Done, id)
			continue
		}
		why := describe(errs[i])
		if why.Status == http.StatusInternalServerError {
			s.Log.Error("change of a conversation in a batch failed", "request_id", request.ID(c), "thread", id, "action", b.Action, "error", errs[i])
		}
		out.Failed = append(out.Failed, batchFailed{id, why.Code, why.Message.Text, why.Message.Coded})
	}
	return respond(c, http.StatusOK, out)
}

type conversationPatch struct {
	Title    *string `json:"title"`
	Pinned   *bool   `json:"pinned"`
	Archived *bool   `json:"archived"`
	Shared   *bool   `json:"shared"` // with those who read the conversation's space
}

// change validates a patch and returns it for the store.
func (b conversationPatch) change() (db.ConversationChange, error) {
	if b.Title == nil && b.Pinned == nil && b.Archived == nil && b.Shared == nil {
		return db.ConversationChange{}, problem.Invalid("title", "or pinned, archived or shared is needed")
	}
	var p dialect.Problems
	if b.Title != nil {
		title := chat.OneLine(*b.Title)
		p.Text("title", title, 1, maxTitle)
		b.Title = &title
	}
	if b.Pinned != nil && b.Archived != nil && *b.Pinned && *b.Archived {
		p.Add("archived", "cannot be true together with pinned")
	}
	return db.ConversationChange(b), p.Err()
}
