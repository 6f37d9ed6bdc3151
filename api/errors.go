package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
)

// describe returns the error response for an error.
func describe(err error) *problem.Problem {
	var (
		p        *problem.Problem
		problems dialect.Problems
		renamed  dialect.RenamedFields
		refused  *chat.RefusedError
		large    *http.MaxBytesError
		exceeded *db.Exceeded
	)
	switch {
	case errors.As(err, &renamed):
		p := *describe(renamed.Err)
		p.Details = renamed.Details(p.Details)
		return &p
	case errors.As(err, &p):
		return p
	case errors.As(err, &problems):
		return &problem.Problem{Status: http.StatusBadRequest, Code: chat.CodeValidation,
			Message: messages.RequestInvalid, Details: problems}
	case errors.As(err, &refused):
		return describeRefusal(refused)
	case errors.As(err, &exceeded):
		return limits.Refusal(exceeded)
	case errors.As(err, &large):
		return &problem.Problem{Status: http.StatusRequestEntityTooLarge, Code: chat.CodeTooLarge, Message: messages.RequestTooLarge}
	case errors.Is(err, db.ErrNotFound):
		return problem.NotFound
	case errors.Is(err, db.ErrBadCursor):
		return describe(problem.Invalid("cursor", "is not a cursor of this list"))
	case errors.Is(err, db.ErrTurnConflict):
		return &problem.Problem{Status: http.StatusConflict, Code: chat.CodeTurnConflict,
			Message: messages.TurnIDUsed,
			Details: dialect.Problems{{Field: "client_turn_id", Problem: "was used with different content"}}}
	case errors.Is(err, db.ErrVersion):
		return &problem.Problem{Status: http.StatusPreconditionFailed, Code: chat.CodeVersionConflict,
			Message: messages.OtherVersion}
	case errors.Is(err, db.ErrForbidden):
		return &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.PublicDocument}
	case errors.Is(err, db.ErrLastManager):
		return describe(problem.Invalid("role", "is that of the last manager"))
	case errors.Is(err, db.ErrManySpaces):
		return describe(problem.Invalid("name", "is one too many: a person can have "+strconv.Itoa(db.MaxSpaces)+" spaces"))
	case errors.Is(err, db.ErrManyMembers):
		return describe(problem.Invalid("id", "is one too many: a space can have "+strconv.Itoa(db.MaxSpaceMembers)+" members"))
	case errors.Is(err, db.ErrSameName):
		return describe(problem.Invalid("name", "is not that of the space"))
	case errors.Is(err, db.ErrProcessing):
		return describe(problem.Invalid("space_id", "must wait: the document is still processed"))
	case errors.Is(err, db.ErrOtherSpace):
		return describe(problem.Invalid("space_id", "is not that of the conversation"))
	case errors.Is(err, db.ErrSameSource):
		return describe(problem.Invalid("space_id", "is a place that has the document of this source"))
	case errors.Is(err, db.ErrUnavailable):
		return &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeDatabase, Cause: err,
			Message: messages.DatabaseDown}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeInternal, Cause: err,
			Message: messages.TooSlow}
	}
	return &problem.Problem{Status: http.StatusInternalServerError, Code: chat.CodeInternal, Cause: err,
		Message: messages.Internal}
}

func describeRefusal(r *chat.RefusedError) *problem.Problem {
	switch r.Code {
	case chat.CodeTurnRunning:
		p := &problem.Problem{Status: http.StatusConflict, Code: r.Code, Message: messages.TurnRunning, TurnID: r.TurnID}
		if r.TurnID != "" {
			p.Details = dialect.Problems{{Field: "turn_id", Problem: r.TurnID}}
		}
		return p
	case chat.CodeTurnBegun:
		return &problem.Problem{Status: http.StatusConflict, Code: r.Code, Message: messages.TurnBegun,
			Details: dialect.Problems{{Field: "replaces", Problem: "is not a turn that waits"}}}
	case chat.CodeTurnConflict:
		return describe(db.ErrTurnConflict)
	case chat.CodeNotFound:
		return problem.NotFound
	case chat.CodeDatabase:
		return describe(db.ErrUnavailable)
	case chat.CodeNoInterrupt:
		return &problem.Problem{Status: http.StatusBadRequest, Code: r.Code, Message: messages.NoQuestion,
			Details: dialect.Problems{{Field: "interrupt_id", Problem: "is not the pending interrupt"}}}
	case chat.CodeBadResume:
		return &problem.Problem{Status: http.StatusBadRequest, Code: r.Code, Message: messages.WrongAnswer,
			Details: dialect.Problems{{Field: "resume_value", Problem: r.Message}}}
	}
	return &problem.Problem{Status: http.StatusBadRequest, Code: r.Code, Message: messages.RequestRefused}
}

// errorJSON is a problem on the wire.
type errorJSON struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		messages.Coded
		RequestID string           `json:"request_id"`
		Details   dialect.Problems `json:"details,omitempty"`
		TurnID    string           `json:"turn_id,omitempty"`  // of the running turn
		RetryAt   string           `json:"retry_at,omitempty"` // when a daily budget is reset
	} `json:"error"`
}

// failureKey is the context key of Dialect.Failure, for routes of dialects whose errors
// have their own shape.
const failureKey = "failure"

// shapeOf returns the function that makes an error's body in the shape of the request's
// dialect; nil: the API's shape.
func (s *server) shapeOf(c *gin.Context) func(dialect.Failure) any {
	if own, ok := c.Get(failureKey); ok {
		return own.(func(dialect.Failure) any)
	}
	if d := s.dialectBelow(c.Request.URL.Path); d != nil { // no route, or refused before its handlers
		return d.Failure
	}
	return nil
}

// fail writes an error response, if no stream has begun, and logs the cause, which
// clients must not see.
func (s *server) fail(c *gin.Context, err error) {
	if errors.Is(c.Request.Context().Err(), context.Canceled) {
		c.Abort() // the client has disconnected
		return
	}
	p := describe(err)
	s.reachedLimit(c, p)
	if p.Status >= http.StatusInternalServerError {
		level := slog.LevelError
		if p.Status == http.StatusServiceUnavailable { // a dependency is down or busy
			level = slog.LevelWarn
		}
		s.Log.Log(c.Request.Context(), level, "request failed", "request_id", request.ID(c), "route", c.FullPath(), "code", p.Code, "error", err)
	}
	if c.Writer.Written() {
		c.Abort()
		return
	}
	if p.Status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", s.challenge(c))
	}
	p.SetRetryAfter(c.Writer.Header())
	if own := s.shapeOf(c); own != nil {
		refuse(c, p.Status, own(dialect.Failure{Status: p.Status, Code: p.Code, Message: p.Message, RequestID: request.ID(c), Details: p.Details}))
		return
	}
	var out errorJSON
	e := &out.Error
	e.Code, e.Message, e.Coded, e.RequestID, e.Details, e.TurnID = p.Code, p.Message.Text, p.Message.Coded, request.ID(c), p.Details, p.TurnID
	if !p.RetryAt.IsZero() {
		e.RetryAt = dialect.Stamp(p.RetryAt)
	}
	refuse(c, p.Status, out)
}

// refuse answers with an error. The answer has a length, so that it is complete before the rest
// of the request's body is received (request.LimitBody).
func refuse(c *gin.Context, status int, with any) {
	body, _ := json.Marshal(with)                               // texts and numbers cannot fail
	c.Header("Content-Type", "application/json; charset=utf-8") // replaces the type of a stream that was about to begin
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Abort()
	c.Status(status)
	_, _ = c.Writer.Write(body) // the client may have disconnected
}
