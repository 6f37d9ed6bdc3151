package request

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// BodyTimeout limits how long a body may take to arrive. An upload may take longer, but
	// not between two of its parts.
	BodyTimeout = 30 * time.Second
	// slowestUpload is the least number of bytes a second at which an upload must arrive, on
	// average, after its first BodyTimeout.
	slowestUpload = 4 << 10
)

const bodyTimeoutKey = "body timeout"

// LimitBody closes the connection of a request whose body does not arrive in time. It
// comes before handlers that answer without reading the body: net/http waits for the
// rest of it before it answers.
//
// After a refusal it receives the rest of the body, for as long again: many clients read the
// answer after they have sent everything, and would see a connection reset instead.
func LimitBody(timeout time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(bodyTimeoutKey, timeout)
		if c.Request.ContentLength == 0 {
			return
		}
		body := c.Request.Body
		setReadDeadline(c, time.Now().Add(timeout))
		c.Next()
		// Without a length the answer ends with this handler.
		if c.Writer.Status() < http.StatusBadRequest || c.Writer.Header().Get("Content-Length") == "" {
			return
		}
		c.Writer.Flush()
		setReadDeadline(c, time.Now().Add(timeout))
		_, _ = io.CopyN(io.Discard, body, maxRefused)
	}
}

// maxRefused is how much of a refused body is received.
const maxRefused = 256 << 20

// AllowUpload lets the body take until total has passed, as long as something arrives
// within each body timeout, and 4 kB a second on average.
func AllowUpload(c *gin.Context, total time.Duration) {
	c.Request.Body = &uploadBody{ReadCloser: c.Request.Body, timeout: c.GetDuration(bodyTimeoutKey), end: time.Now().Add(total),
		now: time.Now, setDeadline: func(t time.Time) { setReadDeadline(c, t) }}
}

type uploadBody struct {
	io.ReadCloser
	timeout     time.Duration
	end         time.Time
	received    int
	waited      time.Duration // in reads: what the server does in between does not count
	now         func() time.Time
	setDeadline func(time.Time)
}

func (b *uploadBody) Read(p []byte) (n int, err error) {
	began := b.now()
	earned := time.Duration(b.received) * time.Second / slowestUpload
	b.setDeadline(began.Add(min(b.timeout, b.timeout+earned-b.waited, b.end.Sub(began))))
	n, err = b.ReadCloser.Read(p)
	b.received += n
	b.waited += b.now().Sub(began)
	return n, err
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
