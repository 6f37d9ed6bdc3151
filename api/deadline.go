package api

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// AnswerTimeout is within which a route answers: from the arrival of the whole
	// request to the status line. For a stream that is its beginning.
	AnswerTimeout = 15 * time.Second
	// readyTimeout is that of /readyz, which is asked by probes.
	readyTimeout = 5 * time.Second
)

// Routes are the routes that the API registers, as "METHOD /path/:parameter", each
// with the time within which it answers. Everything else is the page's.
func Routes() map[string]time.Duration {
	s := &server{answerTimeout: AnswerTimeout, routeTimes: map[string]time.Duration{}, limits: &limits{}}
	s.routes() // runs no handler
	return s.routeTimes
}

const boundKey = "bound"

// bound is the time within which a request is answered.
type bound struct {
	within  time.Duration
	life    context.Context // ends when the client disconnects
	cancels []context.CancelFunc
}

// within hands the time by which a route answers down to all that is done for the
// request: the request's context ends a little earlier, so that there is time to
// say what was missing. A stream goes on with the request's life.
func (s *server) within(d time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		b := &bound{within: d, life: c.Request.Context()}
		c.Set(boundKey, b)
		defer func() {
			for _, cancel := range b.cancels {
				cancel()
			}
		}()
		b.start(c)
		c.Next()
	}
}

func (b *bound) start(c *gin.Context) {
	ctx, cancel := context.WithTimeout(b.life, b.within-b.within/15)
	b.cancels = append(b.cancels, cancel)
	c.Request = c.Request.WithContext(ctx)
}

// arrived begins the time anew when the body of a request has arrived: how long
// that takes is the client's affair.
func arrived(c *gin.Context) { c.MustGet(boundKey).(*bound).start(c) }

// life is the context of what goes on after a request was answered.
func life(c *gin.Context) context.Context { return c.MustGet(boundKey).(*bound).life }

// share is an nth of the time that ctx has left, for a call whose failure is made
// up for in the rest of it.
func share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}

// detached has ctx's deadline and goes on when the client disconnects.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}
