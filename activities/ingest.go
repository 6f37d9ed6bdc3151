package activities

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/chunk"
	"github.com/palaver-chat/palaver/retrieval/extract"
)

const (
	embedBatch = 64
	// How long a document waits for an embedding model that is away.
	ingestPatience = time.Hour
	// Percents of an ingest.
	readDone, cutDone, embedDone = 30, 40, 95
)

// ReasonIngestFailed is what a document says whose ingest was given up.
const ReasonIngestFailed = "The document could not be processed. Please upload it again."

// Ingest reads, cuts and indexes an upload. One that cannot be read is marked
// failed with the reason, and that is a success; one that is ready or gone is
// left alone.
func (a *Activities) Ingest(parent context.Context, r IngestRequest) error {
	ctx, w := a.watchFor(parent, "", lastCall)
	defer w.end()
	err := a.ingest(ctx, r)
	var refused *llm.Error
	if errors.As(err, &refused) && refused.Retryable { // nobody waits for it as for an answer
		a.log().Warn("embeddings are tried again", "document", r.DocID, "error", err)
		return retryWithin(w.parent, ingestPatience, refused.RetryAfter, refused.Code, "ingest")
	}
	return a.outcome(w, ctx, TurnRef{Owner: r.Owner}, "ingest", err)
}

func (a *Activities) ingest(ctx context.Context, r IngestRequest) error {
	doc, raw, err := a.Store.RawDocument(ctx, r.Owner, r.DocID)
	if errors.Is(err, db.ErrNotFound) {
		return nil // deleted, or done by an earlier try
	}
	if err != nil {
		return err
	}
	if doc.Status != chat.DocProcessing {
		return nil
	}
	text, err := extract.Text(ctx, doc.SourceType, raw)
	var unreadable *extract.Unreadable
	if errors.As(err, &unreadable) {
		a.log().Info("document cannot be read", "document", r.DocID, "reason", unreadable.Reason)
		return gone(a.Store.FailDocument(ctx, r.Owner, r.DocID, unreadable.Reason))
	}
	if err != nil {
		return err
	}
	a.progress(ctx, r, readDone)
	chunks := chunk.ForDocument(r.DocID, text, doc.SourceType)
	a.progress(ctx, r, cutDone)
	vectors, err := a.embed(ctx, r, chunks)
	if err != nil {
		return err
	}
	return gone(a.Store.StoreText(ctx, r.Owner, r.DocID, text, chunks, vectors))
}

// gone forgives a document that was deleted meanwhile.
func gone(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// embed makes the chunks' vectors; nil when there is no embedding model, or when
// it refuses for good: the document can be searched by its words all the same.
func (a *Activities) embed(ctx context.Context, r IngestRequest, chunks []chat.Chunk) ([][]float32, error) {
	if a.Model.Info().Embedding == "" || len(chunks) == 0 {
		return nil, nil
	}
	vectors := make([][]float32, 0, len(chunks))
	for from := 0; from < len(chunks); from += embedBatch {
		batch := chunks[from:min(from+embedBatch, len(chunks))]
		texts := make([]string, len(batch))
		for i, c := range batch {
			texts[i] = c.Text
		}
		some, err := a.Model.Embed(ctx, texts)
		var refused *llm.Error
		switch {
		case errors.Is(err, llm.ErrNoEmbeddings), errors.As(err, &refused) && !refused.Retryable:
			a.log().Error("document is indexed without vectors", "document", r.DocID, "error", err)
			return nil, nil
		case err != nil:
			return nil, err
		case len(some) != len(batch):
			a.log().Error("document is indexed without vectors", "document", r.DocID, "wanted", len(batch), "got", len(some))
			return nil, nil
		}
		vectors = append(vectors, some...)
		a.progress(ctx, r, cutDone+(embedDone-cutDone)*len(vectors)/len(chunks))
	}
	return vectors, nil
}

// progress is for people who watch; nothing depends on it.
func (a *Activities) progress(ctx context.Context, r IngestRequest, percent int) {
	if err := a.Store.DocumentProgress(ctx, r.Owner, r.DocID, percent); err != nil {
		a.log().Debug("progress not noted", "document", r.DocID, "error", err)
	}
}

// FailIngest marks a document whose ingest was given up.
func (a *Activities) FailIngest(ctx context.Context, r IngestRequest) error {
	err := gone(a.Store.FailDocument(ctx, r.Owner, r.DocID, ReasonIngestFailed))
	return a.fail(ctx, TurnRef{Owner: r.Owner}, "fail ingest", err)
}
