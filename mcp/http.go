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

// statusError is a request that a server refused before it ran anything.
type statusError struct{ code int }

func (e *statusError) Error() string {
	return "status " + strconv.Itoa(e.code) + " " + http.StatusText(e.code)
}

// refused are the statuses by which servers say so. The SDK knows 400, 404 and
// 405 better.
func refused(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests
}

// unreached is a request that was never sent.
type unreached struct{ cause error }

func (u *unreached) Error() string { return "not connected: " + u.cause.Error() }
func (u *unreached) Unwrap() error { return u.cause }

// neverSent reports whether err means that a server knows nothing of a request.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, new(*unreached)) || errors.As(err, &op) && op.Op == "dial"
}

// client makes HTTP clients for one server. They follow redirects only where
// the server's own headers and tokens may go.
func newClient(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: base, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || origin(r.URL) != origin(via[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// credentials are what a server knows its callers by.
type credentials struct {
	server  string
	headers map[string]string
	signer  signer
}

// personal reports whether requests of different owners look different.
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

// add puts the headers and, made for this request, the owner's token on it.
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
	forgotten   atomic.Bool // the server refused a request of this session as bad: it may not know the session any more
}

// RoundTrip adds what the server wants to know, and bounds what it answers.
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
		w.forgotten.Store(true)
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), eventStream) { // a stream's events are bounded one by one
		res.Body = &bounded{res.Body, maxBody}
	}
	return res, nil
}

var errTooLarge = errors.New("the answer is too large")

// bounded is a body that may not go on for ever.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// httpTransport is a transport for one session. Only the shared one listens to
// what the server says unasked.
func httpTransport(s Server, base http.RoundTripper, c credentials, owner string) (sdk.Transport, *wire) {
	w := &wire{base: base, credentials: c, owner: owner}
	return &sdk.StreamableClientTransport{
		Endpoint:             s.URL,
		HTTPClient:           newClient(w),
		MaxEventSize:         maxBody,
		DisableStandaloneSSE: owner != "",
	}, w
}
