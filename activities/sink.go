package activities

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/retrieval/cite"
	"github.com/palaver-chat/palaver/stream"
)

const (
	// Deltas of an answer are published no more often than this, the first at once.
	deltaEvery = 25 * time.Millisecond
	// A draft is saved this often at first, and more rarely as it grows: each time
	// the whole of it is written.
	draftEvery   = 300 * time.Millisecond
	draftSlowest = time.Second
	// How long one draft may take to be saved; the next one holds more anyway.
	draftPatience = 3 * time.Second
)

// sink takes an answer as it comes: what the citation filter lets through is
// published at once, in deltas that are not too small.
type sink struct {
	publish func(stream.Delta)
	at      stream.Delta // turn, piece, attempt, and the offset reached
	saved   atomic.Bool  // the row of a turn that was unsaved stands

	mu      sync.Mutex
	filter  *cite.Filter
	text    strings.Builder
	pending strings.Builder
	flushed time.Time // zero before the first delta
	timer   *time.Timer
	closed  bool
}

// write takes a delta of the model's.
func (s *sink) write(delta string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.pass(s.filter.Write(delta))
	wait := deltaEvery - time.Since(s.flushed)
	switch {
	case s.pending.Len() == 0:
	case s.flushed.IsZero() || wait <= 0:
		s.flush()
	case s.timer == nil:
		s.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flush()
		})
	}
}

func (s *sink) pass(text string) {
	s.text.WriteString(text)
	s.pending.WriteString(text)
}

// flush publishes what is pending. The caller holds mu.
func (s *sink) flush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.pending.Len() == 0 {
		return
	}
	s.at.Text = s.pending.String()
	s.publish(s.at)
	s.at.Offset += utf8.RuneCountInString(s.at.Text)
	s.pending.Reset()
	s.flushed = time.Now()
}

// close ends the piece: what the filter held back is decided and published.
func (s *sink) close() (text string, citations []chat.Citation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	tail, citations := s.filter.Close()
	s.pass(tail)
	s.flush()
	return s.text.String(), citations
}

func (s *sink) draft() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// drafts saves a piece's text as it grows, beside the stream, until stop is
// called. settled is called when the turn turns out to be over.
func (a *Activities) drafts(ctx context.Context, ref TurnRef, s *sink, settled func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(draftEvery)
		defer ticker.Stop()
		saved, warned := 0, false
		began, last := time.Now(), time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			text := s.draft()
			if len(text) == saved || time.Since(last) < draftPause(time.Since(began), a.Bus.Connected()) {
				continue
			}
			last = time.Now()
			err := a.saveDraft(ctx, ref, s, text, draftPatience)
			switch {
			case err == nil:
				saved, warned = len(text), false
			case errors.Is(err, db.ErrSettled):
				settled()
				return
			case ctx.Err() == nil && !warned: // the text stays in memory
				a.logOf(ref).Warn("draft not saved", "error", err)
				warned = true
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// draftPause is how long the draft of a piece rests that has been written for so
// long. Without a bus, drafts are what people see.
func draftPause(age time.Duration, bus bool) time.Duration {
	if !bus {
		return 0
	}
	return min(age/10, draftSlowest)
}

func (a *Activities) saveDraft(ctx context.Context, ref TurnRef, s *sink, text string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := a.ensure(ctx, ref, s); err != nil {
		return err
	}
	return a.Store.SaveDraft(ctx, ref.Owner, db.Draft{TurnID: ref.TurnID, Piece: s.at.Piece, Attempt: s.at.Attempt, Text: text})
}

// ensure writes the row of a turn that has none yet, before what hangs on it.
func (a *Activities) ensure(ctx context.Context, ref TurnRef, s *sink) error {
	if ref.Unsaved == nil || s.saved.Load() {
		return nil
	}
	_, err := a.save(ctx, &ref)
	if err == nil {
		s.saved.Store(true)
	}
	return err
}
