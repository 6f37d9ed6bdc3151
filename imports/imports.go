// Package imports downloads the documents that links lead to. It trusts neither the link nor
// the response: it limits or checks sizes, times, names and addresses.
package imports

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports/links"
)

// Source is a place that documents are imported from. To add one, add a file with a
// Source, have package links recognise its links, and add it where the Importer is made.
// A Source returns an *Error for a failure at that place.
type Source interface {
	Type() chat.SourceType
	// Look reads the metadata of a document before its content is downloaded. owner is the
	// user who imports it.
	Look(ctx context.Context, owner string, link links.Link) (Remote, error)
	// Fetch downloads the content. It stops after limit bytes with TooLarge.
	Fetch(ctx context.Context, owner string, r Remote, limit int64) (Content, error)
}

// Remote is a document at its source.
type Remote struct {
	Source      chat.SourceType
	ExternalID  string
	ResourceKey string
	URL         string // the address of the document
	Name        string // as the source has it; empty when only the content has it
	MediaType   string // as the source has it
	Size        int64  // bytes; 0 when it is not known
	// Version is compared with SameVersion. It is empty when it can be known only from the
	// content.
	Version string
}

// Content is a downloaded content.
type Content struct {
	Name      string // of the file, as the source sent it
	Title     string // of a page, as the source sent it
	MediaType string
	Version   string
	Raw       []byte
}

// Document is a downloaded document that can be read.
type Document struct {
	Title   string
	Format  string
	Version string
	Raw     []byte
}

// Importer imports from several sources, within limits. Safe for concurrent use.
type Importer struct {
	Sources  []Source
	Types    extract.Types
	MaxBytes int64
	// LookTimeout and FetchTimeout limit one try; 0: the defaults.
	LookTimeout, FetchTimeout time.Duration
	// RetryBudget limits the retries of a step: none starts later than this after the
	// first failure. 0: the default.
	RetryBudget time.Duration
}

const (
	defaultLookTimeout  = 15 * time.Second
	defaultFetchTimeout = 5 * time.Minute
	// defaultRetryBudget is shorter than the 30 s that a chat waits for an import, so that
	// the chat can say why the import failed.
	defaultRetryBudget = 12 * time.Second
)

func (i *Importer) source(t chat.SourceType) (Source, error) {
	for _, s := range i.Sources {
		if s.Type() == t {
			return s, nil
		}
	}
	return nil, &Error{Code: NotConfigured, Source: t}
}

// Look reads the metadata of the document that a link leads to, and refuses one that is too
// large. Its error is an *Error.
func (i *Importer) Look(ctx context.Context, owner string, link links.Link) (Remote, error) {
	s, err := i.source(link.Source)
	if err != nil {
		return Remote{}, err
	}
	ctx, cancel := withTimeout(ctx, i.LookTimeout, defaultLookTimeout)
	defer cancel()
	r, err := s.Look(ctx, owner, link)
	if err != nil {
		return Remote{}, asError(ctx, link.Source, err)
	}
	if r.Size > i.MaxBytes {
		return Remote{}, &Error{Code: TooLarge, Source: link.Source, Size: r.Size, Limit: i.MaxBytes}
	}
	r.Source = link.Source
	return r, nil
}

// Fetch downloads a document that Look has found. Its error is an *Error.
func (i *Importer) Fetch(ctx context.Context, owner string, r Remote) (Document, error) {
	s, err := i.source(r.Source)
	if err != nil {
		return Document{}, err
	}
	ctx, cancel := withTimeout(ctx, i.FetchTimeout, defaultFetchTimeout)
	defer cancel()
	c, err := s.Fetch(ctx, owner, r, i.MaxBytes)
	if err != nil {
		return Document{}, asError(ctx, r.Source, err)
	}
	format, ok := i.Types.Detect(fileName(c.Name), c.MediaType, c.Raw)
	if !ok || len(c.Raw) == 0 {
		return Document{}, &Error{Code: Unsupported, Source: r.Source, Can: i.Types.Labels(), Cause: fmt.Errorf("%d bytes of %.100q", len(c.Raw), c.MediaType)}
	}
	return Document{Title: title(cmp.Or(oneLine(c.Title), c.Name), r.URL, i.Types), Format: format, Version: c.Version, Raw: c.Raw}, nil
}

func withTimeout(ctx context.Context, set, standard time.Duration) (context.Context, context.CancelFunc) {
	if set <= 0 {
		set = standard
	}
	return context.WithTimeoutCause(ctx, set, errTimeout)
}

// Title returns the title of a document, from its name or its address.
func (i *Importer) Title(r Remote) string { return title(r.Name, r.URL, i.Types) }

// Budget returns the RetryBudget, or its default.
func (i *Importer) Budget() time.Duration { return cmp.Or(i.RetryBudget, defaultRetryBudget) }
