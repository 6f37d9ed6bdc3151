package workflows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// Delete terminates a thread's workflow. An open turn is dropped.
func (c *Client) Delete(ctx context.Context, threadID string) error {
	return c.terminate(ctx, ThreadWorkflowID(threadID), "conversation deleted")
}

// EndIngest terminates a document's ingest.
func (c *Client) EndIngest(ctx context.Context, docID string) error {
	return c.terminate(ctx, IngestWorkflowID(docID), "user deleted")
}

func (c *Client) terminate(ctx context.Context, workflowID, reason string) error {
	return ignoreNotFound(c.Temporal.TerminateWorkflow(ctx, workflowID, "", reason))
}

// ForgetThread asks Temporal to delete the histories of a thread's runs: the newest, and
// those that closed earlier. It does so in its own time. A server that does not permit it
// keeps them until its retention ends, which is no error.
func (c *Client) ForgetThread(ctx context.Context, threadID string) error {
	_, err := c.Forget(ctx, ThreadWorkflowID(threadID))
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	if errors.As(err, &denied) || errors.As(err, &unknown) {
		slog.Warn("Temporal does not permit deleting histories; it keeps them until the retention of the namespace ends", "thread", threadID, "error", err)
		return nil
	}
	return err
}

// Forget asks Temporal to delete the history of every run of a workflow that it lists,
// and counts the runs.
func (c *Client) Forget(ctx context.Context, workflowID string) (asked int, _ error) {
	runs, err := c.runsOf(ctx, workflowID)
	if err != nil {
		return 0, err
	}
	for run := range runs {
		_, err := c.Temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: c.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: run},
		})
		if ignoreNotFound(err) != nil {
			return asked, err
		}
		asked++
	}
	return asked, nil
}

// runsOf are the ids of a workflow's runs: the newest, and those that the visibility
// store lists.
func (c *Client) runsOf(ctx context.Context, workflowID string) (map[string]bool, error) {
	runs := map[string]bool{}
	newest, err := c.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	switch {
	case isNotFound(err): // older runs may still be listed
	case err != nil:
		return nil, err
	default:
		runs[newest.GetWorkflowExecutionInfo().GetExecution().GetRunId()] = true
	}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowId = '%s'", workflowID), // our own id, kind and UUID: nothing to escape
	}
	for {
		page, err := c.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, run := range page.Executions {
			runs[run.GetExecution().GetRunId()] = true
		}
		if request.NextPageToken = page.NextPageToken; len(request.NextPageToken) == 0 {
			return runs, nil
		}
	}
}

func ignoreNotFound(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}
