package ingest

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// Workflow extracts, chunks and indexes one uploaded document. A file that cannot be
// read is marked failed with the reason. The document's row has the progress.
func Workflow(ctx workflow.Context, in workflows.IngestRequest) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           workflows.IngestQueue,
		StartToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 30 * time.Second, MaximumAttempts: 20},
		Summary:             "Read and index the document",
	})
	err := workflow.ExecuteActivity(ctx, acts.Ingest, in).Get(ctx, nil)
	if err == nil {
		return nil
	}
	workflow.GetLogger(ctx).Warn("ingest failed", "document", in.DocID, "error", err)
	clean, _ := workflow.NewDisconnectedContext(workflow.WithTaskQueue(ctx, workflows.TaskQueue))
	return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)
}
