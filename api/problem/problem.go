// Package problem has the API's error responses (docs/errors.md).
package problem

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Problem is an error response. Cause goes only to the log.
type Problem struct {
	Status  int
	Code    string
	Message string
	Details dialect.Problems
	TurnID  string        // the running turn, for turn_running
	Wait    time.Duration // Retry-After, for 429
	RetryAt time.Time     // when a daily budget is reset
	Cause   error
}

func (p *Problem) Error() string {
	if p.Cause != nil {
		return p.Code + ": " + p.Cause.Error()
	}
	return p.Code + ": " + p.Message
}

func (p *Problem) Unwrap() error { return p.Cause }

// Problems that more than one route has.
var (
	NotFound        = &Problem{Status: http.StatusNotFound, Code: chat.CodeNotFound, Message: "There is nothing here by that id."}
	Method          = &Problem{Status: http.StatusMethodNotAllowed, Code: chat.CodeMethod, Message: "This path does not support this method."}
	Host            = &Problem{Status: http.StatusMisdirectedRequest, Code: chat.CodeHost, Message: "This server does not answer for this host. ALLOWED_HOSTS can allow it."}
	Operators       = &Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: "This is for operators: send METRICS_TOKEN as a bearer token, or ask from the same host."}
	Expired         = &Problem{Status: http.StatusUnauthorized, Code: chat.CodeUnauthenticated, Message: "Your sign-in has expired. The conversation goes on; please sign in again to see it."}
	Unauthenticated = &Problem{Status: http.StatusUnauthorized, Code: chat.CodeUnauthenticated, Message: "Please sign in."}
)

// Invalid is a 400 that names one field.
func Invalid(field, what string) error { return dialect.Problems{{Field: field, Problem: what}} }

// TooLarge is a 413.
func TooLarge(message string) error {
	return &Problem{Status: http.StatusRequestEntityTooLarge, Code: chat.CodeTooLarge, Message: message}
}

// Unsupported is a 415.
func Unsupported(message string) error {
	return &Problem{Status: http.StatusUnsupportedMediaType, Code: chat.CodeUnsupported, Message: message}
}

// TooMany is a 429. The client may retry after wait.
func TooMany(message string, wait time.Duration) error { return Limited(message, wait) }

// Limited is TooMany, returned as a *Problem.
func Limited(message string, wait time.Duration) *Problem {
	return &Problem{Status: http.StatusTooManyRequests, Code: chat.CodeRateLimited, Message: message,
		Wait: max(time.Second, wait)}
}

// Engine converts an error of the engine that is not a refusal to a 503: the engine is
// unavailable.
func Engine(err error) error {
	var refused *chat.Refused
	if err == nil || errors.As(err, &refused) {
		return err
	}
	message := "Conversations cannot be reached right now. Please try again in a moment."
	if errors.Is(err, chat.ErrCannotReplay) {
		message = "This conversation cannot go on while the server is being updated. Please try again later."
	}
	return &Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeInternal, Cause: err, Message: message}
}

// SetRetryAfter sets the header Retry-After if the client should wait.
func (p *Problem) SetRetryAfter(h http.Header) {
	if p.Wait > 0 {
		h.Set("Retry-After", strconv.Itoa(Seconds(p.Wait)))
	}
}

// AddRetryAfter adds the seconds to wait to an answer that has no headers.
func (p *Problem) AddRetryAfter(answer map[string]any) {
	if p.Wait > 0 {
		answer["retry_after"] = Seconds(p.Wait)
	}
}

// Seconds rounds a wait up to whole seconds, at least one.
func Seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
