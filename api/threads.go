package api

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Threads is the engine's interface for the API: commands to conversations and queries
// about them. Calls are retried until their context, which has the request's deadline,
// ends.
type Threads interface {
	// Submit sends the thread a turn whose row exists, or that is Unsaved. It is
	// idempotent: for a repeated message that the rows did not show, it returns the turn
	// of the first try. It returns a *chat.RefusedError with CodeTurnRunning when on_busy is
	// reject and a turn runs, with CodeTurnBegun when Replaces does not wait, or with CodeNotFound when the turn's conversation was
	// deleted and its id reused.
	Submit(ctx context.Context, s chat.Submit) (chat.SubmitResult, error)
	// Resume answers the pending interrupt. It returns a *chat.RefusedError (CodeNoInterrupt,
	// CodeBadResume) when there is none or the answer does not fit.
	Resume(ctx context.Context, r chat.Resume) error
	// Cancel ends a turn. It is idempotent. open is false, without an error, when the
	// thread has no open workflow.
	Cancel(ctx context.Context, threadID string, c chat.Cancel) (open bool, _ error)
	// Run returns the newest run of the thread's workflow. An error means that its
	// status is unknown.
	Run(ctx context.Context, threadID string) (chat.WorkflowRun, error)
	// Progress returns the open turn's log after n. Known is false when the settled log
	// must be read instead.
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
	// State returns a summary of the thread; zero when it has no open workflow.
	State(ctx context.Context, threadID string) (chat.ThreadState, error)
	// Delete ends the thread's workflow.
	Delete(ctx context.Context, threadID string) error
	// EndRun ends one run of the thread's workflow.
	EndRun(ctx context.Context, threadID, run, reason string) error
	// Idle reports whether workers poll for workflow tasks and none waits for them.
	Idle(ctx context.Context) (bool, error)
	// ForgetThread asks the engine to delete the histories of all the thread's workflows,
	// including those that closed earlier.
	ForgetThread(ctx context.Context, threadID string) error
	// ChangeOwner gives an open thread to another owner. It does nothing when the thread
	// has no open workflow. It returns a *chat.RefusedError with CodeTurnRunning while a turn
	// runs.
	ChangeOwner(ctx context.Context, threadID, owner string) error
	// Ingest starts the ingest of an uploaded document.
	Ingest(ctx context.Context, owner, docID string) error
	// Import starts the import of a document. If it is already running, Import makes it look
	// for open imports once more before it ends.
	Import(ctx context.Context, owner, key string) error
}
