package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/palaver-chat/palaver/testkit/must"
)

// frontend is a Temporal server that dispatches one workflow task.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	unavailable atomic.Int32 // number of polls that fail before one succeeds
	polls       atomic.Int32
	task        *workflowservice.PollWorkflowTaskQueueResponse
	pending     *workflowpb.PendingWorkflowTaskInfo
	describe    error
	asked       atomic.Int32
}

func (f *frontend) PollWorkflowTaskQueue(context.Context, *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	f.polls.Add(1)
	if f.unavailable.Add(-1) >= 0 {
		return nil, status.Error(codes.Unavailable, "starting")
	}
	return f.task, nil
}

func (f *frontend) DescribeWorkflowExecution(_ context.Context, r *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.asked.Add(1)
	if r.GetNamespace() != "default" || r.GetExecution().GetWorkflowId() != "thread:1" {
		return nil, errors.New("asked for another workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{PendingWorkflowTask: f.pending}, f.describe
}

// dialed returns a client with a worker's connection options.
func (f *frontend) dialed(t *testing.T) workflowservice.WorkflowServiceClient {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	c := must.Have(grpc.NewClient(l.Addr().String(), append(connection(slog.New(slog.DiscardHandler)), grpc.WithTransportCredentials(insecure.NewCredentials()))...))(t)
	t.Cleanup(func() { _ = c.Close() })
	return workflowservice.NewWorkflowServiceClient(c)
}

func poll(t *testing.T, c workflowservice.WorkflowServiceClient) *workflowservice.PollWorkflowTaskQueueResponse {
	t.Helper()
	task := must.Have(c.PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{Namespace: "default"}))(t)
	return task
}

func TestPollIsRepeatedAfterAnOutage(t *testing.T) {
	f := &frontend{task: &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("token")}}
	f.unavailable.Store(5)
	require.Equal(t, "token", string(poll(t, f.dialed(t)).TaskToken))
	require.EqualValues(t, 6, f.polls.Load())
}

func TestTaskDispatchedToAFrozenWorkerIsDropped(t *testing.T) {
	long, now := timestamppb.New(time.Now().Add(-20*time.Second)), timestamppb.Now()
	for name, c := range map[string]struct {
		started  *timestamppb.Timestamp
		pending  *workflowpb.PendingWorkflowTaskInfo
		describe error
		kept     bool
		asked    int32
	}{
		"dispatched just now":          {started: now, kept: true},
		"given to another worker":      {started: long, pending: &workflowpb.PendingWorkflowTaskInfo{StartedTime: now}, asked: 1},
		"done by another worker":       {started: long, asked: 1},
		"the server does not answer":   {started: long, describe: status.Error(codes.Unavailable, "down"), asked: 1},
		"ours, and our clock is ahead": {started: long, pending: &workflowpb.PendingWorkflowTaskInfo{StartedTime: long}, kept: true, asked: 1},
		"a query, or nothing":          {kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &frontend{pending: c.pending, describe: c.describe, task: &workflowservice.PollWorkflowTaskQueueResponse{
				TaskToken: []byte("token"), StartedTime: c.started, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "thread:1"},
			}}
			task := poll(t, f.dialed(t))
			require.Equal(t, c.kept, len(task.TaskToken) > 0)
			require.Equal(t, c.asked, f.asked.Load())
		})
	}
}
