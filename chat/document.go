package chat

import (
	"time"

	"github.com/palaver-chat/palaver/chat/messages"
)

// DocStatus is the status of a document's ingest.
type DocStatus string

const (
	DocProcessing DocStatus = "processing"
	DocReady      DocStatus = "ready"
	DocFailed     DocStatus = "failed"
)

// ReasonIngestFailed is the stored error of a document whose processing was given up.
var ReasonIngestFailed = messages.DocumentNotRead.Stored()

// ReadProgress is the progress of an ingest, in percent, after its text was read.
const ReadProgress = 30

// SourceType is where a document came from.
type SourceType string

const (
	SourceUpload SourceType = "upload"
	SourceDrive  SourceType = "google_drive"
	SourceLink   SourceType = "link" // a page or file at a public address
)

// Document is a file or text that answers can cite.
type Document struct {
	ID    string
	Owner string // PublicOwner for a document that everyone can read, SpaceOwner for one of a space
	Title string // what the person called it
	Named bool   // a person gave the title; nothing else replaces it
	Name  string // of its file, with the extension; empty without a file
	// OtherNames are what else the document is called, best first: its own headings, metadata,
	// codes, parties. It is found by them, and they are never its title.
	OtherNames []string
	// Label is what lists show: the title, and in brackets what tells the document apart from
	// others that the owner sees. The store sets it when it reads documents.
	Label      string
	Status     DocStatus
	Format     string     // the type of the file: txt, md, html, pdf…
	SourceType SourceType // where it came from; empty means SourceUpload
	ExternalID string     // its id at the source; empty for uploads
	SourceURL  string     // a link to it at the source; empty for uploads
	// SourceVersion changes when the document changes at its source; empty for uploads.
	SourceVersion string
	ThreadID      string // the conversation that it belongs to; empty for the library
	Bytes         int64
	Chunks        int
	PageCount     int    // of its file; 0 if its type has no pages
	UnreadPages   int    // those of them that are pictures or noise, whose text is missing
	Language      string // of its text, as ISO 639-1; empty until it is ready, and where it is not known
	Progress      int    // of the ingest, in percent
	Error         string // why it failed, as messages.Message.Stored
	CreatedAt     time.Time
	AddedBy       string    // in a space: the person who put it there; empty: deleted since
	DeletedAt     time.Time // in a space: when it was deleted; zero: it is not
}

// Mail reports whether the document is an e-mail.
func (d Document) Mail() bool { return d.Format == "eml" || d.Format == "msg" }

// Chunk is a passage of a document. Start and End count characters (runes) of
// the document's stored text, and Text is verbatim between them.
type Chunk struct {
	ID      string // "<document id>.<ordinal>", ordinals from 0
	DocID   string
	Ordinal int
	Text    string
	Start   int
	End     int
	Heading string      // nearest heading above, and the header of a table within which the passage begins; may be empty
	Pages   []PageStart // on which it stands, in order; none when the document has no pages
}

// PageStart is where the text of a page begins, in characters (runes) of the document's
// stored text. Pages are counted from 1.
type PageStart struct{ Page, Start int }

// PageAt returns the page on which a character stands; 0 when it is not known.
func PageAt(pages []PageStart, at int) int {
	page := 0
	for _, p := range pages {
		if p.Start > at {
			break
		}
		page = p.Page
	}
	return page
}

// Hit is a chunk found by a search; a higher score is better.
type Hit struct {
	Chunk
	Title    string // the document's label
	Public   bool   // of a document of PublicOwner
	Language string // of the document
	Score    float64
}

// DocumentSet is a named group of documents.
type DocumentSet struct {
	ID     string
	Owner  string
	Name   string
	DocIDs []string
}
