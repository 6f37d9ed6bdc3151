// Package worker runs workflows and activities for a task queue.
package worker

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/stream"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	// After a worker's death its threads' next tasks go to any worker after this
	// long, instead of the SDK's 5 s.
	stickyTimeout = time.Second
	// How long running activities may take to hand in what they have at a stop.
	stopTimeout = 5 * time.Second
	// A cached thread costs about 48 KiB.
	stickyCache = 2000
	// With the SDK's default of two, the first tasks of new threads starve behind
	// those of threads that are cached here.
	workflowPollers = 10
	activityPollers = 5
	// Workflow code that does not yield for so long hangs; the SDK's 1 s also comes
	// by on a machine that is only busy. A workflow task has 4 s.
	deadlock = 4 * time.Second
	// Streaming activities wait on models; they cost next to nothing.
	concurrentActivities = 400
)

func init() { worker.SetStickyWorkflowCacheSize(stickyCache) }

// New makes a worker that is ready to start. bus carries what is new
// in turns to their followers; watching sees every activity run.
func New(c client.Client, a *activities.Activities, bus stream.Bus, watching ...interceptor.WorkerInterceptor) worker.Worker {
	w := worker.New(c, workflows.TaskQueue, worker.Options{
		StickyScheduleToStartTimeout:       stickyTimeout,
		WorkerStopTimeout:                  stopTimeout,
		MaxConcurrentActivityExecutionSize: concurrentActivities,
		MaxConcurrentWorkflowTaskPollers:   workflowPollers,
		MaxConcurrentActivityTaskPollers:   activityPollers,
		MaxHeartbeatThrottleInterval:       time.Second,
		DefaultHeartbeatThrottleInterval:   time.Second,
		DeadlockDetectionTimeout:           deadlock,
		Interceptors:                       append(watching, activities.Announce(bus), activities.Recover(a)),
	})
	threads := &workflows.Threads{Hint: bus.Hint}
	w.RegisterWorkflowWithOptions(threads.Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
	w.RegisterWorkflowWithOptions(workflows.Ingest, workflow.RegisterOptions{Name: workflows.IngestType})
	w.RegisterActivity(a)
	return w
}
