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
	reconnectFirst = 100 * time.Millisecond
	// Longest pause between two tries to reach Temporal. With the SDK's 10 s a
	// heartbeat could come too late after an outage of two seconds.
	reconnectLongest = 500 * time.Millisecond
	connectTimeout   = 10 * time.Second
	// A workflow task that was handed out longer ago may be somebody else's by now:
	// it has 4 s.
	staleTask   = 2 * time.Second
	taskTimeout = 2 * time.Second // of the question whether it is
)

// connection is what the connection to Temporal has beyond the SDK's own.
//
// A worker goes on at once after an outage of Temporal: its calls wait for the
// connection instead of failing, and polls are sent again. The SDK's own back-off
// of polls is shared by all pollers: 10 that fail together sleep up to 10 s,
// though Temporal is back.
//
// A worker that was frozen while it polled drops the workflow tasks that were
// given to others meanwhile: they would run local activities by a state that is
// long past (TestATaskThatWasHandedOutToAFrozenWorkerIsDropped).
func connection(log *slog.Logger) []grpc.DialOption {
	delays := backoff.DefaultConfig
	delays.BaseDelay, delays.MaxDelay = reconnectFirst, reconnectLongest
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
		grpcretry.WithBackoff(grpcretry.BackoffExponentialWithJitterBounded(reconnectFirst, 0.2, reconnectLongest)),
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

// dropStaleTasks makes an empty answer of a workflow task that was handed out a
// while ago, unless the server says that it is still ours. A clock that is ahead
// of the server's costs a question for each task.
func dropStaleTasks(log *slog.Logger) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, opts...)
		task, is := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
		if err != nil || !is || task.GetStartedTime() == nil || time.Since(task.GetStartedTime().AsTime()) < staleTask {
			return err
		}
		if !ours(ctx, cc, req.(*workflowservice.PollWorkflowTaskQueueRequest).GetNamespace(), task) {
			log.Info("workflow task dropped: it was handed out while this worker did not answer", "workflow", task.GetWorkflowExecution().GetWorkflowId())
			proto.Reset(task)
		}
		return nil
	}
}

// ours asks the server whether a workflow task is the one that it waits for. One
// that it cannot say anything about is not: it would time out.
func ours(ctx context.Context, cc *grpc.ClientConn, namespace string, task *workflowservice.PollWorkflowTaskQueueResponse) bool {
	ctx, cancel := context.WithTimeout(ctx, taskTimeout)
	defer cancel()
	d, err := workflowservice.NewWorkflowServiceClient(cc).DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace, Execution: task.GetWorkflowExecution(),
	})
	return err == nil && proto.Equal(d.GetPendingWorkflowTask().GetStartedTime(), task.GetStartedTime())
}
