package activities

import (
	"context"
	"fmt"
	"runtime/debug"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Tries of an activity that panics. A panic comes again as a rule, and each try
// may cost a call to the model.
const panicTries = 2

// Recover makes an error of a panic in one of a's activities, for a worker's
// options. Without it Temporal tries the activity again until the turn's
// deadline.
func Recover(a *Activities) interceptor.WorkerInterceptor { return &recovering{activities: a} }

type recovering struct {
	interceptor.WorkerInterceptorBase
	activities *Activities
}

func (r *recovering) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &recoveringActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, r.activities}
}

type recoveringActivity struct {
	interceptor.ActivityInboundInterceptorBase
	activities *Activities
}

func (r *recoveringActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, r.activities.panicked(ctx, in.Args, p)
		}
	}()
	return r.Next.ExecuteActivity(ctx, in)
}

// panicked is the error of an activity that panicked. args are what it was given.
func (a *Activities) panicked(ctx context.Context, args []any, value any) error {
	info, log := activity.GetInfo(ctx), a.log()
	if len(args) > 0 {
		if of, is := args[0].(interface{ Ref() TurnRef }); is {
			log = a.logOf(of.Ref())
		}
	}
	log.Error("activity panicked", "activity", info.ActivityType.Name, "attempt", info.Attempt,
		"panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return internal(ctx, info.ActivityType.Name, panicTries)
}
