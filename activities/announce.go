package activities

import (
	"context"

	"go.temporal.io/sdk/interceptor"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// Announce is a worker interceptor. Before an activity runs, it publishes the new
// log entries of its turn: Temporal has recorded them, or it would not have
// scheduled the activity. The activity sees the documents of its thread and
// space.
func Announce(bus bus.Bus) interceptor.WorkerInterceptor { return &announceInterceptor{bus: bus} }

type announceInterceptor struct {
	interceptor.WorkerInterceptorBase
	bus bus.Bus
}

func (n *announceInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &announcingActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, n.bus}
}

type announcingActivity struct {
	interceptor.ActivityInboundInterceptorBase
	bus bus.Bus
}

func (n *announcingActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	if len(in.Args) > 0 {
		if of, is := in.Args[0].(interface{ Ref() TurnRef }); is {
			ref := of.Ref()
			ctx = db.InThread(ctx, ref.ThreadID)
			if ref.Space != "" {
				ctx = db.InSpace(ctx, ref.Space)
			}
			if len(ref.Fresh) > 0 {
				n.bus.PublishLog(ref.TurnID, ref.Fresh)
			}
		}
	}
	return n.Next.ExecuteActivity(ctx, in)
}
