package request

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// BodyTimeout limits how long a body may take to arrive. An upload may take longer, but
// not between two of its parts.
const BodyTimeout = 30 * time.Second

const bodyTimeoutKey = "body timeout"

// LimitBody closes the connection of a request whose body does not arrive in time. It
// comes before handlers that answer without reading the body: net/http waits for the
// rest of it before it answers.
func LimitBody(timeout time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(bodyTimeoutKey, timeout)
		if c.Request.ContentLength != 0 {
			setReadDeadline(c, time.Now().Add(timeout))
		}
	}
}

// AllowUpload lets the body take until total has passed, as long as something arrives
// within each body timeout.
func AllowUpload(c *gin.Context, total time.Duration) {
	c.Request.Body = &uploadBody{ReadCloser: c.Request.Body, c: c, end: time.Now().Add(total)}
}

type uploadBody struct {
	io.ReadCloser
	c   *gin.Context
	end time.Time
}

func (b *uploadBody) Read(p []byte) (int, error) {
	next := time.Now().Add(b.c.GetDuration(bodyTimeoutKey))
	if next.After(b.end) {
		next = b.end
	}
	setReadDeadline(b.c, next)
	return b.ReadCloser.Read(p)
}

// The most bytes that may follow the last part of an upload.
const maxRest = 4 << 10

// BodyReceived must be called when the body was read. It removes the body's timeout, which
// would end a stream, and restarts the answer deadline.
func BodyReceived(c *gin.Context) {
	if _, err := io.CopyN(io.Discard, c.Request.Body, maxRest); errors.Is(err, io.EOF) {
		setReadDeadline(c, time.Time{})
	}
	restartDeadline(c)
}

func setReadDeadline(c *gin.Context, t time.Time) {
	_ = http.NewResponseController(c.Writer).SetReadDeadline(t) // not every writer is a network connection
}
