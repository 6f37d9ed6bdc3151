package chat

import "time"

// ImportState is how far an import is.
type ImportState string

const (
	ImportLooking     ImportState = "looking"     // is the file there, may we read it, how large is it?
	ImportDownloading ImportState = "downloading" // its file is being downloaded
	ImportReading     ImportState = "reading"     // its text is being extracted
	ImportIndexing    ImportState = "indexing"    // its text is being indexed
	ImportReady       ImportState = "ready"
	ImportFailed      ImportState = "failed"
)

// Final reports whether the import has ended.
func (s ImportState) Final() bool { return s == ImportReady || s == ImportFailed }

// ImportOutcome is what a successful import did.
type ImportOutcome string

const (
	Imported      ImportOutcome = "imported"  // there is a new document
	ImportIsKnown ImportOutcome = "duplicate" // the owner had the document already
	ImportUpdated ImportOutcome = "updated"   // a new version has replaced the one that the owner had
)

// Import is a document that a person asked to have imported from a link.
type Import struct {
	ID, Owner  string
	ThreadID   string // of the conversation that asked for it; can be empty
	TurnID     string // of the turn that asked for it; can be empty
	Key        string // the same for all imports of one document by one owner
	Source     SourceType
	ExternalID string // of the link
	// ResourceKey is part of links to files that were shared in Google Drive before 2021.
	ResourceKey string
	URL         string
	State       ImportState
	Outcome     ImportOutcome // of a ready one
	Name        string        // at the source: of the file with its extension, or the page's title; empty until it is known
	Title       string        // of the document as it is called now; empty until it is stored
	Remote      string        // JSON of what the source says about it, for the download
	DocID       string        // empty until it is stored
	Chunks      int           // of a ready one
	Code        string        // of a failed one
	Message     string        // of a failed one: what the person reads, as messages.Message.Stored
	// Announce: no turn waits for its end, so the conversation's next turn reports it.
	Announce bool
	// Address is that of an owner without an account, as in db.Bounds.
	Address              string
	CreatedAt, UpdatedAt time.Time
}

// ImportStep is a change to the open imports of one document.
type ImportStep struct {
	State   ImportState
	Outcome ImportOutcome // with ImportReady
	// Name, Remote and DocID are kept when they are empty.
	Name, Remote, DocID string
	Chunks              int
	Code, Message       string // with ImportFailed; Message as messages.Message.Stored
}
