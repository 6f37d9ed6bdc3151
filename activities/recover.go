package activities

import (
	"context"
	"fmt"
	"runtime/debug"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Attempts of an activity that panics. It usually panics again, and each attempt may
// cost a model call.
const panicTries = 2

// Recover is a worker interceptor that turns a panic of an activity into an error.
// Without it Temporal retries the activity until the turn's deadline.
func Recover(k *Kit) interceptor.WorkerInterceptor { return &recoverInterceptor{kit: k} }

type recoverInterceptor struct {
	interceptor.WorkerInterceptorBase
	kit *Kit
}

func (r *recoverInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &recoveringActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, r.kit}
}

type recoveringActivity struct {
	interceptor.ActivityInboundInterceptorBase
	kit *Kit
}

func (r *recoveringActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, r.kit.Panicked(ctx, in.Args, p)
		}
	}()
	return r.Next.ExecuteActivity(ctx, in)
}

// Panicked logs a panic of an activity with these arguments, and returns its error.
func (k *Kit) Panicked(ctx context.Context, args []any, value any) error {
	info, log := activity.GetInfo(ctx), k.Logger()
	if len(args) > 0 {
		if of, is := args[0].(interface{ Ref() TurnRef }); is {
			log = k.LogOf(of.Ref())
		}
	}
	log.Error("activity panicked", "activity", info.ActivityType.Name, "attempt", info.Attempt,
		"panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return internal(ctx, info.ActivityType.Name, panicTries)
}
