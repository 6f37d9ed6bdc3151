package request

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"
)

// Why an answer ends before it is complete.
var (
	ErrClientDisconnected = errors.New("the client has disconnected")
	ErrStopping           = errors.New("the server is shutting down")
)

const deadlineKey = "bound"

// requestDeadline limits the time until a request is answered.
type requestDeadline struct {
	within        time.Duration
	clientContext context.Context // ends when the client disconnects
	cancels       []context.CancelFunc
}

// Within sets the deadline of a request's context a little before the answer is due,
// so that there is time to send an error. Streams go on with ClientContext.
func Within(d time.Duration) gin.HandlerFunc {
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

// AddValue gives the request's context a value that it keeps when its deadline starts again.
func AddValue(c *gin.Context, add func(context.Context) context.Context) {
	b := c.MustGet(deadlineKey).(*requestDeadline)
	b.clientContext = add(b.clientContext)
	c.Request = c.Request.WithContext(add(c.Request.Context()))
}

// ClientContext returns a context that ends when the client disconnects.
func ClientContext(c *gin.Context) context.Context {
	return c.MustGet(deadlineKey).(*requestDeadline).clientContext
}

// FractionOfDeadline gives a call an nth of the time that ctx has left, so that a
// fallback can use the rest.
func FractionOfDeadline(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
}

// Detached keeps ctx's deadline but does not end when the client disconnects.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(context.WithoutCancel(ctx))
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}
