package ingest

import (
	"context"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// embedPage is how many documents are listed at once, and maxEmbedded the most chunks of
// a document.
const (
	embedPage   = 100
	maxEmbedded = 1 << 20
)

// EmbedDocuments makes vectors for all documents that have none of the current embedding
// model, because they were indexed without a model or with another one. Another attempt goes
// on where the previous one ended. A document whose texts the model refuses is left out
// until the next run.
func (a *Activities) EmbedDocuments(parent context.Context) error {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	model := a.Model.Info().Embedding
	if model == "" {
		return nil
	}
	done, after := 0, ""
	for {
		docs, err := a.Store.DocumentsToEmbed(ctx, model, after, embedPage)
		if err == nil && len(docs) == 0 {
			if done > 0 {
				a.Logger().Info("documents embedded", "model", model, "documents", done)
			}
			return nil
		}
		for _, d := range docs {
			if err != nil {
				break
			}
			var stored bool
			if stored, err = a.embedAgain(ctx, model, d); stored {
				done++
			}
			after = d.ID
		}
		if err != nil {
			return a.EndError(w, ctx, activities.TurnRef{}, "embed documents", err)
		}
	}
}

// embedAgain makes the vectors of a ready document. It reports whether it has stored them.
func (a *Activities) embedAgain(ctx context.Context, model string, d chat.Document) (stored bool, err error) {
	hits, err := a.Store.DocumentChunks(ctx, d.Owner, d.ID, maxEmbedded)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	chunks := make([]chat.Chunk, len(hits))
	for i, h := range hits {
		chunks[i] = h.Chunk
	}
	vectors, err := a.embed(ctx, workflows.IngestRequest{Owner: d.Owner, DocID: d.ID}, chunks)
	if err != nil || vectors == nil {
		return false, err
	}
	err = a.Store.PutVectors(ctx, d.Owner, d.ID, model, vectors)
	return err == nil, ignoreNotFound(err)
}
