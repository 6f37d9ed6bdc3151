package service

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	grpcretry "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

const (
	reconnectMin = 100 * time.Millisecond
	// Maximum back-off of connection attempts. With the SDK's 10 s a heartbeat could
	// come too late after an outage of two seconds.
	reconnectMax   = 500 * time.Millisecond
	connectTimeout = 10 * time.Second
	// A workflow task that was dispatched longer ago than this may belong to another worker
	// by now: its timeout is 4 s.
	staleTask   = 2 * time.Second
	taskTimeout = 2 * time.Second // of the check whether the task is still ours
)

// connection returns options that the connection to Temporal needs beyond the SDK's.
//
// A worker resumes at once after an outage of Temporal: its calls wait for the
// connection instead of failing, and polls are repeated. The SDK's back-off of polls
// is shared by all pollers: after 10 polls have failed together, they sleep up to 10 s
// although Temporal is available again.
//
// A worker that was frozen while it polled drops the workflow tasks that other workers
// got in the meantime: with them it would run local activities with outdated state
// (TestTaskDispatchedToAFrozenWorkerIsDropped).
func connection(log *slog.Logger) []grpc.DialOption {
	delays := backoff.DefaultConfig
	delays.BaseDelay, delays.MaxDelay = reconnectMin, reconnectMax
	return []grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: delays, MinConnectTimeout: connectTimeout}),
		grpc.WithChainUnaryInterceptor(waitForServer(log), dropStaleTasks(log)),
	}
}

func waitForServer(log *slog.Logger) grpc.UnaryClientInterceptor {
	var told atomic.Bool
	again := grpcretry.UnaryClientInterceptor(
		grpcretry.WithMax(math.MaxUint32),
		grpcretry.WithCodes(codes.Unavailable),
		grpcretry.WithBackoff(grpcretry.BackoffExponentialWithJitterBounded(reconnectMin, 0.2, reconnectMax)),
		grpcretry.WithOnRetryCallback(func(_ context.Context, _ uint, err error) {
			if told.CompareAndSwap(false, true) {
				log.Warn("Temporal is unavailable; polling again", "error", err)
			}
		}),
	)
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		switch method {
		case workflowservice.WorkflowService_PollWorkflowTaskQueue_FullMethodName,
			workflowservice.WorkflowService_PollActivityTaskQueue_FullMethodName:
			err := again(ctx, method, req, reply, cc, invoke, append(opts, grpc.WaitForReady(true))...)
			if err == nil {
				told.Store(false)
			}
			return err
		case workflowservice.WorkflowService_RecordActivityTaskHeartbeat_FullMethodName,
			workflowservice.WorkflowService_RespondActivityTaskCompleted_FullMethodName,
			workflowservice.WorkflowService_RespondActivityTaskFailed_FullMethodName,
			workflowservice.WorkflowService_RespondWorkflowTaskCompleted_FullMethodName,
			workflowservice.WorkflowService_RespondWorkflowTaskFailed_FullMethodName:
			opts = append(opts, grpc.WaitForReady(true))
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// dropStaleTasks replaces a workflow task that was dispatched more than staleTask ago with
// an empty poll result, unless the server says that the task is still ours. If our clock is
// that much ahead of the server's, every task costs a check.
func dropStaleTasks(log *slog.Logger) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		task, is := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
		if err != nil || !is || task.GetStartedTime() == nil || time.Since(task.GetStartedTime().AsTime()) < staleTask {
			return err
		}
		if !isCurrentTask(ctx, cc, req.(*workflowservice.PollWorkflowTaskQueueRequest).GetNamespace(), task) {
			log.Info("dropped a stale workflow task: it was dispatched while this worker was frozen", "workflow", task.GetWorkflowExecution().GetWorkflowId())
			proto.Reset(task)
		}
		return nil
	}
}

// isCurrentTask asks the server whether it still waits for this workflow task. If the
// server does not answer, the task counts as stale; the server dispatches it again after
// its timeout.
func isCurrentTask(ctx context.Context, cc *grpc.ClientConn, namespace string, task *workflowservice.PollWorkflowTaskQueueResponse) bool {
	ctx, cancel := context.WithTimeout(ctx, taskTimeout)
	defer cancel()
	d, err := workflowservice.NewWorkflowServiceClient(cc).DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace, Execution: task.GetWorkflowExecution(),
	})
	return err == nil && proto.Equal(d.GetPendingWorkflowTask().GetStartedTime(), task.GetStartedTime())
}
