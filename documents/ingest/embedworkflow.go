package ingest

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// embedWorkflowID is the id of the one run of EmbedWorkflow.
const embedWorkflowID = "embed"

// EmbedWorkflow makes vectors for documents that have none of the current embedding model.
func EmbedWorkflow(ctx workflow.Context) error {
	return upkeep(ctx, "Embed the documents that have no vectors of the current model", acts.EmbedDocuments)
}

// upkeep runs an activity over all documents, which goes on where its last attempt ended.
func upkeep(ctx workflow.Context, summary string, activity any) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           workflows.IngestQueue,
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Minute},
		Summary:             summary,
	})
	return workflow.ExecuteActivity(ctx, activity).Get(ctx, nil)
}

// StartEmbed starts EmbedWorkflow. It does nothing if that is already running.
func StartEmbed(ctx context.Context, c client.Client) error {
	return startUpkeep(ctx, c, embedWorkflowID, workflows.EmbedType, "Vectors for existing documents")
}

// startUpkeep starts the one run of a workflow. It does nothing if that is already running.
func startUpkeep(ctx context.Context, c client.Client, id, kind, summary string) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       id,
		TaskQueue:                workflows.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            summary,
	}, kind)
	return err
}
