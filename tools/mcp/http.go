package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const (
	maxBody         = 4 << 20 // of one answer or event
	maxNotification = 64 << 10
	maxRedirects    = 3
	eventStream     = "text/event-stream"
	sessionID       = "Mcp-Session-Id"
)

// statusError means that a server refused a request before it ran anything.
type statusError struct {
	code      int
	challenge string // WWW-Authenticate
}

// refusal returns the error of an answer that refused a request.
func refusal(res *http.Response) *statusError {
	return &statusError{code: res.StatusCode, challenge: strings.Join(res.Header.Values("WWW-Authenticate"), ", ")}
}

func (e *statusError) Error() string {
	return "status " + strconv.Itoa(e.code) + " " + http.StatusText(e.code)
}

// missingScope returns the scope that a refused request needs; "" if it was refused for another reason.
func (e *statusError) missingScope() string {
	challenges, _ := oauthex.ParseWWWAuthenticate([]string{e.challenge}) // a malformed one says nothing
	for _, c := range challenges {
		if e.code == http.StatusForbidden && c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return c.Params["scope"]
		}
	}
	return ""
}

// refused reports whether a status means that the server refused a request. The SDK handles
// 400, 404 and 405.
func refused(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests
}

// notConnected means that a request was never sent.
type notConnected struct{ cause error }

func (u *notConnected) Error() string { return "not connected: " + u.cause.Error() }
func (u *notConnected) Unwrap() error { return u.cause }

// isNotSent reports whether err means that the server cannot have received the request.
func isNotSent(err error) bool {
	var op *net.OpError
	return errors.As(err, new(*notConnected)) || errors.As(err, &op) && op.Op == "dial"
}

// newClient makes HTTP clients for one server. They follow redirects only to the server's own
// origin, because requests carry its headers and tokens.
func newClient(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: base, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || origin(r.URL) != origin(via[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// Tokens have the access tokens of people who have connected an account at a server.
type Tokens interface {
	// TokenFor returns a token that is valid for lifetime, and is not the rejected one; false if the
	// person has to connect the account, or to connect it again.
	TokenFor(ctx context.Context, owner, provider, rejected string, lifetime time.Duration) (token string, ok bool, err error)
	Connected(ctx context.Context, owner, provider string) (bool, error)
	// NeedScope records what the person has to permit beside what they have permitted; false if
	// asking for it would not help.
	NeedScope(ctx context.Context, owner, provider, scope string) (bool, error)
}

// leastTokenLife is how long a token must be valid when a request begins.
const leastTokenLife = time.Minute

// credentials identify callers to a server.
type credentials struct {
	server  string
	headers map[string]string
	signer  signer
	tokens  Tokens // nil: people cannot connect accounts at this server
	oauth   bool   // the operator says that the server wants OAuth, so it gets no token of ours
}

// personal reports whether requests of different owners have different credentials.
func (c credentials) personal() bool {
	if !c.signer.signs() || c.oauth {
		return false
	}
	for name := range c.headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return false // the operator's own credentials
		}
	}
	return true
}

// add sets the headers, and the owner's access token or a fresh token of ours. It returns the access
// token. rejected is one that the server did not accept.
func (c credentials) add(ctx context.Context, h http.Header, owner, rejected string) (access string, err error) {
	for name, value := range c.headers {
		h.Set(name, value)
	}
	if c.tokens != nil && owner != "" {
		access, ok, err := c.tokens.TokenFor(ctx, owner, ProviderPrefix+c.server, rejected, leastTokenLife)
		if err != nil {
			return "", &notConnected{fmt.Errorf("the person's access token: %w", err)}
		}
		if ok {
			h.Set("Authorization", "Bearer "+access)
			return access, nil
		}
	}
	if !c.personal() {
		return "", nil
	}
	token, err := c.signer.token(owner, c.server)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	h.Set("Authorization", "Bearer "+token)
	return "", nil
}

// send sends a request with the owner's credentials; a second time with a fresh access token if the
// server does not accept the first.
func (c credentials) send(base http.RoundTripper, r *http.Request, owner string) (*http.Response, error) {
	for rejected := ""; ; {
		again := r.Clone(r.Context())
		if rejected != "" && r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			again.Body = body
		}
		access, err := c.add(r.Context(), again.Header, owner, rejected)
		if err != nil {
			return nil, err
		}
		res, err := base.RoundTrip(again)
		if err != nil || res.StatusCode != http.StatusUnauthorized || access == "" || rejected != "" || r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
			return res, err
		}
		_ = res.Body.Close()
		rejected = access
	}
}

// sender is credentials.send as the transport of a client.
type sender struct {
	base        http.RoundTripper
	credentials credentials
	owner       string
}

func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	return s.credentials.send(s.base, r, s.owner)
}

// wire is the HTTP side of one session.
type wire struct {
	base        http.RoundTripper
	credentials credentials
	owner       string
	origin      string       // of the server, the only one that gets the credentials
	sse         bool         // the older transport with one event stream for all answers
	sessionLost atomic.Bool  // the server answered 400: it may not know the session any more
	status      atomic.Int32 // of the last POST
}

// standaloneTimeout is how long a server may take to answer the request for its notifications. The SDK
// waits for that answer before it uses the session.
const standaloneTimeout = 2 * time.Second

// RoundTrip adds the credentials, limits the size of the answer and repairs it.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if origin(r.URL) != w.origin {
		return nil, errors.New("the server named an address of another origin")
	}
	if r.Method == http.MethodGet && !w.sse && r.Header.Get("Last-Event-ID") == "" {
		return w.listen(r)
	}
	res, err := w.credentials.send(w.base, r, w.owner)
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost {
		if strings.HasPrefix(res.Header.Get("Content-Type"), eventStream) {
			res.Body = events(res.Body)
		}
		return res, nil
	}
	w.status.Store(int32(res.StatusCode))
	switch status := res.StatusCode; {
	case refused(status):
		_ = res.Body.Close()
		return nil, refusal(res)
	case status == http.StatusMovedPermanently || status == http.StatusFound:
		res.StatusCode = http.StatusPermanentRedirect // else the request would be repeated as a GET without its body
	case status == http.StatusBadRequest && r.Header.Get(sessionID) != "":
		w.sessionLost.Store(true)
	}
	if isNotification(r) && res.StatusCode != http.StatusPermanentRedirect && res.StatusCode != http.StatusTemporaryRedirect {
		_ = res.Body.Close() // servers answer notifications with all kinds of statuses
		return empty(r, http.StatusAccepted), nil
	}
	return repaired(res)
}

// listen requests the server's notifications. A server that has none, or that does not answer soon,
// can do without this stream: the list of tools is also read regularly.
func (w *wire) listen(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	timer := time.AfterFunc(standaloneTimeout, cancel)
	res, err := w.credentials.send(w.base, r.WithContext(ctx), w.owner)
	inTime := timer.Stop()
	switch {
	case err != nil && r.Context().Err() == nil && !inTime:
		return empty(r, http.StatusMethodNotAllowed), nil
	case err != nil:
		cancel()
		return nil, err
	case !strings.HasPrefix(res.Header.Get("Content-Type"), eventStream) || res.StatusCode/100 != 2:
		_ = res.Body.Close()
		cancel()
		return empty(r, http.StatusMethodNotAllowed), nil
	}
	res.Body = &cancelledBody{events(res.Body), cancel}
	return res, nil
}

type cancelledBody struct {
	io.ReadCloser
	cancel func()
}

func (b *cancelledBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func empty(r *http.Request, status int) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r}
}

// isNotification reports whether a request's message wants no answer.
func isNotification(r *http.Request) bool {
	if r.GetBody == nil || r.ContentLength > maxNotification {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return json.NewDecoder(body).Decode(&m) == nil && m.ID == nil && m.Method != ""
}

// repaired returns an answer in the form that the SDK reads.
func repaired(res *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	body := bufio.NewReader(&limitedBody{res.Body, maxBody})
	if kind == eventStream {
		res.Body = events(res.Body) // which limits each event
		return res, nil
	}
	if kind != "application/json" && res.StatusCode == http.StatusOK {
		if start, _ := body.Peek(len("event:")); slices.ContainsFunc([]string{"event:", "data:", "id:", ":"}, func(field string) bool { return strings.HasPrefix(string(start), field) }) {
			res.Header.Set("Content-Type", eventStream)
			res.Body = events(struct {
				io.Reader
				io.Closer
			}{body, res.Body})
			return res, nil
		}
	}
	raw, err := io.ReadAll(body)
	_ = res.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if fixed := repair(raw); fixed != nil {
		raw = fixed
		res.Header.Set("Content-Type", "application/json")
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return res, nil
}

// httpTransport makes the transport of one session. Only the shared session listens for the
// server's notifications.
func httpTransport(s Server, base http.RoundTripper, c credentials, owner string, sse bool) (sdk.Transport, *wire) {
	w := &wire{base: base, credentials: c, owner: owner, sse: sse}
	if u, err := url.Parse(s.URL); err == nil {
		w.origin = origin(u)
	}
	if sse {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: newClient(w), MaxEventSize: maxBody}, w
	}
	return &sdk.StreamableClientTransport{
		Endpoint:             s.URL,
		HTTPClient:           newClient(w),
		MaxEventSize:         maxBody,
		DisableStandaloneSSE: owner != "",
	}, w
}
