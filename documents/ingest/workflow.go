package ingest

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/workflows"
)

// scanQueueTimeout is how long a page waits for a worker that has OCR. After it, the pages
// that are left stay unread.
const scanQueueTimeout = 2 * time.Hour

// Workflow extracts, chunks and indexes one uploaded document. Pages that are pictures are
// read one by one, each in an activity of its own. A file that cannot be read is marked
// failed with the reason. The document's row has the progress.
func Workflow(ctx workflow.Context, in workflows.IngestRequest) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           workflows.IngestQueue,
		StartToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 30 * time.Second, MaximumAttempts: 20},
		Summary:             "Read and index the document",
	})
	scanning := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              workflows.ScanQueue,
		ScheduleToStartTimeout: scanQueueTimeout,
		StartToCloseTimeout:    10 * time.Minute,
		HeartbeatTimeout:       30 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 30 * time.Second, MaximumAttempts: 10},
		Summary:                "Read a scanned page",
	})
	for {
		var scans Scans
		err := workflow.ExecuteActivity(ctx, acts.Ingest, in).Get(ctx, &scans)
		if err != nil {
			workflow.GetLogger(ctx).Warn("ingest failed", "document", in.DocID, "error", err)
			clean, _ := workflow.NewDisconnectedContext(workflow.WithTaskQueue(ctx, workflows.TaskQueue))
			return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)
		}
		if len(scans.Pages) == 0 {
			return nil
		}
		for i, page := range scans.Pages {
			r := workflows.ScanRequest{IngestRequest: in, Version: scans.Version, Page: page, Left: len(scans.Pages) - i - 1}
			if err := workflow.ExecuteActivity(scanning, acts.ScanPage, r).Get(ctx, nil); err != nil {
				workflow.GetLogger(ctx).Warn("scanning failed; the other pages stay unread", "document", in.DocID, "page", page, "error", err)
				in.WithoutScans = true
				break
			}
		}
	}
}
