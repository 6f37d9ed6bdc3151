// Package ingest has the workflows that read and embed uploaded documents, and their
// activities.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/chunk"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/internal/fair"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/internal/naming"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	embedBatch = 64
	// How long embedding is retried while the model is unavailable.
	embedRetryBudget = time.Hour
	// Progress of an ingest after each step, in percent.
	readDone, cutDone, embedDone = chat.ReadProgress, 40, 95
)

// Activities are those that read and embed documents. They are safe for concurrent use.
type Activities struct {
	*activities.Kit
	// DocumentTypes are those that Ingest can read.
	DocumentTypes extract.Types
	// IngestMemory bounds the memory of all ingests of the process; nil: no bound.
	IngestMemory *memlimit.Limit
	// OCR reads pages that are pictures; nil: they stay unread.
	OCR OCR
}

// acts names activities; it is never called.
var acts *Activities

// Register registers the activities under the names of their methods.
func (a *Activities) Register(r worker.ActivityRegistry) {
	r.RegisterActivity(a.Ingest)
	r.RegisterActivity(a.FailIngest)
	r.RegisterActivity(a.EmbedDocuments)
	r.RegisterActivity(a.ScanPage)
	r.RegisterActivity(a.IndexDocuments)
}

// Ingest extracts, chunks and indexes an upload. A file that cannot be read is
// marked failed with the reason, without an error. It does nothing to a document
// that is ready or was deleted. If pages must be read by ScanPage first, it returns
// these and does no more.
func (a *Activities) Ingest(parent context.Context, r workflows.IngestRequest) (Scans, error) {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	scans, err := a.ingest(ctx, r)
	var refused *llm.Error
	if errors.As(err, &refused) && refused.Retryable { // longer than the retry budget of an answer
		a.Logger().Warn("embedding failed; retrying", "document", r.DocID, "error", err)
		return Scans{}, activities.RetryWithin(w.Parent, embedRetryBudget, refused.RetryAfter, refused.Code, "ingest")
	}
	return scans, a.EndError(w, ctx, activities.TurnRef{Owner: r.Owner}, "ingest", err)
}

// ingestMemory is how many bytes of memory an ingest takes for each byte of its upload, or
// of its text if that is longer: the upload, its text as runes, the chunks, what is sent
// to the database, and what the garbage collector has not freed yet.
const ingestMemory = 14

func (a *Activities) ingest(ctx context.Context, r workflows.IngestRequest) (none Scans, _ error) {
	known, err := a.Store.Document(ctx, r.Owner, r.DocID)
	if err != nil {
		return none, ignoreNotFound(err)
	}
	read, release, err := a.readText(ctx, r, known)
	defer release()
	var unreadable *extract.Unreadable
	isUnreadable := errors.As(err, &unreadable)
	if err == nil || isUnreadable {
		if pages := a.toScan(r, read); len(pages) > 0 {
			return Scans{read.version, pages}, ignoreNotFound(a.Store.SetDocumentPages(ctx, r.Owner, r.DocID, read.PageCount, len(pages)))
		}
		if err := a.Store.SetDocumentPages(ctx, r.Owner, r.DocID, read.PageCount, len(read.Unread)); err != nil {
			return none, ignoreNotFound(err)
		}
	}
	switch {
	case isUnreadable:
		a.Logger().Info("document cannot be read", "document", r.DocID, "reason", unreadable.Reason)
		return none, outdated(a.Store.FailVersion(ctx, r.Owner, r.DocID, read.version, unreadable.Message().Stored()))
	case errors.Is(err, errIngested):
		return none, nil
	case err != nil:
		return none, ignoreNotFound(err) // deleted, or indexed by an earlier attempt
	}
	a.progress(ctx, r, readDone)
	chunks := chunk.ForDocument(r.DocID, read.Text)
	chunk.SetPages(chunks, read.Pages)
	a.progress(ctx, r, cutDone)
	vectors, err := a.embed(ctx, r, chunks)
	if err != nil {
		return none, err
	}
	model := ""
	if vectors != nil {
		model = a.Model.Info().Embedding
	}
	return none, outdated(a.Store.StoreVersion(ctx, r.Owner, r.DocID, read.version, ownNames(known, read.Content), read.Text, chunks, model, vectors))
}

// ownNames returns the names that the text of a document gives it. It gives the title only
// where the name of the file says nothing.
func ownNames(d chat.Document, c extract.Content) db.OwnNames {
	own := db.OwnNames{Others: append([]string{}, c.Names...)}
	fromFile, says := naming.FromFile(d.Name)
	switch {
	case d.Name != "" && !says && d.Title == fromFile:
		own.Title = c.Title
	case c.Title != "":
		own.Others = append([]string{c.Title}, own.Others...)
	}
	return own
}

// outdated makes an attempt retryable when its version of the document was replaced: the
// next attempt reads the new version.
func outdated(err error) error {
	if errors.Is(err, db.ErrOutdated) {
		return fmt.Errorf("%w: the document was imported again", db.ErrUnavailable)
	}
	return ignoreNotFound(err)
}

// errIngested: the document needs no more processing.
var errIngested = errors.New("the document is not processing")

// expandingDocuments bounds how many documents of compressed types hold memory for their upload and
// then acquire memory for their text. They wait for expandingDocuments before they have any memory, so
// that none holds memory that another one waits for. Reading one takes up to a minute, so those who
// sent them take turns.
var expandingDocuments = fair.New(2)

// sender returns who sent a document: the digest of an anonymous caller's address, else the owner.
func (a *Activities) sender(ctx context.Context, r workflows.IngestRequest) string {
	address, err := a.Store.DocumentAddress(ctx, r.Owner, r.DocID)
	if err != nil || address == "" {
		return r.Owner
	}
	return address
}

// documentText is the text of a version of a document.
type documentText struct {
	extract.Content
	version string
	scans   map[int]string // of its pages, what OCR has read
}

// readText reads a document's text within IngestMemory; call release when it is
// processed, also after an error. A small file may have much text (PDF and Office files
// are compressed), so what is not plain text acquires again by the size of its text.
func (a *Activities) readText(ctx context.Context, r workflows.IngestRequest, known chat.Document) (read documentText, release func(), err error) {
	release = func() {}
	if a.DocumentTypes.Binary(known.Format) {
		done, err := expandingDocuments.Acquire(ctx, a.sender(ctx, r))
		if err != nil {
			return read, release, err
		}
		defer done()
	}
	free, err := a.IngestMemory.Acquire(ctx, ingestMemory*known.Bytes)
	if err != nil {
		return read, release, err
	}
	release = free
	if read, err = a.extractText(ctx, r); err != nil || int64(len(read.Text)) <= known.Bytes || !a.DocumentTypes.Binary(known.Format) {
		return read, release, err
	}
	release()
	if free, err = a.IngestMemory.Acquire(ctx, ingestMemory*int64(len(read.Text))); err != nil {
		return read, func() {}, err
	}
	return read, free, nil
}

func (a *Activities) extractText(ctx context.Context, r workflows.IngestRequest) (documentText, error) {
	doc, raw, err := a.Store.RawDocument(ctx, r.Owner, r.DocID)
	if err != nil {
		return documentText{}, err
	}
	if doc.Status != chat.DocProcessing {
		return documentText{}, errIngested
	}
	scans, err := a.Store.Scans(ctx, r.Owner, r.DocID, doc.SourceVersion)
	if err != nil {
		return documentText{}, err
	}
	content, err := a.DocumentTypes.ContentWith(ctx, doc.Format, raw, scans)
	return documentText{content, doc.SourceVersion, scans}, err
}

// ignoreNotFound drops the error for a document that was deleted meanwhile.
func ignoreNotFound(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// embed makes the chunks' vectors. It returns nil when there is no embedding model,
// or when retries do not help: full-text search works without vectors.
func (a *Activities) embed(ctx context.Context, r workflows.IngestRequest, chunks []chat.Chunk) ([][]float32, error) {
	if a.Model.Info().Embedding == "" || len(chunks) == 0 {
		return nil, nil
	}
	ctx, metered := llm.WithMeter(ctx)
	defer func() { a.spend(ctx, r, metered.Usage()) }()
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
			a.Logger().Error("embedding failed; the document is indexed without vectors", "document", r.DocID, "error", err)
			return nil, nil
		case err != nil:
			return nil, err
		case len(some) != len(batch):
			a.Logger().Error("embedding returned a wrong number of vectors; the document is indexed without vectors", "document", r.DocID, "wanted", len(batch), "got", len(some))
			return nil, nil
		}
		vectors = append(vectors, some...)
		a.progress(ctx, r, cutDone+(embedDone-cutDone)*len(vectors)/len(chunks))
	}
	return vectors, nil
}

// spend counts what embedding has cost against the daily budget. Best effort.
func (a *Activities) spend(ctx context.Context, r workflows.IngestRequest, used chat.Usage) {
	if used == (chat.Usage{}) {
		return
	}
	if err := a.Store.SpendOnDocument(ctx, r.Owner, r.DocID, db.Spending{Tokens: int64(used.Tokens()), CostUSD: used.CostUSD}, a.Time()); err != nil {
		a.Logger().Warn("counting the cost of embedding failed", "document", r.DocID, "error", err)
	}
}

// progress stores the percentage that the page shows. Best effort.
func (a *Activities) progress(ctx context.Context, r workflows.IngestRequest, percent int) {
	if err := a.Store.DocumentProgress(ctx, r.Owner, r.DocID, percent); err != nil {
		a.Logger().Debug("storing the ingest progress failed", "document", r.DocID, "error", err)
	}
}

// FailIngest marks a document whose ingest was given up.
func (a *Activities) FailIngest(ctx context.Context, r workflows.IngestRequest) error {
	err := ignoreNotFound(a.Store.FailDocument(ctx, r.Owner, r.DocID, chat.ReasonIngestFailed))
	return a.Fail(ctx, activities.TurnRef{Owner: r.Owner}, "fail ingest", err)
}

// Now does the work of Ingest outside of Temporal, once, for the command palaver ingest. The
// document's row has the result.
func Now(ctx context.Context, a *Activities, r workflows.IngestRequest) error {
	for {
		scans, err := a.ingest(ctx, r)
		if err != nil || len(scans.Pages) == 0 {
			return err
		}
		for i, page := range scans.Pages {
			if err := a.scan(ctx, workflows.ScanRequest{IngestRequest: r, Version: scans.Version, Page: page, Left: len(scans.Pages) - i - 1}); err != nil {
				return err
			}
		}
	}
}
