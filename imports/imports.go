// Package imports downloads the documents that links lead to. It trusts neither the link nor
// the response: it limits or checks sizes, times, names and addresses.
package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/documents/extract"
	"github.com/palaver-chat/palaver/imports/links"
	"github.com/palaver-chat/palaver/internal/naming"
)

// Remote is a document at its source.
type Remote struct {
	Source chat.SourceType // set by Importer.Look
	// ExternalID identifies the document at its source: a user has one document for it.
	ExternalID  string // empty: that of the link
	ResourceKey string // for Google Drive
	URL         string // the address of the document; empty: that of the link
	Name        string // the file's name; empty when only the content has it
	MediaType   string // as the source states it; may be empty
	Size        int64  // bytes; 0: unknown
	// Version is a checksum or a time without spaces; equal versions are not downloaded
	// again. Empty: unknown before the download.
	Version string
}

// Content is a downloaded document.
type Content struct {
	Name      string // the file's name, whose extension tells its type
	Title     string // the title of a page; empty: Name is the title
	MediaType string // as the source states it; may be empty
	Version   string // as in Remote; may be empty
	Raw       []byte
}

// Document is a downloaded document that can be read.
type Document struct {
	Title   string
	Name    string // of its file; empty for a page
	Format  string
	Version string
	Raw     []byte
}

// Importer imports from several sources, within limits. Safe for concurrent use.
type Importer struct {
	Sources  Sources
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
		if s.Type == t {
			return s, nil
		}
	}
	return Source{}, &Error{Code: NotConfigured, Source: t}
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
	if r.Version != "" && !strings.Contains(r.Version, " ") {
		r.Version = " " + r.Version
	}
	if r.Size > i.MaxBytes {
		return Remote{}, &Error{Code: TooLarge, Source: link.Source, Size: r.Size, Limit: i.MaxBytes}
	}
	r.Source, r.ExternalID, r.URL = link.Source, cmp.Or(r.ExternalID, link.ExternalID), cmp.Or(r.URL, link.URL)
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
	r.Version = strings.TrimPrefix(r.Version, " ")
	c, err := s.Fetch(ctx, owner, r, i.MaxBytes)
	if err != nil {
		return Document{}, asError(ctx, r.Source, err)
	}
	if int64(len(c.Raw)) > i.MaxBytes {
		return Document{}, &Error{Code: TooLarge, Source: r.Source, Size: int64(len(c.Raw)), Limit: i.MaxBytes}
	}
	format, ok := i.Types.Detect(fileName(c.Name), c.MediaType, c.Raw)
	if !ok || len(c.Raw) == 0 {
		return Document{}, &Error{Code: Unsupported, Source: r.Source, Can: i.Types.Labels(), Cause: fmt.Errorf("%d bytes of %.100q", len(c.Raw), c.MediaType)}
	}
	if !strings.Contains(c.Version, " ") { // the same bytes are the same version, whatever else the source says
		sum := sha256.Sum256(c.Raw)
		c.Version = strings.TrimSpace(hex.EncodeToString(sum[:]) + " " + c.Version)
	}
	d := Document{Name: naming.Normal(fileName(c.Name)), Format: format, Version: c.Version, Raw: c.Raw}
	if c.Title = oneLine(c.Title); c.Title != "" {
		d.Title, d.Name = title(c.Title, r.URL, i.Types), ""
	} else {
		if d.Name == "" {
			d.Name = fileName(lastPart(r.URL))
		}
		d.Title = i.Title(Remote{Name: d.Name, URL: r.URL})
	}
	return d, nil
}

func withTimeout(ctx context.Context, set, standard time.Duration) (context.Context, context.CancelFunc) {
	if set <= 0 {
		set = standard
	}
	return context.WithTimeoutCause(ctx, set, errTimeout)
}

// Places returns the links of the added sources. A nil Importer has none.
func (i *Importer) Places() []links.Place {
	if i == nil {
		return nil
	}
	return i.Sources.Places()
}

// Title returns the title of a document, from its file's name or its address.
func (i *Importer) Title(r Remote) string {
	fromFile, _ := naming.FromFile(cmp.Or(fileName(r.Name), lastPart(r.URL)))
	return title(fromFile, r.URL, i.Types)
}

// ShownName returns the name by which people know a document at its source: that of its file
// with the extension, or else title. A document of Google's editors has no extension there.
func ShownName(r Remote, title string) string {
	name := oneLine(r.Name)
	if export, ok := exports[r.MediaType]; ok {
		name = strings.TrimSuffix(name, export.extension)
	}
	if name == "" || utf8.RuneCountInString(name) > maxTitle {
		return title
	}
	return naming.Normal(name)
}

// Budget returns the RetryBudget, or its default.
func (i *Importer) Budget() time.Duration { return cmp.Or(i.RetryBudget, defaultRetryBudget) }
