// Package worker runs workflows and activities for the task queues.
package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/app/prune"
	"github.com/palaver-chat/palaver/documents/ingest"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	// When a worker has died, other workers get its threads' tasks after this long
	// (SDK default: 5 s).
	stickyTimeout = time.Second
	// How long a stopping worker waits for its activities to save their partial
	// results.
	stopTimeout = 5 * time.Second
	// A cached thread costs about 48 KiB.
	stickyCache = 2000
	// With the SDK's default of two, the first tasks of new threads starve behind
	// those of cached threads. A task without a waiting poller goes through the
	// queue's backlog; with ten pollers, that is 6 % of a turn's CPU at 32 threads.
	workflowPollers = 32
	activityPollers = 5
	// Workflow code that does not yield for this long counts as deadlocked. The SDK's
	// default of 1 s can also pass on a busy machine. A workflow task has 4 s.
	deadlock = 4 * time.Second
	// Streaming activities mostly wait for models, so many can run at once.
	concurrentActivities = 400
	// Documents are read one by one on a core, and wait for the embedding model otherwise.
	concurrentIngests = 8
	// A page that OCR reads takes a whole core for some seconds.
	concurrentScans = 1
	// Between two tries to start while Temporal is unavailable.
	retryInterval = time.Second
)

// Worker polls the task queue of conversations, that of documents, and that of scanned pages.
type Worker struct{ queues []worker.Worker }

// Start begins to poll. While Temporal is unavailable, Start waits until ctx ends.
func (w *Worker) Start(ctx context.Context) error {
	for i, queue := range w.queues {
		if err := start(ctx, queue); err != nil {
			(&Worker{w.queues[:i]}).Stop()
			return err
		}
	}
	return nil
}

// start retries because the SDK asks the server about the namespace before it polls.
func start(ctx context.Context, queue worker.Worker) error {
	for {
		err := queue.Start()
		if !errors.As(err, new(*serviceerror.Unavailable)) && !errors.As(err, new(*serviceerror.DeadlineExceeded)) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
		}
	}
}

// Stop waits until running activities have saved what they have.
func (w *Worker) Stop() {
	var all sync.WaitGroup
	for _, queue := range w.queues {
		all.Go(queue.Stop)
	}
	all.Wait()
}

func init() { worker.SetStickyWorkflowCacheSize(stickyCache) }

// Activities are those of one room. Register registers each under the name of its method.
type Activities interface {
	Register(worker.ActivityRegistry)
}

// Rooms has what a worker runs.
type Rooms struct {
	Kit    *activities.Kit
	Agents []workflows.Agent
	// Threads are activities for the task queue of conversations, and Documents those that read
	// and embed documents, on a queue of their own.
	Threads   []Activities
	Documents Activities
	// Scans says whether Documents has OCR, for the task queue of scanned pages.
	Scans bool
}

// New creates a worker that is ready to start. failed is called when the worker cannot
// continue, for example because Temporal refuses its credentials; the watching interceptors
// see every activity.
func New(c client.Client, rooms Rooms, failed func(error), watching ...interceptor.WorkerInterceptor) *Worker {
	options := worker.Options{
		StickyScheduleToStartTimeout:       stickyTimeout,
		WorkerStopTimeout:                  stopTimeout,
		MaxConcurrentActivityExecutionSize: concurrentActivities,
		MaxConcurrentWorkflowTaskPollers:   workflowPollers,
		MaxConcurrentActivityTaskPollers:   activityPollers,
		MaxHeartbeatThrottleInterval:       time.Second,
		DefaultHeartbeatThrottleInterval:   time.Second,
		DeadlockDetectionTimeout:           deadlock,
		OnFatalError:                       func(err error) { failed(fmt.Errorf("the worker failed: %w", err)) },
		Interceptors:                       append(watching, activities.Announce(rooms.Kit.Bus), activities.Recover(rooms.Kit)),
	}
	w := worker.New(c, workflows.TaskQueue, options)
	threads := &workflows.Threads{Agents: rooms.Agents, Prepare: flow.First, Hint: rooms.Kit.Bus.Hint}
	w.RegisterWorkflowWithOptions(threads.Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
	w.RegisterWorkflowWithOptions(ingest.Workflow, workflow.RegisterOptions{Name: workflows.IngestType})
	w.RegisterWorkflowWithOptions(flow.Workflow, workflow.RegisterOptions{Name: workflows.ImportType})
	w.RegisterWorkflowWithOptions(prune.Workflow, workflow.RegisterOptions{Name: workflows.PruneType})
	w.RegisterWorkflowWithOptions(ingest.EmbedWorkflow, workflow.RegisterOptions{Name: workflows.EmbedType})
	w.RegisterWorkflowWithOptions(ingest.IndexWorkflow, workflow.RegisterOptions{Name: workflows.IndexType})
	for _, room := range append(rooms.Threads, rooms.Documents) {
		room.Register(w)
	}
	for _, agent := range rooms.Agents {
		agent.Register(w)
	}
	options.DisableWorkflowWorker = true
	options.MaxConcurrentActivityExecutionSize = concurrentIngests
	options.MaxConcurrentActivityTaskPollers = 1
	ingests := worker.New(c, workflows.IngestQueue, options)
	rooms.Documents.Register(ingests)
	queues := []worker.Worker{w, ingests}
	if rooms.Scans {
		options.MaxConcurrentActivityExecutionSize = concurrentScans
		scans := worker.New(c, workflows.ScanQueue, options)
		rooms.Documents.Register(scans)
		queues = append(queues, scans)
	}
	return &Worker{queues}
}
