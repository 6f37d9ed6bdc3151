package request

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// WriteTimeout is how long a client may accept no data before it counts as disconnected.
	WriteTimeout = 20 * time.Second
	// slowest is the least number of bytes a second at which a client must accept a response
	// that is no stream.
	slowest = 16 << 10
	// writePiece is how much is written within one WriteTimeout.
	writePiece = 64 << 10
)

// LimitWrites ends a response whose client does not read it: each piece must be accepted
// within timeout, and a response that is no stream at 16 kB a second on average.
func LimitWrites(timeout time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		inner := c.Writer.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
		w := &timedWriter{ResponseWriter: c.Writer, rc: http.NewResponseController(inner), timeout: timeout, rate: slowest}
		c.Writer = w
		c.Next()
		w.allow() // for what the server writes after the handler
	}
}

// Streams exempts a response from the average rate: its data arrives bit by bit.
func Streams(c *gin.Context) {
	if w, is := c.Writer.(*timedWriter); is {
		w.rate = 0
	}
}

type timedWriter struct {
	gin.ResponseWriter
	rc       *http.ResponseController
	timeout  time.Duration
	rate     int // bytes a second; 0: any
	written  int
	blocked  time.Duration // in writes
	deadline time.Time
}

// Unwrap lets http.ResponseController find the connection.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) Write(p []byte) (n int, err error) {
	for {
		piece := p[n:min(len(p), n+writePiece)]
		var done int
		if err := w.timed(func() (err error) {
			done, err = w.ResponseWriter.Write(piece)
			return err
		}); err != nil {
			return n + done, err
		}
		n += done
		w.written += done
		if n >= len(p) {
			return n, nil
		}
	}
}

func (w *timedWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

func (w *timedWriter) Flush() { _ = w.FlushError() }

// FlushError implements flushing for http.ResponseController.
func (w *timedWriter) FlushError() error {
	w.WriteHeaderNow()
	return w.timed(func() error {
		if err := w.rc.Flush(); !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil
	})
}

func (w *timedWriter) timed(write func() error) error {
	if !w.allow() {
		return os.ErrDeadlineExceeded
	}
	began := time.Now()
	err := write()
	w.blocked += time.Since(began)
	return err
}

// allow sets the deadline of the next write; false: the client has been too slow. Not every
// small write moves it.
func (w *timedWriter) allow() bool {
	left := w.timeout
	if w.rate > 0 {
		left = min(left, w.timeout+time.Duration(w.written/w.rate)*time.Second-w.blocked)
	}
	if left <= 0 {
		return false
	}
	now := time.Now()
	if ahead := w.deadline.Sub(now); ahead < left*3/4 || ahead > left {
		w.deadline = now.Add(left)
		_ = w.rc.SetWriteDeadline(w.deadline) // writers in tests may have no deadline
	}
	return true
}
