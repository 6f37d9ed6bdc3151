// Package workflows has the workflow of a thread, which runs its turns, and the client that
// sends commands to it. The code is deterministic and does no I/O; package activities does.
package workflows

import "go.temporal.io/sdk/temporal"

// Names that clients and operators' tools use.
const (
	TaskQueue = "palaver"
	// IngestQueue has the activities that read and embed documents. They take much time and
	// memory. On a queue of their own, few run at once, and none delays an answer.
	IngestQueue = "palaver-ingest"
	// ScanQueue has the activity that reads a page by OCR. Only workers with OCR poll it.
	ScanQueue  = "palaver-scan"
	ThreadType = "Thread"
	IngestType = "Ingest"
	ImportType = "Import"
	PruneType  = "Prune"
	EmbedType  = "Embed"
	IndexType  = "Index"

	UpdateSubmit  = "submit"   // SubmitRequest → SubmitReply; update id is the turn id
	UpdateResume  = "resume"   // ResumeRequest; validated
	UpdateOwner   = "owner"    // string: who owns the thread from now on; refused while a turn runs
	SignalResume  = "resume"   // chat.ResumeValue; a notice says when it was dropped, because it does not fit or cannot be decoded
	SignalCancel  = "cancel"   // chat.Cancel
	SignalAgain   = "again"    // to an import: there may be more open imports of its document
	SignalVersion = "version"  // int: the version of the rules to follow; the thread continues as new between two steps
	QueryProgress = "progress" // (turn id, after n) → chat.Progress
	QueryThread   = "thread"   // chat.ThreadState
)

// IngestRequest is the argument of the workflow that ingests a document.
type IngestRequest struct {
	Owner string `json:"owner"`
	DocID string `json:"doc"`
	// WithoutScans: pages that are pictures stay unread.
	WithoutScans bool `json:"without_scans,omitempty"`
}

// ScanRequest is a page of a version of a document that OCR is to read.
type ScanRequest struct {
	IngestRequest
	Version string `json:"version,omitempty"`
	Page    int    `json:"page"` // from 1
	Left    int    `json:"left"` // pages that are to be read after it
}

// ImportRequest is the argument of the workflow that imports a document, for all open imports
// of it.
type ImportRequest struct {
	Owner string `json:"owner"`
	Key   string `json:"key"` // chat.Import's
}

// ThreadWorkflowID is the workflow id of a thread.
func ThreadWorkflowID(threadID string) string { return threadPrefix + threadID }

const threadPrefix = "thread:"

// IngestWorkflowID is the workflow id of a document's ingest.
func IngestWorkflowID(docID string) string { return "ingest:" + docID }

// ImportWorkflowID is the workflow id of a document's import. key is chat.Import's: two
// imports of one document at once are one workflow.
func ImportWorkflowID(key string) string { return "import:" + key }

// Search attributes. They are registered at start, because a workflow task with an
// unknown one fails for ever.
var (
	UserAttribute   = temporal.NewSearchAttributeKeyKeyword("PalaverUser")
	StatusAttribute = temporal.NewSearchAttributeKeyKeyword("PalaverStatus") // interrupted, or open
)

// Statuses of StatusAttribute. Each change is a write to Temporal's visibility
// store, so there is one only when a person is asked or has answered.
const (
	statusOpen        = "open"        // running a turn, or idle
	statusInterrupted = "interrupted" // waiting for a person's answer
)
