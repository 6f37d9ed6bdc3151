package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/imports/links"
)

// Listed bounds the imports of a conversation that are looked at.
const Listed = 100

// Store is the part of db.Store that Jobs uses.
type Store interface {
	ImportByID(ctx context.Context, owner, id string) (chat.Import, error)
	AdvanceImport(ctx context.Context, owner, id string, step chat.ImportStep, at time.Time) error
	AnnounceImport(ctx context.Context, owner, id string, announce bool) error
	ListImports(ctx context.Context, owner, threadID, turnID string, limit int) ([]chat.Import, error)
}

// Inserter records imports, within the bounds of their owner.
type Inserter interface {
	CreateImport(ctx context.Context, i chat.Import) (chat.Import, error)
}

// Jobs starts imports and follows them. The work is done by a workflow.
type Jobs struct {
	Store Store
	// Start starts the workflow of a document's open imports; it is safe to call when that
	// workflow is already running. An import whose workflow is not started although it was
	// recorded is started by the repair sweep.
	Start func(ctx context.Context, owner, key string) error
	Poll  time.Duration // interval of reading the progress; 0: pollInterval
	// Places are the links of the added sources.
	Places []links.Place
}

const pollInterval = 200 * time.Millisecond

// Key returns the id that all imports of one document by one owner share.
func Key(owner string, link links.Link) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{owner, string(link.Source), link.ExternalID}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// LinkOf returns the link that an import was requested with.
func LinkOf(i chat.Import) links.Link {
	return links.Link{Source: i.Source, ExternalID: i.ExternalID, ResourceKey: i.ResourceKey, URL: i.URL}
}

// Begin records an import of the link in i.URL and starts it. It is idempotent for one
// owner and id. A link that cannot be imported is an *Error.
func (j *Jobs) Begin(ctx context.Context, in Inserter, i chat.Import) (chat.Import, error) {
	link, err := links.Parse(i.URL, j.Places...)
	switch {
	case errors.Is(err, links.ErrMalformedDrive):
		return chat.Import{}, &Error{Code: Malformed, Source: chat.SourceDrive, Cause: err}
	case err != nil:
		return chat.Import{}, &Error{Code: Malformed, Source: chat.SourceLink, Cause: err}
	}
	i.Key, i.Source, i.ExternalID, i.ResourceKey, i.URL = Key(i.Owner, link), link.Source, link.ExternalID, link.ResourceKey, link.URL
	i, err = in.CreateImport(ctx, i)
	if err != nil || i.State.Final() {
		return i, err
	}
	if err := j.Start(ctx, i.Owner, i.Key); err != nil {
		// Of this import only: others of the key may be running.
		return i, errors.Join(err, j.Store.AdvanceImport(ctx, i.Owner, i.ID, (&Error{Code: Internal}).Failed(), time.Now()))
	}
	return i, nil
}

// Follow reports each step of an import until the import or ctx ends. The end of ctx is not
// an error. It also reports a step that was too short to be seen.
func (j *Jobs) Follow(ctx context.Context, owner, id string, report func(chat.Import)) (chat.Import, error) {
	every := j.Poll
	if every <= 0 {
		every = pollInterval
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last chat.Import
	for {
		now, err := j.Store.ImportByID(ctx, owner, id)
		switch {
		case err != nil && ctx.Err() != nil:
			return last, nil
		case err != nil:
			return now, err
		}
		for _, step := range between(last, now) {
			report(step)
		}
		if last = now; now.State.Final() {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, nil
		case <-tick.C:
		}
	}
}

// steps are the steps that Follow reports, in their order.
var steps = []chat.ImportState{chat.ImportLooking, chat.ImportDownloading, chat.ImportReading, chat.ImportReady}

// between returns the import at each step after last, up to now.
func between(last, now chat.Import) (out []chat.Import) {
	from, to := position(last.State)+1, position(now.State)
	for n := from; n <= to; n++ {
		skipped := n < to && n > 0
		if skipped && now.Outcome == chat.ImportIsKnown { // nothing was downloaded
			continue
		}
		step := now
		step.State = steps[n]
		out = append(out, step)
	}
	return out
}

// position returns the index of a state in steps; -1 for no state, and for a failure.
func position(s chat.ImportState) int {
	if s == chat.ImportIndexing {
		s = chat.ImportReading
	}
	return slices.Index(steps, s)
}

// Progress returns the message for a person while an import runs.
func Progress(i chat.Import) messages.Message {
	switch i.State {
	case chat.ImportLooking:
		return messages.ImportLooking
	case chat.ImportDownloading:
		return messages.ImportDownloading.With(messages.Params{"document": i.Name})
	case chat.ImportReading, chat.ImportIndexing:
		return messages.ImportProcessing
	case chat.ImportReady:
		if i.Outcome == chat.ImportIsKnown {
			return messages.ImportKnown
		}
		return messages.ImportStored.With(messages.Params{"chunks": i.Chunks})
	}
	return messages.Read(i.Message)
}

// StillProcessing is the answer to a question about a document that is not ready.
const StillProcessing = "That document is still being processed. It should be ready for questions in a moment."

// SaysUnfinished reports whether an answer says that an import is not finished.
func SaysUnfinished(answer string) bool {
	return strings.Contains(answer, messages.ImportSlow.Text) || strings.Contains(answer, StillProcessing)
}

// Ended returns the message for a person at the end of an import, or when the turn stops
// waiting for it.
func Ended(i chat.Import) messages.Message {
	switch {
	case i.State == chat.ImportFailed:
		return messages.Read(i.Message)
	case i.State != chat.ImportReady:
		return messages.ImportSlow
	case i.Outcome == chat.ImportIsKnown:
		return messages.ImportKnown
	case i.Outcome == chat.ImportUpdated:
		return messages.ImportReplaced.With(messages.Params{"document": i.Name})
	}
	return messages.ImportDone.With(messages.Params{"document": i.Name})
}

// SourceLabel returns the name of a kind of source for people.
func SourceLabel(t chat.SourceType) string {
	switch t {
	case chat.SourceDrive:
		return "Google Drive"
	case chat.SourceLink:
		return "link"
	case chat.SourceUpload, "":
		return "upload"
	}
	return string(t)
}
