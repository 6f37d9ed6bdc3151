package workflows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// Delete ends a thread's workflow. An open turn is dropped.
func (c *Client) Delete(ctx context.Context, threadID string) error {
	return c.end(ctx, ThreadWorkflowID(threadID), "conversation deleted")
}

// EndIngest ends a document's ingest.
func (c *Client) EndIngest(ctx context.Context, docID string) error {
	return c.end(ctx, IngestWorkflowID(docID), "user deleted")
}

// EndImport ends the import of a document.
func (c *Client) EndImport(ctx context.Context, key string) error {
	return c.end(ctx, ImportWorkflowID(key), "user deleted")
}

// end terminates an open run and deletes its history in one request. If it terminated the
// run first, the server would delete the history much later: it waits about half a minute
// until it has recorded the end of a run, and the runs of a shard wait for each other.
func (c *Client) end(ctx context.Context, workflowID, reason string) error {
	newest, err := c.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err == nil && newest.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if err := c.deleteRun(ctx, workflowID, ""); err != nil && !isNotFound(err) && !notPermitted(err) {
			return err
		}
	}
	// For a run that began meanwhile, and for a server that does not permit deletes.
	return ignoreNotFound(c.Temporal.TerminateWorkflow(ctx, workflowID, "", reason))
}

func (c *Client) deleteRun(ctx context.Context, workflowID, run string) error {
	_, err := c.Temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: c.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: run},
	})
	return err
}

// notPermitted reports whether the server does not permit us to delete histories.
func notPermitted(err error) bool {
	return errors.As(err, new(*serviceerror.PermissionDenied)) || errors.As(err, new(*serviceerror.Unimplemented))
}

// ForgetThread asks Temporal to delete the histories of a thread's runs: the newest, and
// those that closed earlier. Temporal deletes them later, in the background. A server that
// does not permit it keeps them until its retention ends, which is not an error.
func (c *Client) ForgetThread(ctx context.Context, threadID string) error {
	err := c.Forget(ctx, ThreadWorkflowID(threadID))
	if notPermitted(err) {
		slog.Warn("Temporal does not permit deleting histories; it keeps them until the retention of the namespace ends", "thread", threadID, "error", err)
		return nil
	}
	return err
}

// Forget asks Temporal to delete the history of every run of a workflow that it lists.
func (c *Client) Forget(ctx context.Context, workflowID string) error {
	runs, err := c.runsOf(ctx, workflowID)
	if err != nil {
		return err
	}
	for run := range runs {
		if err := ignoreNotFound(c.deleteRun(ctx, workflowID, run)); err != nil {
			return err
		}
	}
	return nil
}

// runsOf returns the ids of a workflow's runs: the newest, and those that the visibility
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
		Query: fmt.Sprintf("WorkflowId = '%s'", workflowID), // our own id, a prefix and a UUID: nothing to escape
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
