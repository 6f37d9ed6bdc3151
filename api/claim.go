package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/claims"
	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/db/audit"
)

type claimJSON struct {
	Conversations int `json:"conversations"` // given to the caller by this request
	Documents     int `json:"documents"`
	// Left is how many conversations were not moved, because one runs a turn, a file is
	// processed or the time was up; at least 1 in these cases. A later request moves the rest.
	Left int `json:"left"`
}

// claim gives the caller what this browser's anonymous user has stored. Only the signed
// cookie of the request identifies that user. When everything is moved, the cookie is
// revoked.
func (s *server) claim(c *gin.Context) error {
	who := identity.Of(c)
	if who.Anonymous {
		return errNoAccount
	}
	from := s.identity.CookieOwner(c.Request)
	if from == "" || from == who.ID {
		return respond(c, http.StatusOK, claimJSON{})
	}
	if err := s.limits.AdmitChange(c.Request.Context(), who, "claims"); err != nil {
		return err
	}
	claimer := s.claimer()
	moved, err := claimer.Claim(c.Request.Context(), from, who.ID)
	if err == nil && moved.Left == 0 {
		if err = s.identity.EndSessions(c, identity.Caller{ID: from, By: credential.Cookie}, false); err == nil {
			var late claims.MovedCounts // by requests that began before the cookie was revoked
			late, err = claimer.Claim(c.Request.Context(), from, who.ID)
			moved.Conversations += late.Conversations
			moved.Documents += late.Documents
		}
	}
	if moved.Conversations+moved.Documents > 0 {
		s.Audit.Record(entry(who, audit.Claimed, map[string]any{"from": from, "conversations": moved.Conversations, "documents": moved.Documents, "left": moved.Left}))
	}
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, claimJSON(moved))
}

// claimer returns a Claimer whose errors of the engine are responses.
func (s *server) claimer() *claims.Claimer {
	return &claims.Claimer{
		Store: s.Store,
		ChangeOwner: func(ctx context.Context, thread, to string) error {
			return problem.Engine(s.Threads.ChangeOwner(ctx, thread, to))
		},
		SettleLost: s.settleBusy,
		Accounts:   s.Accounts.Claim,
	}
}
