package ingest

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	indexPage       = 100              // documents listed at once
	indexLogEvery   = 10 * time.Second // of its progress
	indexWorkflowID = "index"          // of the one run of IndexWorkflow
)

// IndexWorkflow indexes the documents again that an earlier release has indexed by other rules.
func IndexWorkflow(ctx workflow.Context) error {
	return upkeep(ctx, "Index the documents of an earlier release again", acts.IndexDocuments)
}

// StartIndex starts IndexWorkflow. It does nothing if that is already running.
func StartIndex(ctx context.Context, c client.Client) error {
	return startUpkeep(ctx, c, indexWorkflowID, workflows.IndexType, "Search index of existing documents")
}

// IndexDocuments indexes all documents again that other rules than those of this release have
// indexed. Another attempt goes on where the previous one ended. Until then, searches miss
// words of these documents.
func (a *Activities) IndexDocuments(parent context.Context) error {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	return a.EndError(w, ctx, activities.TurnRef{}, "index documents", a.indexDocuments(ctx))
}

func (a *Activities) indexDocuments(ctx context.Context) error {
	var logged time.Time
	for after := ""; ; {
		docs, err := a.Store.DocumentsToIndex(ctx, after, indexPage)
		if err != nil || len(docs) == 0 {
			if err == nil && after != "" {
				a.Logger().Info("documents indexed again")
			}
			return err
		}
		for _, d := range docs {
			if now := a.Time(); now.Sub(logged) >= indexLogEvery {
				done, total, err := a.Store.IndexProgress(ctx)
				if err != nil {
					return err
				}
				logged = now
				a.Logger().Info("indexing documents again", "done", done, "total", total)
			}
			if err := ignoreNotFound(a.Store.IndexDocument(ctx, d.Owner, d.ID)); err != nil {
				return err
			}
			after = d.ID
		}
	}
}
