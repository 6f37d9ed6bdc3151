package mcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxBody      = 4 << 20 // of one answer or event
	maxRedirects = 3
	eventStream  = "text/event-stream"
	sessionID    = "Mcp-Session-Id"
)

// statusError means that a server refused a request before it ran anything.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return "status " + strconv.Itoa(e.code) + " " + http.StatusText(e.code)
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

// credentials identify callers to a server.
type credentials struct {
	server  string
	headers map[string]string
	signer  signer
}

// personal reports whether requests of different owners have different credentials.
func (c credentials) personal() bool {
	if !c.signer.signs() {
		return false
	}
	for name := range c.headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return false // the operator's own credentials
		}
	}
	return true
}

// add sets the headers and a fresh token for the owner.
func (c credentials) add(h http.Header, owner string) error {
	for name, value := range c.headers {
		h.Set(name, value)
	}
	if !c.personal() {
		return nil
	}
	token, err := c.signer.token(owner, c.server)
	if err != nil {
		return fmt.Errorf("sign a token: %w", err)
	}
	h.Set("Authorization", "Bearer "+token)
	return nil
}

// wire is the HTTP side of one session with a streamable server.
type wire struct {
	base        http.RoundTripper
	credentials credentials
	owner       string
	sessionLost atomic.Bool // the server answered 400: it may not know the session any more
}

// RoundTrip adds the credentials and limits the size of the answer.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := w.credentials.add(r.Header, w.owner); err != nil {
		return nil, err
	}
	res, err := w.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodPost && refused(res.StatusCode) {
		_ = res.Body.Close()
		return nil, &statusError{res.StatusCode}
	}
	if res.StatusCode == http.StatusBadRequest && r.Header.Get(sessionID) != "" {
		w.sessionLost.Store(true)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), eventStream) { // the SDK limits each event of a stream
		res.Body = &limitedBody{res.Body, maxBody}
	}
	return res, nil
}

var errTooLarge = errors.New("the answer is too large")

// limitedBody is a body with a size limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// httpTransport makes the transport of one session. Only the shared session listens for the
// server's notifications.
func httpTransport(s Server, base http.RoundTripper, c credentials, owner string) (sdk.Transport, *wire) {
	w := &wire{base: base, credentials: c, owner: owner}
	return &sdk.StreamableClientTransport{
		Endpoint:             s.URL,
		HTTPClient:           newClient(w),
		MaxEventSize:         maxBody,
		DisableStandaloneSSE: owner != "",
	}, w
}
