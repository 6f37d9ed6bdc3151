// Package workflows decides: a thread is a workflow, and a turn is a story told
// in it. Deterministic, without I/O; package activities does what is decided.
package workflows

import "go.temporal.io/sdk/temporal"

// Names that clients and shells use.
const (
	TaskQueue  = "palaver"
	ThreadType = "Thread"
	IngestType = "Ingest"

	UpdateSubmit  = "submit"   // SubmitRequest → SubmitReply; update id is the turn id
	UpdateResume  = "resume"   // ResumeRequest; validated
	SignalResume  = "resume"   // chat.ResumeValue; one that does not fit, or cannot be read, is dropped with a notice
	SignalCancel  = "cancel"   // chat.Cancel
	SignalVersion = "version"  // int: the version of the rules to follow; the thread continues as new between two steps
	QueryProgress = "progress" // (turn id, after n) → chat.Progress
	QueryThread   = "thread"   // chat.ThreadState
)

// ThreadWorkflowID is the workflow id of a thread.
func ThreadWorkflowID(threadID string) string { return threadPrefix + threadID }

const threadPrefix = "thread:"

// IngestWorkflowID is the workflow id of a document's ingest.
func IngestWorkflowID(docID string) string { return "ingest:" + docID }

// Search attributes, registered at start (an unknown one would fail the
// workflow task for ever).
var (
	UserAttribute   = temporal.NewSearchAttributeKeyKeyword("PalaverUser")
	StatusAttribute = temporal.NewSearchAttributeKeyKeyword("PalaverStatus") // interrupted, or open
)

// Statuses of StatusAttribute. Each change is a write to Temporal's visibility
// store, so only a person who is waited for makes one.
const (
	statusOpen        = "open"        // it runs a turn, or rests
	statusInterrupted = "interrupted" // a person is waited for
	// Threads of version 0 have these instead of open.
	statusIdle    = "idle"
	statusRunning = "running"
)
