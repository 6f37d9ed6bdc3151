package activitytest

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
)

// Info fakes an activity's attempt, times and heartbeat timeout.
type Info struct {
	interceptor.WorkerInterceptorBase
	Attempt   int32
	Ago       time.Duration // time since the attempt began
	Scheduled time.Duration // time between scheduling and the attempt
	Heartbeat time.Duration // the heartbeat timeout
}

func (i *Info) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &inbound{info: i}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	info *Info
}

func (i *inbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	o := &outbound{info: i.info}
	o.Next = out
	return i.Next.Init(o)
}

type outbound struct {
	interceptor.ActivityOutboundInterceptorBase
	info *Info
}

func (o *outbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.Attempt = o.info.Attempt
	info.StartedTime = time.Now().Add(-o.info.Ago)
	info.ScheduledTime = info.StartedTime.Add(-o.info.Scheduled)
	info.HeartbeatTimeout = o.info.Heartbeat
	return info
}
