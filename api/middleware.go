package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
)

const (
	requestIDHeader = "X-Request-Id"
	requestIDKey    = "request_id"
	maxRequestID    = 64
	bodyTimeout     = 30 * time.Second
)

// requestID uses the caller's request id if it is valid, else makes one.
func (s *server) requestID(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if len(id) > maxRequestID || !dialect.Plain(id) {
		id = uuid.NewString()
	}
	c.Set(requestIDKey, id)
	c.Header(requestIDHeader, id)
}

func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// access logs and counts a request. It never logs the query or body, which hold what
// people write.
func (s *server) access(c *gin.Context) {
	start := time.Now()
	c.Next()
	route := c.FullPath()
	if route == "" {
		route = "other"
	}
	took := time.Since(start)
	s.metrics.observe(c.Request.Method, route, c.Writer.Status(), took)
	log := s.Log.With("request_id", requestID(c))
	if turn := c.Writer.Header().Get("X-Turn-Id"); turn != "" {
		log = log.With("turn", turn)
	}
	log.Info("request", "method", c.Request.Method, "route", route,
		"status", c.Writer.Status(), "bytes", max(c.Writer.Size(), 0), "took", took.Round(time.Microsecond))
}

// recovery turns a panic into a 500 that reveals no internals.
func (s *server) recovery(c *gin.Context) {
	r := c.Request // the handler's request has a context that the panic has cancelled
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler {
			panic(v)
		}
		s.Log.Error("panic in a handler", "request_id", requestID(c), "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler) // the client must see an aborted stream, not a complete one
		}
		c.Request = r
		s.fail(c, errors.New("panic"))
	}()
	c.Next()
}

// checkHost refuses requests that are addressed to another host, as those of a page
// whose name was rebound to this machine's address.
func (s *server) checkHost(c *gin.Context) {
	if !s.Config.Hosts.Allow(c.Request.Host) {
		s.fail(c, errHost)
		c.Abort()
	}
}

const contentSecurityPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func securityHeaders(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// body reads a JSON body with a size limit and a timeout.
func body(c *gin.Context, limit int64) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "application/json" {
		return nil, unsupported("The body must be application/json.")
	}
	defer allowReading(c, bodyTimeout)()
	if c.Request.ContentLength > limit {
		return nil, tooLarge("The request is too large.")
	}
	var b bytes.Buffer
	_, err := io.Copy(&b, http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	return b.Bytes(), readError(err)
}

// readError makes a failed read of the body a client error.
func readError(err error) error {
	var large *http.MaxBytesError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return invalid("body", "could not be read")
}

// allowReading limits how long the body may take to arrive. Call done when the body
// has been read: it removes the limit, which would end a stream, and restarts the
// answer deadline.
func allowReading(c *gin.Context, d time.Duration) (done func()) {
	rc := http.NewResponseController(c.Writer)
	_ = rc.SetReadDeadline(time.Now().Add(d)) // not every writer is a network connection
	return func() {
		_ = rc.SetReadDeadline(time.Time{})
		restartDeadline(c)
	}
}

// decode reads a small JSON body into out.
func decode(c *gin.Context, out any) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	return dialect.Decode(raw, out)
}
