package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	api "github.com/sashabaranov/go-openai"
)

const (
	maxErrorBody  = 64 << 10
	maxAnswer     = 16 << 20
	maxEmbeddings = 64 << 20 // of one batch
)

var (
	errSilence = errors.New("the provider sent nothing before the timeout")
	errTimeout = errors.New("the call took too long")
	errTooLong = errors.New("the provider's answer is too large")
)

// call is one HTTP exchange. It acts as the SDK's HTTP client, applies the
// timeouts, and keeps what the SDK drops (status, Retry-After, raw error).
type call struct {
	c      *Client
	ctx    context.Context // ends with the parent or a timeout
	parent context.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of the time limit

	limit          int64 // of the body
	gather         *textBatcher
	quiet          bool   // no first-byte timeout
	sign           bool   // calls in the request need a signature
	idempotencyKey string // sent when set

	sent   bool
	status int
	header http.Header
	detail []byte // of an error response
}

func (c *Client) begin(parent context.Context) *call {
	k := &call{c: c, parent: parent, stop: func() {}, limit: maxAnswer}
	k.ctx, k.cancel = context.WithCancelCause(parent)
	if c.cfg.Timeout > 0 {
		k.ctx, k.stop = context.WithTimeoutCause(k.ctx, c.cfg.Timeout, errTimeout)
	}
	return k
}

// client returns an SDK client whose requests go through this call.
func (k *call) client() *api.Client {
	cfg := api.DefaultConfig(k.c.cfg.APIKey)
	cfg.BaseURL = k.c.cfg.BaseURL
	cfg.HTTPClient = k
	cfg.EmptyMessagesLimit = 100_000 // keep-alive comments are not an error; watch applies the timeout
	return api.NewClientWithConfig(cfg)
}

// Do implements api.HTTPDoer.
func (k *call) Do(req *http.Request) (*http.Response, error) {
	if k.idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", k.idempotencyKey)
	}
	if k.sign {
		if err := sign(req); err != nil {
			return nil, err
		}
	}
	k.sent = true
	stop := func() {}
	if !k.quiet {
		stop = k.watch()
	}
	resp, err := k.c.http.Do(req)
	stop()
	if err != nil {
		return nil, err
	}
	k.status, k.header = resp.StatusCode, resp.Header
	resp.Body = &watchedBody{call: k, body: resp.Body, left: k.limit}
	if resp.StatusCode >= http.StatusBadRequest {
		k.detail, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a partial body is enough to classify
		resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(k.detail))
	}
	return resp, nil
}

// watch cancels the call after FirstByteTimeout unless stop is called before.
func (k *call) watch() (stop func()) {
	limit := k.c.cfg.FirstByteTimeout
	if limit <= 0 {
		return func() {}
	}
	t := time.AfterFunc(limit, func() { k.cancel(errSilence) })
	return func() { t.Stop() }
}

// watchedBody applies the timeout only while it waits for the provider, so that a
// slow reader does not trigger it.
type watchedBody struct {
	call *call
	body io.ReadCloser
	left int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	if err := b.call.gather.before(b.call.ctx); err != nil {
		return 0, err
	}
	stop := b.call.watch()
	n, err := b.body.Read(p)
	stop()
	b.call.gather.after(n == len(p))
	b.left -= int64(n)
	return n, err
}

func (b *watchedBody) Close() error { return b.body.Close() }
