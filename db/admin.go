package db

import (
	"context"
	"time"
)

// Administration is what administrators of an installation see. Its lists are of every owner,
// newest first, and read a bounded number of rows for each page. They hold no texts, except
// FeedbackPage.
type Administration interface {
	// Met records that an owner with an account sent a request, and by which name the
	// owner's token knows them; "" keeps the earlier name. Within an hour it changes only the
	// name.
	Met(ctx context.Context, owner, knownAs string, at time.Time) error
	// People lists the owners with an account by their last use, with what they have spent on
	// the UTC day of a time; limit 1 to 100.
	People(ctx context.Context, on time.Time, cursor string, limit int) (Page[Person], error)
	// CountAnonymous counts the owners without an account.
	CountAnonymous(ctx context.Context) (int64, error)
	// AddModelUsage adds to what is stored for each day and model, all or none.
	AddModelUsage(ctx context.Context, more []ModelUsage) error
	// ModelUsage lists what was used since the UTC day of a time, newest day first; at most
	// MaxModelUsage rows.
	ModelUsage(ctx context.Context, since time.Time) ([]ModelUsage, error)
	// FailedDocuments lists the documents that could not be read; limit 1 to 100.
	FailedDocuments(ctx context.Context, cursor string, limit int) (Page[FailedDocument], error)
	// AuditPage lists the entries of the audit log of an owner and a kind; "": of all. A page
	// looks through AuditScan entries at most, so it may have fewer items than the limit, or
	// none, and still a Next. limit 1 to 200.
	AuditPage(ctx context.Context, owner, kind, cursor string, limit int) (Page[AuditEntry], error)
	// FeedbackPage lists feedback by its last change. Question and Answer are empty unless the
	// person has shared them; limit 1 to 50.
	FeedbackPage(ctx context.Context, cursor string, limit int) (Page[RatedTurn], error)
}

const (
	// MaxModelUsage is the maximum number of rows that ModelUsage returns.
	MaxModelUsage = 5000
	// AuditScan is the number of entries that AuditPage looks through for one page.
	AuditScan = 5000
)

// Person is an owner with an account, and what they have stored and used.
type Person struct {
	Owner   string
	KnownAs string // the address or name in their token; empty: not known
	SeenAt  time.Time
	Threads, Documents,
	Bytes int64 // as in Stored
	Today Spending
}

// ModelUsage is what a model, web searches or a paid tool have used on a UTC day.
type ModelUsage struct {
	Day                 time.Time // any time of the day; its begin when it is read
	Model               string    // or the name of a tool, or web_search
	Calls               int64     // that were answered
	Unpriced            int64     // of them, those without a known price: CostUSD leaves them out
	TokensIn, TokensOut int64
	CostUSD             float64
}

// FailedDocument is a document that could not be read, without its name.
type FailedDocument struct {
	ID, Owner      string
	Source, Format string
	Bytes          int64
	Reason         string // as messages.Message.Stored has written it
	CreatedAt      time.Time
}

// RatedTurn is feedback with its turn, if the person has shared it.
type RatedTurn struct {
	Feedback
	Question, Answer string
}
