package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// problem is an error response (docs/errors.md). cause goes only to the log.
type problem struct {
	status  int
	code    string
	message string
	details dialect.Problems
	turnID  string        // the running turn, for turn_running
	wait    time.Duration // Retry-After, for rate_limited
	cause   error
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.code + ": " + p.cause.Error()
	}
	return p.code + ": " + p.message
}

func (p *problem) Unwrap() error { return p.cause }

// addRetryAfter adds the seconds to wait to an answer that has no headers.
func (p *problem) addRetryAfter(answer map[string]any) {
	if p.wait > 0 {
		answer["retry_after"] = seconds(p.wait)
	}
}

var (
	errNotFound        = &problem{status: http.StatusNotFound, code: chat.CodeNotFound, message: "There is nothing here by that id."}
	errMethod          = &problem{status: http.StatusMethodNotAllowed, code: chat.CodeMethod, message: "This path knows other methods."}
	errHost            = &problem{status: http.StatusMisdirectedRequest, code: chat.CodeHost, message: "This server does not answer for this host. ALLOWED_HOSTS can allow it."}
	errUnauthenticated = &problem{status: http.StatusUnauthorized, code: chat.CodeUnauthenticated, message: "A valid token is needed."}
)

// invalid is a 400 that names one field.
func invalid(field, what string) error { return dialect.Problems{{Field: field, Problem: what}} }

func tooLarge(message string) error {
	return &problem{status: http.StatusRequestEntityTooLarge, code: chat.CodeTooLarge, message: message}
}

func unsupported(message string) error {
	return &problem{status: http.StatusUnsupportedMediaType, code: chat.CodeUnsupported, message: message}
}

// engineErr converts an error of Threads that is not a refusal to a 503: the engine
// is unavailable.
func engineErr(err error) error {
	var refused *chat.Refused
	if err == nil || errors.As(err, &refused) {
		return err
	}
	message := "Conversations cannot be reached right now. Please try again in a moment."
	if errors.Is(err, chat.ErrCannotReplay) {
		message = "This conversation cannot go on while the server is being updated. Please try again later."
	}
	return &problem{status: http.StatusServiceUnavailable, code: chat.CodeInternal, cause: err, message: message}
}

// describe returns the error response for an error.
func describe(err error) *problem {
	var (
		p        *problem
		problems dialect.Problems
		refused  *chat.Refused
		large    *http.MaxBytesError
	)
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &problems):
		return &problem{status: http.StatusBadRequest, code: chat.CodeValidation,
			message: "The request has fields that cannot be used.", details: problems}
	case errors.As(err, &refused):
		return describeRefusal(refused)
	case errors.As(err, &large):
		return &problem{status: http.StatusRequestEntityTooLarge, code: chat.CodeTooLarge, message: "The request is too large."}
	case errors.Is(err, db.ErrNotFound):
		return errNotFound
	case errors.Is(err, db.ErrBadCursor):
		return describe(invalid("cursor", "is not one of this list"))
	case errors.Is(err, db.ErrTurnConflict):
		return &problem{status: http.StatusConflict, code: chat.CodeTurnConflict,
			message: "This client_turn_id was used with other content.",
			details: dialect.Problems{{Field: "client_turn_id", Problem: "was used with other content"}}}
	case errors.Is(err, db.ErrVersion):
		return &problem{status: http.StatusPreconditionFailed, code: chat.CodeVersionConflict,
			message: "Another version has been stored meanwhile. Read it first."}
	case errors.Is(err, db.ErrForbidden):
		return &problem{status: http.StatusForbidden, code: chat.CodeForbidden, message: "This belongs to everyone and cannot be changed here."}
	case errors.Is(err, db.ErrUnavailable):
		return &problem{status: http.StatusServiceUnavailable, code: chat.CodeDatabase, cause: err,
			message: "The database cannot be reached right now. Please try again in a moment."}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{status: http.StatusServiceUnavailable, code: chat.CodeInternal, cause: err,
			message: "This took too long. Please try again in a moment."}
	}
	return &problem{status: http.StatusInternalServerError, code: chat.CodeInternal, cause: err,
		message: "Something went wrong on our side. Please try again."}
}

func describeRefusal(r *chat.Refused) *problem {
	switch r.Code {
	case chat.CodeTurnRunning:
		p := &problem{status: http.StatusConflict, code: r.Code, message: "A turn is running in this conversation.", turnID: r.TurnID}
		if r.TurnID != "" {
			p.details = dialect.Problems{{Field: "turn_id", Problem: r.TurnID}}
		}
		return p
	case chat.CodeTurnConflict:
		return describe(db.ErrTurnConflict)
	case chat.CodeNotFound:
		return errNotFound
	case chat.CodeDatabase:
		return describe(db.ErrUnavailable)
	case chat.CodeNoInterrupt:
		return &problem{status: http.StatusBadRequest, code: r.Code, message: "No such question is open in this conversation.",
			details: dialect.Problems{{Field: "interrupt_id", Problem: "is not the pending interrupt"}}}
	case chat.CodeBadResume:
		return &problem{status: http.StatusBadRequest, code: r.Code, message: "The answer does not fit the question.",
			details: dialect.Problems{{Field: "resume_value", Problem: r.Message}}}
	}
	return &problem{status: http.StatusBadRequest, code: r.Code, message: "The request was refused."}
}

// errorJSON is a problem on the wire.
type errorJSON struct {
	Error struct {
		Code      string           `json:"code"`
		Message   string           `json:"message"`
		RequestID string           `json:"request_id"`
		Details   dialect.Problems `json:"details,omitempty"`
		TurnID    string           `json:"turn_id,omitempty"` // of the running turn
	} `json:"error"`
}

// fail writes an error response, if no stream has begun, and logs the cause, which
// clients must not see.
func (s *server) fail(c *gin.Context, err error) {
	if errors.Is(c.Request.Context().Err(), context.Canceled) {
		c.Abort() // the client has disconnected
		return
	}
	p := describe(err)
	if p.status >= http.StatusInternalServerError {
		level := slog.LevelError
		if p.status == http.StatusServiceUnavailable { // a dependency is down or busy
			level = slog.LevelWarn
		}
		s.Log.Log(c.Request.Context(), level, "request failed", "request_id", requestID(c), "route", c.FullPath(), "code", p.code, "error", err)
	}
	if c.Writer.Written() {
		c.Abort()
		return
	}
	if p.status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", "Bearer")
	}
	rateHeaders{c.Writer.Header()}.retryAfter(p.wait)
	var out errorJSON
	e := &out.Error
	e.Code, e.Message, e.RequestID, e.Details, e.TurnID = p.code, p.message, requestID(c), p.details, p.turnID
	c.Header("Content-Type", "application/json; charset=utf-8") // replaces the type of a stream that was about to begin
	c.AbortWithStatusJSON(p.status, out)
}
