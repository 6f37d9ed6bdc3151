package api

import (
	"context"

	"github.com/palaver-chat/palaver/chat"
)

// Threads is the engine as the API needs it: commands to conversations and
// questions about them. Calls are tried until their context ends, which has the
// request's deadline.
type Threads interface {
	// Submit has the thread take a turn whose row exists, or that is Unsaved.
	// Idempotent: it returns the turn that the message made, which is another one
	// only where the rows could not tell that it was sent before. A *chat.Refused
	// (CodeTurnRunning) when on_busy says reject and a turn runs, or (CodeNotFound)
	// when the turn's conversation was deleted and another one begun under its id.
	Submit(ctx context.Context, s chat.Submit) (chat.Submitted, error)
	// Resume answers the pending interrupt. A *chat.Refused (CodeNoInterrupt,
	// CodeBadResume) when there is none or the answer does not fit.
	Resume(ctx context.Context, r chat.Resume) error
	// Cancel ends a turn. Idempotent; open is false, without an error, when no
	// workflow of the thread is open.
	Cancel(ctx context.Context, owner, threadID string, c chat.Cancel) (open bool, _ error)
	// Run is the newest run of the thread's workflow. An error means that its status
	// is not known.
	Run(ctx context.Context, threadID string) (chat.WorkflowRun, error)
	// Progress is the open turn's log after n. Known false: read the settled log.
	Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error)
	// State is the thread at a glance; zero when no workflow of it is open.
	State(ctx context.Context, threadID string) (chat.ThreadState, error)
	// Delete ends the thread's workflow.
	Delete(ctx context.Context, owner, threadID string) error
	// Ingest starts the ingest of an uploaded document.
	Ingest(ctx context.Context, owner, docID string) error
}
