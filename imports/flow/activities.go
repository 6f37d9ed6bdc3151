// Package flow imports documents: the workflow of an import with its activities, and what a turn
// does about the links of its message before its agent answers.
package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/imports"
	"github.com/palaver-chat/palaver/internal/memlimit"
	"github.com/palaver-chat/palaver/workflows"
)

// LookResult says how an import goes on. Done: it has ended. DocID: the content is
// stored already, and is to be processed. Neither: it is to be downloaded.
type LookResult struct {
	Done  bool   `json:"done,omitempty"`
	DocID string `json:"doc,omitempty"`
}

// FetchResult is a downloaded document. Done: the import has ended.
type FetchResult struct {
	Done  bool   `json:"done,omitempty"`
	DocID string `json:"doc,omitempty"`
}

// FinishResult says that the import has ended, or that its document is still processed.
type FinishResult struct {
	Processing bool `json:"processing,omitempty"`
}

// Activities are those of imports. They are safe for concurrent use.
type Activities struct {
	*activities.Kit
	// Importer fetches documents from links. Bounds returns the limits of what may be stored for
	// owners without an account, by their address; other owners have no address.
	Importer *imports.Importer
	Bounds   func(address string) db.Bounds // nil: no bounds
	// Memory bounds the memory of all downloads of the process; nil: no bound.
	Memory *memlimit.Limit
}

// acts names activities; it is never called.
var acts *Activities

// Register registers the activities under the names of their methods.
func (a *Activities) Register(r worker.ActivityRegistry) {
	for _, activity := range []any{a.PlanImports, a.ReportImports, a.LookImport, a.FetchImport, a.FinishImport, a.FailImport} {
		r.RegisterActivity(activity)
	}
}

// importMemory is how many bytes of memory a download takes for each byte of the file.
const importMemory = 4

// LookImport reads what a document's source says about it, and compares that with the
// version that the owner has already.
func (a *Activities) LookImport(parent context.Context, r workflows.ImportRequest) (LookResult, error) {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	var out LookResult
	err := a.lookImport(ctx, r, &out)
	if done, err := a.importFailed(w, r, err); done || err != nil {
		return LookResult{Done: true}, err
	}
	return out, a.EndError(w, ctx, activities.TurnRef{Owner: r.Owner}, "look import", err)
}

func (a *Activities) lookImport(ctx context.Context, r workflows.ImportRequest, out *LookResult) error {
	open, err := a.Store.OpenImports(ctx, r.Owner, r.Key)
	if err != nil || len(open) == 0 { // none: the conversation was deleted, or an earlier attempt has ended them
		out.Done = err == nil
		return err
	}
	remote, err := a.Importer.Look(ctx, r.Owner, imports.LinkOf(open[0]))
	if err != nil {
		return err
	}
	known, err := a.importedDocument(ctx, r.Owner, remote)
	if err != nil {
		return err
	}
	if imports.SameVersion(known.SourceVersion, remote.Version) {
		switch known.Status {
		case chat.DocReady:
			out.Done = true
			return a.knownImport(ctx, r, remote, known)
		case chat.DocProcessing:
			out.DocID = known.ID
			return a.advance(ctx, r, chat.ImportStep{State: chat.ImportReading, DocID: known.ID, Name: imports.ShownName(remote, known.Title)})
		}
	}
	about, err := json.Marshal(remoteDocument{Remote: remote, Replaces: known.ID != ""})
	if err != nil {
		return err
	}
	return a.advance(ctx, r, chat.ImportStep{State: chat.ImportDownloading, Name: imports.ShownName(remote, a.Importer.Title(remote)), Remote: string(about)})
}

// remoteDocument is what LookImport stores for the steps after it. Replaces: the owner had the document
// before, in another version.
type remoteDocument struct {
	imports.Remote
	Replaces bool
}

// FetchImport downloads a document and stores its content.
func (a *Activities) FetchImport(parent context.Context, r workflows.ImportRequest) (FetchResult, error) {
	ctx, w := a.WatchFor(parent, "", activities.WorkerStopGrace)
	defer w.End()
	var out FetchResult
	err := a.fetchImport(ctx, r, &out)
	if done, err := a.importFailed(w, r, err); done || err != nil {
		return FetchResult{Done: true}, err
	}
	return out, a.EndError(w, ctx, activities.TurnRef{Owner: r.Owner}, "fetch import", err)
}

func (a *Activities) fetchImport(ctx context.Context, r workflows.ImportRequest, out *FetchResult) error {
	open, err := a.Store.OpenImports(ctx, r.Owner, r.Key)
	if err != nil || len(open) == 0 {
		out.Done = err == nil
		return err
	}
	var remote imports.Remote
	if err := json.Unmarshal([]byte(open[0].Remote), &remote); err != nil {
		return err
	}
	size := remote.Size
	size = cmp.Or(size, a.Importer.MaxBytes)
	release, err := a.Memory.Acquire(ctx, importMemory*size)
	if err != nil {
		return err
	}
	defer release()
	got, err := a.Importer.Fetch(ctx, r.Owner, remote)
	if err != nil {
		return err
	}
	known, err := a.importedDocument(ctx, r.Owner, remote)
	if err != nil {
		return err
	}
	if known.Status == chat.DocReady && imports.SameVersion(known.SourceVersion, got.Version) {
		out.Done = true
		return a.knownImport(ctx, r, remote, known)
	}
	bounds := a.importBounds(open[0].Address)
	bounds.Import = r.Key
	out.DocID, err = a.Store.Within(bounds).PutImport(ctx, chat.Document{
		ID: uuid.NewString(), Owner: r.Owner, Title: got.Title, Name: got.Name, Status: chat.DocProcessing, Format: got.Format, SourceType: remote.Source,
		ExternalID: remote.ExternalID, SourceURL: remote.URL, SourceVersion: got.Version, Bytes: int64(len(got.Raw)), CreatedAt: a.Time(),
	}, got.Raw)
	if errors.Is(err, db.ErrNotFound) { // the user or the conversation was deleted during the download
		out.Done = true // or the document was deleted while its new version was stored: then the import ends here
		return a.advance(ctx, r, (&imports.Error{Code: imports.Deleted}).Failed())
	}
	if err != nil {
		return err
	}
	return a.advance(ctx, r, chat.ImportStep{State: chat.ImportReading, DocID: out.DocID,
		Name: imports.ShownName(imports.Remote{Name: got.Name, MediaType: remote.MediaType}, got.Title)})
}

// FinishImport ends the imports of a document that was processed.
func (a *Activities) FinishImport(ctx context.Context, r workflows.ImportRequest) (FinishResult, error) {
	open, err := a.Store.OpenImports(ctx, r.Owner, r.Key)
	if err != nil || len(open) == 0 {
		return FinishResult{}, a.Fail(ctx, activities.TurnRef{Owner: r.Owner}, "finish import", err)
	}
	doc, err := a.Store.Document(ctx, r.Owner, open[0].DocID)
	var step chat.ImportStep
	switch {
	case errors.Is(err, db.ErrNotFound):
		step = (&imports.Error{Code: imports.Deleted}).Failed()
	case err != nil:
		return FinishResult{}, a.Fail(ctx, activities.TurnRef{Owner: r.Owner}, "finish import", err)
	case doc.Status == chat.DocProcessing:
		return FinishResult{Processing: true}, nil
	case doc.Status == chat.DocFailed:
		step = chat.ImportStep{State: chat.ImportFailed, Code: string(imports.Unreadable), Message: doc.Error}
	default:
		step = chat.ImportStep{State: chat.ImportReady, Outcome: chat.Imported, Chunks: doc.Chunks}
		var about remoteDocument
		if json.Unmarshal([]byte(open[0].Remote), &about) == nil && about.Replaces {
			step.Outcome = chat.ImportUpdated
		}
	}
	return FinishResult{}, a.Fail(ctx, activities.TurnRef{Owner: r.Owner}, "finish import", a.advance(ctx, r, step))
}

// FailImport ends the open imports of a document with an internal error.
func (a *Activities) FailImport(ctx context.Context, r workflows.ImportRequest) error {
	err := a.advance(ctx, r, (&imports.Error{Code: imports.Internal}).Failed())
	return a.Fail(ctx, activities.TurnRef{Owner: r.Owner}, "fail import", err)
}

func (a *Activities) advance(ctx context.Context, r workflows.ImportRequest, step chat.ImportStep) error {
	return a.Store.AdvanceImports(ctx, r.Owner, r.Key, step, a.Time())
}

// importedDocument returns the owner's document that was imported from remote; zero when
// there is none.
func (a *Activities) importedDocument(ctx context.Context, owner string, remote imports.Remote) (chat.Document, error) {
	known, err := a.Store.ImportedDocument(ctx, owner, remote.Source, remote.ExternalID)
	return known, db.IgnoreNotFound(err)
}

func (a *Activities) knownImport(ctx context.Context, r workflows.ImportRequest, from imports.Remote, d chat.Document) error {
	return a.advance(ctx, r, chat.ImportStep{State: chat.ImportReady, Outcome: chat.ImportIsKnown, DocID: d.ID, Name: imports.ShownName(from, d.Title), Chunks: d.Chunks})
}

func (a *Activities) importBounds(address string) db.Bounds {
	if a.Bounds == nil {
		return db.Bounds{}
	}
	return a.Bounds(address)
}

// importFailed handles an error of a source or of the owner's quota: it returns an error
// that is retried, or ends the imports (done). For other errors it returns false and nil.
func (a *Activities) importFailed(w *activities.Watch, r workflows.ImportRequest, err error) (done bool, _ error) {
	var failed *imports.Error
	var exceeded *db.Exceeded
	switch {
	case errors.Is(err, context.Canceled): // the worker stops; another attempt follows
		return false, nil
	case errors.As(err, &exceeded):
		failed = &imports.Error{Code: imports.QuotaReached, Cause: exceeded}
	case !errors.As(err, &failed):
		return false, nil
	}
	log := a.Logger().With("import", r.Key, "source", failed.Source, "code", failed.Code)
	if failed.RetryAfter > 0 {
		log = log.With("retry_after", failed.RetryAfter)
	}
	message := "import failed"
	if failed.Code == imports.RateLimited {
		message = "import was rate-limited by its source"
	}
	if failed.Retryable() {
		again := activities.RetryWithin(w.Parent, a.Importer.Budget(), failed.RetryAfter, string(failed.Code), "import")
		if !activities.IsFinal(again) {
			log.Warn(message+"; retrying", "error", failed)
			return false, again
		}
	}
	log.Warn(message, "error", failed)
	ctx, cancel := w.FinalContext(activities.FinalWriteTimeout)
	defer cancel()
	err = a.advance(ctx, r, failed.Failed())
	return true, a.Fail(w.Parent, activities.TurnRef{Owner: r.Owner}, "fail import", err)
}
