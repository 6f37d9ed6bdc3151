package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/lazyregexp"
	"github.com/palaver-chat/palaver/llm"
)

// errCut is a stream that ended without a finish reason.
var errCut = fmt.Errorf("the stream ended before the answer did: %w", io.ErrUnexpectedEOF)

// errEmpty is an answer without a choice or text.
var errEmpty = errors.New("the provider sent no answer")

// errNoRoom is an answer that the limit of tokens stopped before it had anything usable.
var errNoRoom = errors.New("the limit of tokens stopped the model before its answer")

// errFiltered is an answer that the provider's content filter stopped.
var errFiltered = errors.New("the provider's content filter stopped the answer")

// emitError is an error of the caller's emit; finish returns it unchanged.
type emitError struct{ err error }

func (e *emitError) Error() string { return e.err.Error() }

// finish ends the call and translates its error: cancellation by the caller and
// emit errors stay as they are, all others become *llm.Error.
func (k *call) finish(err error, to target) error {
	cause := context.Cause(k.ctx)
	k.stop()
	k.cancel(context.Canceled)
	if err == nil {
		return nil
	}
	var emit *emitError
	if errors.As(err, &emit) {
		return emit.err
	}
	if k.parent.Err() != nil {
		return fmt.Errorf("model call: %w", k.parent.Err())
	}
	e := k.classify(err, cause, to)
	e.Err = fmt.Errorf("%s %s: %w", k.c.cfg.Provider, to.model, e.Err)
	return e
}

// classify never puts the key, the request, or more than an excerpt of the
// response into the error.
func (k *call) classify(err, cause error, to target) *llm.Error {
	switch {
	case errors.Is(cause, errSilence), errors.Is(cause, errTimeout):
		return &llm.Error{Code: chat.CodeModelTimeout, Retryable: true, Status: k.status, Err: cause}
	case errors.Is(err, errFiltered):
		return &llm.Error{Code: chat.CodeModelRejected, Status: k.status, Err: err,
			Hint: messages.HintFiltered}
	case errors.Is(err, errNoPicture):
		return &llm.Error{Code: chat.CodeModelRejected, Status: k.status, Err: err, Hint: messages.HintNoPicture}
	case k.inside && k.status == 0:
		return k.refused(http.StatusBadGateway, string(k.detail), to)
	case k.status >= http.StatusBadRequest:
		return k.refused(k.status, string(k.detail), to)
	case errors.Is(err, errNoRoom):
		return &llm.Error{Code: chat.CodeModelRejected, Status: k.status, Err: err, Hint: messages.HintNoRoom}
	case errors.Is(err, errEmpty): // also when it was asked again
		return &llm.Error{Code: chat.CodeModelUnavailable, Status: k.status, Err: err}
	}
	if !k.sent { // the SDK refused it before it was sent
		return &llm.Error{Code: chat.CodeModelRejected, Err: &refusal{detail: err.Error(), shown: k.redact(err.Error())}, ForOperators: true,
			Hint: messages.HintRequest.With(messages.Params{"setting": to.variable})}
	}
	return &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Status: k.status, Err: plain(err)}
}

// refused translates a response with an error status.
func (k *call) refused(status int, detail string, to target) *llm.Error {
	text := strings.ToLower(detail)
	e := &llm.Error{Code: chat.CodeModelRejected, Status: status}
	keyProblem := status == http.StatusUnauthorized || status == http.StatusForbidden ||
		status == http.StatusBadRequest && strings.Contains(text, "api key") // Gemini's answer to a bad key
	switch {
	case keyProblem:
		// Providers repeat parts of the key here: no detail.
		e.Hint = messages.HintKey.With(messages.Params{"setting": k.c.cfg.KeyVariable})
		e.ForOperators, e.Err = true, fmt.Errorf("HTTP %d", status)
		return e
	case status == http.StatusPaymentRequired, (k.inside || status < 500) && unpaid.MatchString(text):
		e.Hint, e.ForOperators = messages.HintQuota.With(messages.Params{"setting": k.c.cfg.KeyVariable}), true
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		e.Code, e.Retryable = chat.CodeModelUnavailable, true
		if e.RetryAfter = retryAfter(k.header, detail, time.Now()); e.RetryAfter >= time.Second {
			e.Hint = messages.HintWait.With(messages.Params{"wait": inWords(e.RetryAfter)})
		}
	case tooLong(text):
		e.Hint = messages.HintTooLong
	case unknownModel(status, text):
		e.Hint, e.ForOperators = messages.HintUnknownModel.With(messages.Params{"model": to.model, "setting": to.variable}), true
	default:
		e.Hint = messages.HintNotAccepted
	}
	said := message(detail)
	refused := &refusal{detail: said, shown: k.redact(said), guessed: k.inside && k.status == 0}
	e.Err = fmt.Errorf("HTTP %d: %w", status, refused)
	if k.inside {
		e.Err = fmt.Errorf("an error in a response with status 200: %w", refused)
	}
	return e
}

// inWords returns a wait in units that need no translation, rounded up.
func inWords(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
	}
	return fmt.Sprintf("%.0f min", math.Ceil(d.Minutes()))
}

// unpaid matches what providers answer to an account without money.
var unpaid = lazyregexp.New(`insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low|payment required|account (?:is )?in arrears|billing[_ ]hard[_ ]limit`)

func unknownModel(status int, text string) bool {
	if status == http.StatusNotFound {
		return !strings.Contains(text, "tool") // some gateways answer 404 to "no endpoint supports tool use"
	}
	return strings.Contains(text, "model") && (strings.Contains(text, "not found") ||
		strings.Contains(text, "does not exist") || strings.Contains(text, "unknown model") ||
		strings.Contains(text, "invalid model") || strings.Contains(text, "model_not_found"))
}

// message returns the message in an error body of a common shape, else the body.
func message(body string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	if list, ok := v.([]any); ok && len(list) > 0 { // Gemini's
		v = list[0]
	}
	object, _ := v.(map[string]any)
	if inner, ok := object["error"].(map[string]any); ok {
		object = inner
	}
	said := ""
	for _, key := range []string{"message", "error", "detail"} {
		if text, ok := object[key].(string); ok && text != "" {
			said = text
			break
		}
	}
	if said == "" {
		return body
	}
	for _, key := range []string{"param", "code"} {
		if extra, ok := object[key].(string); ok && extra != "" {
			said += " (" + extra + ")"
		}
	}
	// A gateway puts the provider's own words beside its own.
	if meta, ok := object["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			said += ": " + clip(raw, 2000)
		}
	}
	return said
}

// leastSecret is the length, in bytes, from which a key is one: local servers get "x".
const leastSecret = 8

func (k *call) redact(s string) string {
	if key := k.c.cfg.APIKey; len(key) >= leastSecret {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	return s
}

// plain removes the URL from network errors: a base URL may contain a secret.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return errors.New("the provider's response is not valid JSON")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	return err
}

var retryDelay = lazyregexp.New(`"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"`)

// retryAfter returns the wait that a provider asks for: OpenAI's milliseconds,
// the standard's seconds or date, or Google's detail in the body. 0 without one,
// or when the date has passed.
func retryAfter(h http.Header, body string, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	bounded := func(d time.Duration) time.Duration { return min(max(d, 0), longest) }
	seconds := func(s string) (time.Duration, bool) {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || f != f {
			return 0, false
		}
		return bounded(time.Duration(min(max(f, 0), longest.Seconds()) * float64(time.Second))), true
	}
	if d, ok := seconds(h.Get("Retry-After-Ms")); ok {
		return d / 1000
	}
	if v := h.Get("Retry-After"); v != "" {
		if d, ok := seconds(v); ok {
			return d
		}
		if at, err := http.ParseTime(v); err == nil {
			return bounded(at.Sub(now))
		}
	}
	if m := retryDelay.FindStringSubmatch(body); m != nil {
		d, _ := seconds(m[1])
		return d
	}
	return 0
}

// clip shortens s to at most n bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
