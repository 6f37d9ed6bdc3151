package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

// UserRemover deletes all data of a user. After an error, call it again to continue.
type UserRemover interface {
	Remove(ctx context.Context, user string) error
}

// deleteMe deletes all data of the caller. The query must have the caller's own id as
// confirmation.
func (s *server) deleteMe(c *gin.Context) error {
	who := identity.Of(c)
	switch {
	case s.Users == nil:
		return problem.NotFound
	case c.Query("confirm") != who.ID:
		return problem.Invalid("confirm", "must be the caller's id")
	}
	err := s.Users.Remove(c.Request.Context(), who.ID)
	switch {
	case err != nil && db.Unavailable(err):
		return err
	case err != nil:
		return problem.Engine(err)
	}
	s.Audit.Record(entry(who, audit.Deleted, map[string]any{"what": "user"}))
	s.Log.Info("user deleted their data", "request_id", request.ID(c))
	if who.By == credential.Cookie {
		s.identity.SignOut(c)
	}
	return respondEmpty(c, nil)
}
