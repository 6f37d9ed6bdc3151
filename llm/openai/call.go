package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	errStatus  = errors.New("the provider answered with an error") // call.detail has it
)

// call is one HTTP exchange. It also acts as the SDK's HTTP client. It applies the
// timeouts, and keeps what the SDK drops (status, Retry-After, raw error).
type call struct {
	c      *Client
	ctx    context.Context // ends with the parent or a timeout
	parent context.Context
	cancel context.CancelCauseFunc
	stop   context.CancelFunc // of the time limit

	limit          int64 // of the body
	gather         *textBatcher
	quiet          bool   // no timeout of silence
	idempotencyKey string // sent when set

	sent   bool
	status int // of the response; for an error inside of a response the status that it names, or 0
	inside bool
	header http.Header
	detail []byte // of an error response
	asked  answerState
}

// answerState is what try has to know about an answer.
type answerState struct {
	limit   int  // of tokens in the request; 0: none
	thought bool // the model has thought
	emitted bool // a part of the answer has gone to the caller
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
	return api.NewClientWithConfig(cfg)
}

// post sends a chat request and returns the response's body without a byte order mark.
// The caller closes it.
func (k *call) post(body []byte) (_ *bufio.Reader, done func(), _ error) {
	req, err := http.NewRequestWithContext(k.ctx, http.MethodPost, k.c.cfg.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if key := k.c.cfg.APIKey; key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := k.Do(req)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, nil, errStatus
	}
	in := bufio.NewReaderSize(resp.Body, 16<<10)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = in.Discard(3) // they were peeked
	}
	return in, func() { resp.Body.Close() }, nil
}

// Do implements api.HTTPDoer.
func (k *call) Do(req *http.Request) (*http.Response, error) {
	if k.idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", k.idempotencyKey)
	}
	k.sent = true
	stop := k.watch()
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

// failed records an error that came inside of a response with status 200, and returns
// errStatus. The status is the one that the error names.
func (k *call) failed(raw []byte) error {
	k.inside, k.status, k.detail = true, 0, raw[:min(len(raw), maxErrorBody)]
	var e struct {
		Error struct {
			Code   any `json:"code"`
			Status any `json:"status"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &e) // a text has no code
	for _, v := range []any{e.Error.Code, e.Error.Status} {
		if n, ok := v.(float64); ok && n >= http.StatusBadRequest && n <= 599 {
			k.status = int(n)
		}
	}
	return errStatus
}

// watch cancels the call after FirstByteTimeout unless stop is called before.
func (k *call) watch() (stop func()) {
	limit := k.c.cfg.FirstByteTimeout
	if limit <= 0 || k.quiet {
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
