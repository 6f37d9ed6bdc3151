package chat

import "time"

// DocStatus is how far a document's ingest is.
type DocStatus string

const (
	DocProcessing DocStatus = "processing"
	DocReady      DocStatus = "ready"
	DocFailed     DocStatus = "failed"
)

// SourceType is where a document came from.
type SourceType string

const (
	SourceUpload SourceType = "upload"
	SourceDrive  SourceType = "google_drive"
	SourceLink   SourceType = "link" // a page or file at a public address
)

// Document is a file or text that questions can be asked of.
type Document struct {
	ID         string
	Owner      string // PublicOwner for one that everyone sees
	Title      string
	Status     DocStatus
	Format     string     // what it is: txt, md, html, pdf…
	SourceType SourceType // where it came from; empty means SourceUpload
	ExternalID string     // its id at the source; empty for uploads
	SourceURL  string     // leads back to it; empty for uploads
	// SourceVersion changes when the document changes at its source; empty for uploads.
	SourceVersion string
	Bytes         int64
	Chunks        int
	Progress      int // percent of the ingest done, 0 to 100
	Error         string
	CreatedAt     time.Time
}

// Chunk is a passage of a document. Start and End count characters (runes) of
// the document's stored text, and Text is verbatim between them.
type Chunk struct {
	ID      string // "<document id>.<ordinal>", ordinals from 0
	DocID   string
	Ordinal int
	Text    string
	Start   int
	End     int
	Heading string // nearest heading above, may be empty
}

// Hit is a chunk found by a search; a higher score is better.
type Hit struct {
	Chunk
	Title string
	Score float64
}

// DocumentSet is a named group of documents.
type DocumentSet struct {
	ID     string
	Owner  string
	Name   string
	DocIDs []string
}
