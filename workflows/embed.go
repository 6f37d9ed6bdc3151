package workflows

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// embedWorkflowID is the id of the one run of Embed.
const embedWorkflowID = "embed"

// Embed makes vectors for documents that have none of the current embedding model.
func Embed(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           IngestQueue,
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Minute},
		Summary:             "Embed the documents that have no vectors of the current model",
	})
	return workflow.ExecuteActivity(ctx, acts.EmbedDocuments).Get(ctx, nil)
}

// Embed starts the Embed workflow. It does nothing if that is already running.
func (c *Client) Embed(ctx context.Context) error {
	_, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       embedWorkflowID,
		TaskQueue:                TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "Vectors for existing documents",
	}, EmbedType)
	return err
}
