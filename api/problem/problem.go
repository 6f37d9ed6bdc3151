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
	"github.com/palaver-chat/palaver/chat/messages"
)

// Problem is an error response. Cause goes only to the log.
type Problem struct {
	Status  int
	Code    string
	Message messages.Message
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
	return p.Code + ": " + p.Message.Text
}

func (p *Problem) Unwrap() error { return p.Cause }

// Problems that more than one route has.
var (
	NotFound        = &Problem{Status: http.StatusNotFound, Code: chat.CodeNotFound, Message: messages.NotFound}
	Method          = &Problem{Status: http.StatusMethodNotAllowed, Code: chat.CodeMethod, Message: messages.MethodUnknown}
	Host            = &Problem{Status: http.StatusMisdirectedRequest, Code: chat.CodeHost, Message: messages.HostNotAllowed}
	Operators       = &Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.OperatorsOnly}
	Expired         = &Problem{Status: http.StatusUnauthorized, Code: chat.CodeUnauthenticated, Message: messages.SignInExpired}
	Unauthenticated = &Problem{Status: http.StatusUnauthorized, Code: chat.CodeUnauthenticated, Message: messages.SignInFirst}
)

// Invalid is a 400 that names one field.
func Invalid(field, what string) error { return InvalidField(field, messages.Plain(what)) }

// InvalidField is a 400 that names one field, for a problem that people read.
func InvalidField(field string, what messages.Message) error {
	var p dialect.Problems
	p.Say(field, what)
	return p
}

// TooLarge is a 413.
func TooLarge(message messages.Message) error {
	return &Problem{Status: http.StatusRequestEntityTooLarge, Code: chat.CodeTooLarge, Message: message}
}

// Unsupported is a 415.
func Unsupported(message messages.Message) error {
	return &Problem{Status: http.StatusUnsupportedMediaType, Code: chat.CodeUnsupported, Message: message}
}

// TooMany is a 429. The client may retry after wait.
func TooMany(message messages.Message, wait time.Duration) error { return Limited(message, wait) }

// Limited is TooMany, returned as a *Problem.
func Limited(message messages.Message, wait time.Duration) *Problem {
	return &Problem{Status: http.StatusTooManyRequests, Code: chat.CodeRateLimited, Message: message,
		Wait: max(time.Second, wait)}
}

// Engine converts an error of the engine that is not a refusal to a 503: the engine is
// unavailable.
func Engine(err error) error {
	var refused *chat.RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	message := messages.EngineDown
	if errors.Is(err, chat.ErrCannotReplay) {
		message = messages.EngineUpdating
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
