package workflows

import (
	"context"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueue "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/palaver-chat/palaver/chat"
)

// Run returns the newest run of a thread's workflow. It needs no worker. On an error the
// run's status is unknown: the workflow may be open.
func (c *Client) Run(ctx context.Context, threadID string) (chat.WorkflowRun, error) {
	return c.run(ctx, ThreadWorkflowID(threadID))
}

// IngestRun is Run for a document's ingest.
func (c *Client) IngestRun(ctx context.Context, docID string) (chat.WorkflowRun, error) {
	return c.run(ctx, IngestWorkflowID(docID))
}

// ImportRun is Run for the imports with this key.
func (c *Client) ImportRun(ctx context.Context, key string) (chat.WorkflowRun, error) {
	return c.run(ctx, ImportWorkflowID(key))
}

var runStatuses = map[enumspb.WorkflowExecutionStatus]chat.RunStatus{
	enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:    chat.RunOpen,
	enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:     chat.RunOpen,
	enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:  chat.RunCompleted,
	enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:     chat.RunFailed,
	enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:   chat.RunCancelled,
	enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED: chat.RunTerminated,
	enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:  chat.RunTimedOut,
}

func (c *Client) run(ctx context.Context, workflowID string) (chat.WorkflowRun, error) {
	d, err := c.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if isNotFound(err) {
		return chat.WorkflowRun{Status: chat.RunNotFound}, nil
	}
	if err != nil {
		return chat.WorkflowRun{}, fmt.Errorf("describe workflow %s: %w", workflowID, err)
	}
	info := d.GetWorkflowExecutionInfo()
	status, known := runStatuses[info.GetStatus()]
	if !known { // such as continued as new: the next run is the newest in a moment
		return chat.WorkflowRun{}, fmt.Errorf("describe workflow %s: status %s says neither open nor closed", workflowID, info.GetStatus())
	}
	task := d.GetPendingWorkflowTask()
	run := chat.WorkflowRun{Status: status, ID: info.GetExecution().GetRunId(), Length: info.GetHistoryLength(), Tries: int(task.GetAttempt()),
		Waits: task.GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_SCHEDULED && info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED}
	if status != chat.RunOpen {
		run.Closed = info.GetCloseTime().AsTime()
	}
	return run, nil
}

// EndRun ends a run of a thread's workflow.
func (c *Client) EndRun(ctx context.Context, threadID, run, reason string) error {
	return ignoreNotFound(c.Temporal.TerminateWorkflow(ctx, ThreadWorkflowID(threadID), run, reason))
}

// Idle reports whether workers poll for workflow tasks and none waits for them. An older server
// does not say how many wait; then it is false.
func (c *Client) Idle(ctx context.Context) (bool, error) {
	d, err := c.Temporal.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: c.Namespace, TaskQueue: &taskqueue.TaskQueue{Name: TaskQueue}, TaskQueueType: enumspb.TASK_QUEUE_TYPE_WORKFLOW, ReportStats: true,
	})
	if err != nil {
		return false, fmt.Errorf("describe the task queue: %w", err)
	}
	return len(d.GetPollers()) > 0 && d.Stats != nil && d.Stats.GetApproximateBacklogCount() == 0, nil
}

// interruptedPage is how many threads InterruptedThreads returns at most.
const interruptedPage = 200

// InterruptedThreads lists threads whose workflow waits for a person, page by
// page; next is empty at the end. Temporal's visibility store may be some seconds
// behind.
func (c *Client) InterruptedThreads(ctx context.Context, page []byte) (threads []chat.ThreadRef, next []byte, _ error) {
	list, err := c.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: interruptedPage, NextPageToken: page,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND %s = '%s'",
			ThreadType, StatusAttribute.GetName(), statusInterrupted),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list open threads: %w", err)
	}
	for _, w := range list.GetExecutions() {
		thread, ours := strings.CutPrefix(w.GetExecution().GetWorkflowId(), ThreadWorkflowID(""))
		var owner string
		err := converter.GetDefaultDataConverter().FromPayload(w.GetSearchAttributes().GetIndexedFields()[UserAttribute.GetName()], &owner)
		if ours && err == nil && owner != "" {
			threads = append(threads, chat.ThreadRef{Owner: owner, ThreadID: thread})
		}
	}
	return threads, list.GetNextPageToken(), nil
}
