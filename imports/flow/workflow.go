package flow

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// Workflow imports one document for all open imports of it, and ends them. Names and
// texts are database rows. When another import of the document is requested while it runs,
// a signal tells it so, and it serves that import before it ends.
func Workflow(ctx workflow.Context, in workflows.ImportRequest) error {
	again := workflow.GetSignalChannel(ctx, workflows.SignalAgain)
	for {
		for again.ReceiveAsync(nil) {
		}
		// After a failure, imports that were requested meanwhile are tried once more.
		if err := importOnce(ctx, in); err != nil && again.Len() == 0 {
			workflow.GetLogger(ctx).Warn("import failed", "import", in.Key, "error", err)
			clean, _ := workflow.NewDisconnectedContext(ctx)
			if err := importStep(clean, time.Minute, "End the failed import", acts.FailImport, in, nil); err != nil {
				return err
			}
		}
		if again.Len() == 0 {
			return nil
		}
	}
}

// Timeouts of one attempt of a step. The importer's own are shorter.
const (
	importLookTimeout  = time.Minute
	importFetchTimeout = 15 * time.Minute
	// importTimeout bounds all attempts of a step, while the database is unavailable.
	importTimeout = time.Hour
	// maxIngests bounds how often an import waits for an ingest of its document, with a
	// pause of up to maxIngestWait: about two hours.
	maxIngests    = 250
	maxIngestWait = 30 * time.Second
)

func importOnce(ctx workflow.Context, in workflows.ImportRequest) error {
	var looked LookResult
	if err := importStep(ctx, importLookTimeout, "Look at the file", acts.LookImport, in, &looked); err != nil || looked.Done {
		return err
	}
	docID := looked.DocID
	if docID == "" {
		var fetched FetchResult
		if err := importStep(ctx, importFetchTimeout, "Download the file", acts.FetchImport, in, &fetched); err != nil || fetched.Done {
			return err
		}
		docID = fetched.DocID
	}
	for n := range maxIngests {
		if err := ingestImport(ctx, workflows.IngestRequest{Owner: in.Owner, DocID: docID}, min(time.Second<<min(n, 5), maxIngestWait)); err != nil {
			return err
		}
		var finished FinishResult
		if err := importStep(ctx, importLookTimeout, "End the import", acts.FinishImport, in, &finished); err != nil || !finished.Processing {
			return err
		}
	}
	return temporal.NewApplicationError("the document is still processing after the last ingest", "ingest")
}

// ingestImport processes the document like an upload. When another ingest of it is running,
// perhaps of the previous version, it waits; the caller tries again.
func ingestImport(ctx workflow.Context, in workflows.IngestRequest, wait time.Duration) error {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            workflows.IngestWorkflowID(in.DocID),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         "Document " + in.DocID,
	})
	err := workflow.ExecuteChildWorkflow(child, workflows.IngestType, in).Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return workflow.Sleep(ctx, wait)
	}
	return err
}

func importStep(ctx workflow.Context, timeout time.Duration, summary string, activity any, in workflows.ImportRequest, result any) error {
	step := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    timeout,
		ScheduleToCloseTimeout: importTimeout,
		HeartbeatTimeout:       30 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
		Summary:                summary,
	})
	return workflow.ExecuteActivity(step, activity, in).Get(ctx, result)
}
