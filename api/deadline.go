package api

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"
)

const (
	// AnswerTimeout limits the time from the arrival of the whole request to the
	// status line. Streams go on after it.
	AnswerTimeout = 15 * time.Second
	// readyTimeout is the timeout of /readyz, which probes call.
	readyTimeout = 5 * time.Second
)

// Routes returns the routes of the API, as "METHOD /path/:parameter", with their
// answer timeouts. All other paths belong to the page.
func Routes() map[string]time.Duration {
	s := &server{answerTimeout: AnswerTimeout, routeTimes: map[string]time.Duration{}, limits: &limits{}}
	s.routes() // runs no handler
	return s.routeTimes
}

const deadlineKey = "bound"

// requestDeadline limits the time until a request is answered.
type requestDeadline struct {
	within        time.Duration
	clientContext context.Context // ends when the client disconnects
	cancels       []context.CancelFunc
}

// within sets the deadline of a request's context a little before the answer is due,
// so that there is time to send an error. Streams go on with clientContext.
func (s *server) within(d time.Duration) gin.HandlerFunc {
	return func(c *gin.Context) {
		b := &requestDeadline{within: d, clientContext: c.Request.Context()}
		c.Set(deadlineKey, b)
		defer func() {
			for _, cancel := range b.cancels {
				cancel()
			}
		}()
		b.start(c)
		c.Next()
	}
}

func (b *requestDeadline) start(c *gin.Context) {
	ctx, cancel := context.WithTimeout(b.clientContext, b.within-b.within/15)
	b.cancels = append(b.cancels, cancel)
	c.Request = c.Request.WithContext(ctx)
}

// restartDeadline is called when the body has arrived: the time that the client
// takes to send it does not count.
func restartDeadline(c *gin.Context) { c.MustGet(deadlineKey).(*requestDeadline).start(c) }

// clientContext returns a context that ends when the client disconnects.
func clientContext(c *gin.Context) context.Context {
	return c.MustGet(deadlineKey).(*requestDeadline).clientContext
}

// fractionOfDeadline gives a call an nth of the time that ctx has left, so that a
// fallback can use the rest.
func fractionOfDeadline(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}

// detached keeps ctx's deadline but does not end when the client disconnects.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}
