package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/audit"
)

type claimJSON struct {
	Conversations int `json:"conversations"` // given to the caller by this request
	Documents     int `json:"documents"`
	// Left is how many conversations were not moved, because one runs a turn, a file is
	// processed or the time was up; at least 1 in these cases. A later request moves the rest.
	Left int `json:"left"`
}

var errNoAccount = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden,
	Message: messages.NoAccount}

// claimReserve is the time that a claim reserves for sending its response.
const claimReserve = 3 * time.Second

// claim gives the caller what this browser's anonymous user has stored. Only the signed
// cookie of the request identifies that user. When everything is moved, the cookie is
// revoked.
func (s *server) claim(c *gin.Context) error {
	who := identity.Of(c)
	if who.Anonymous || who.Key != "" {
		return errNoAccount
	}
	from := s.identity.CookieOwner(c.Request)
	if from == "" {
		c.JSON(http.StatusOK, claimJSON{})
		return nil
	}
	if err := s.limits.AdmitChange(c.Request.Context(), who, "claims"); err != nil {
		return err
	}
	moved, err := s.claimFrom(c.Request.Context(), from, who.ID)
	if err == nil && moved.Left == 0 {
		if err = s.identity.EndSessions(c, from, false); err == nil {
			err = s.claimLate(c.Request.Context(), from, who.ID, &moved)
		}
	}
	if moved.Conversations+moved.Documents > 0 {
		s.Audit.Record(entry(who, audit.Claimed, map[string]any{"from": from, "conversations": moved.Conversations, "documents": moved.Documents, "left": moved.Left}))
	}
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, moved)
	return nil
}

// claimLate moves what was stored by requests that began before the cookie was revoked.
func (s *server) claimLate(ctx context.Context, from, to string, moved *claimJSON) error {
	late, err := s.claimFrom(ctx, from, to)
	moved.Conversations += late.Conversations
	moved.Documents += late.Documents
	return err
}

// claimFrom moves conversations first, then the rest: a turn that runs needs its documents.
// It moves nothing while a turn runs or a file is processed, because a conversation must not
// wait for its documents: its next answer would be given without them.
func (s *server) claimFrom(ctx context.Context, from, to string) (moved claimJSON, _ error) {
	data, err := s.Store.UserData(ctx, from)
	if err != nil {
		return moved, err
	}
	if busy, err := s.isInUse(ctx, from); err != nil || busy {
		moved.Left = max(1, len(data.Threads))
		return moved, err
	}
	for i, id := range data.Threads {
		if due, ok := ctx.Deadline(); ok && time.Until(due) < claimReserve {
			moved.Left += len(data.Threads) - i
			break
		}
		done, err := s.claimThread(ctx, from, to, id)
		switch {
		case err != nil:
			return moved, err
		case done:
			moved.Conversations++
		default:
			moved.Left++
		}
	}
	if moved.Left > 0 {
		return moved, nil
	}
	documents, done, err := s.claimRest(ctx, from, to)
	moved.Documents = documents
	if err == nil && !done {
		moved.Left = 1
	}
	return moved, err
}

// isInUse reports whether a turn of owner runs or a file is processed. Lost turns are
// settled first: they would be in use for ever.
func (s *server) isInUse(ctx context.Context, owner string) (bool, error) {
	if files, err := s.Store.UnfinishedFiles(ctx, owner); err != nil || files > 0 {
		return true, err
	}
	if err := s.settleBusy(ctx, owner); err != nil {
		return true, err
	}
	threads, err := s.Store.BusyThreads(ctx, owner, 1)
	return len(threads) > 0, err
}

// claimThread changes the owner of the workflow first, because the workflow refuses that
// while a turn runs. If moving the rows then fails, the next claim moves them.
func (s *server) claimThread(ctx context.Context, from, to, id string) (done bool, _ error) {
	err := s.Threads.ChangeOwner(ctx, id, to)
	var refused *chat.Refused
	if errors.As(err, &refused) && refused.Code == chat.CodeTurnRunning {
		return false, nil
	}
	if err != nil {
		return false, problem.Engine(err)
	}
	if err := s.Store.ClaimThread(ctx, from, to, id); err != nil && !errors.Is(err, db.ErrNotFound) {
		return false, err
	}
	return true, nil
}

func (s *server) claimRest(ctx context.Context, from, to string) (documents int, done bool, _ error) {
	keys, err := s.Store.Keys(ctx, from)
	if err != nil {
		return 0, false, err
	}
	documents, done, err = s.Store.ClaimRest(ctx, from, to)
	if err != nil || !done {
		return 0, false, err
	}
	for _, k := range keys {
		s.identity.ForgetKey(k.Digest)
	}
	return documents, true, s.Accounts.Claim(ctx, from, to)
}
