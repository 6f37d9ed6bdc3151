package request

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/internal/memlimit"
)

const largeKey = "large bodies"

// parseMemory is how many bytes of memory parsing one byte of JSON takes: the bytes, the
// texts, and what the collector has not freed yet.
const parseMemory = 6

// busyRetryAfter is Retry-After while the memory for large bodies is taken.
const busyRetryAfter = 5 * time.Second

// Large limits the JSON bodies of more than dialect.MaxBody bytes. They are received in a
// file, so that a slow client takes no memory, and are parsed within a memory limit.
type Large struct {
	Memory *memlimit.Limit
	Dir    string // of the files; empty: that of the system
	// Admit counts a large body of the caller before it is received, or refuses it.
	Admit func(*gin.Context) (release func(), _ error)
}

// Use applies the limits to the requests of a router.
func (l *Large) Use(c *gin.Context) { c.Set(largeKey, l) }

// receive reads a body. Call release when it was parsed.
func (l *Large) receive(c *gin.Context, limit int64) (raw []byte, release func(), _ error) {
	admitted, err := l.Admit(c)
	if err != nil {
		return nil, nil, err
	}
	body, err := Spool(http.MaxBytesReader(c.Writer, c.Request.Body, limit), l.Dir, limit)
	if err != nil {
		admitted()
		return nil, nil, readError(err)
	}
	defer body.Close()
	BodyReceived(c)
	taken, err := l.Memory.Acquire(c.Request.Context(), parseMemory*body.Size)
	if err != nil {
		admitted()
		return nil, nil, problem.TooMany(messages.ManyFiles, busyRetryAfter)
	}
	release = func() { taken(); admitted() }
	if raw, err = body.Bytes(); err != nil {
		release()
		return nil, nil, err
	}
	return raw, release, nil
}

// body reads a JSON body with a size limit and a timeout. Call release when it was parsed.
func body(c *gin.Context, limit int64) (raw []byte, release func(), err error) {
	if err := checkJSON(c, limit); err != nil {
		return nil, nil, err
	}
	if l, is := c.Get(largeKey); is && c.Request.ContentLength > dialect.MaxBody {
		return l.(*Large).receive(c, limit)
	}
	raw, err = readAll(c, min(limit, dialect.MaxBody)) // a body of unknown length is never large
	return raw, func() {}, err
}

// Body reads a JSON body with a size limit and a timeout.
func Body(c *gin.Context, limit int64) ([]byte, error) {
	raw, release, err := body(c, limit)
	if err == nil {
		context.AfterFunc(ClientContext(c), release) // at the end of the request
	}
	return raw, err
}

// Parse reads a JSON body and parses it.
func Parse[T any](c *gin.Context, limit int64, parse func([]byte) (T, error)) (in T, _ error) {
	raw, release, err := body(c, limit)
	if err != nil {
		return in, err
	}
	defer release()
	return parse(raw)
}
