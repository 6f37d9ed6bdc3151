package activities

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/llm"
)

const (
	// The shortest time between two deltas. The first is published at once. Each costs the
	// worker, the bus, the API and the reader a little: 25 in a second look continuous.
	deltaInterval = 40 * time.Millisecond
	// The interval of draft saves, and the shorter one without a bus, where people see the
	// drafts.
	draftInterval        = time.Second
	draftIntervalWithout = 300 * time.Millisecond
	// The timeout of one draft save. The next one has more text anyway.
	draftTimeout = 3 * time.Second
)

// sink receives an answer as the model streams it, and publishes what the citation
// filter passes, in deltas that are not too small.
type sink struct {
	publish func(bus.Delta)
	at      bus.Delta   // turn, piece, attempt, and the offset so far
	saved   atomic.Bool // the row of an unsaved turn was written
	stop    func()      // ends the work: the turn was cancelled

	mu      sync.Mutex
	fresh   *cite.Filter // a copy of filter that has read nothing
	filter  *cite.Filter
	text    strings.Builder
	said    strings.Builder // by the model, before the filter
	read    int             // bytes of said that the filter has read
	pending strings.Builder
	flushed time.Time // zero before the first delta
	timer   *time.Timer
	closed  bool
	silent  bool // deltas are not published: the piece does not continue what was published

	hidden  bool      // nobody is to see what the model thinks
	thought int       // characters of reasoning so far
	began   time.Time // when the reasoning began; zero: it has not
	took    time.Duration
}

// think publishes what the model thinks before the piece.
func (s *sink) think(delta string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || delta == "" {
		return
	}
	if s.began.IsZero() {
		s.began = time.Now()
	}
	if !s.hidden && s.thought < llm.MaxReasoning {
		d := s.at
		d.Reasoning, d.Offset, d.Text = true, s.thought, delta
		s.publish(d)
	}
	s.thought += utf8.RuneCountInString(delta)
	if s.text.Len() == 0 {
		s.took = time.Since(s.began)
	}
}

// retract begins the piece again: all that was written was reasoning. Viewers get the
// right text when the piece is finished.
func (s *sink) retract() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = s.silent || s.at.Offset > 0
	s.filter = s.fresh.Copy()
	s.text.Reset()
	s.said.Reset()
	s.read = 0
	s.pending.Reset()
}

// write adds a delta from the model.
func (s *sink) write(delta string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.said.WriteString(delta)
	wait := deltaInterval - time.Since(s.flushed)
	switch {
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

// readSaid gives the filter what the model has written since the last time. The caller holds
// mu.
func (s *sink) readSaid() {
	s.appendText(s.filter.Write(s.said.String()[s.read:]))
	s.read = s.said.Len()
}

// appendText adds text. White space at the beginning is left out: models write it before
// tool calls, and it is no answer.
func (s *sink) appendText(text string) {
	if s.text.Len() == 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	s.text.WriteString(text)
	s.pending.WriteString(text)
}

// flush publishes what is pending. The caller holds mu.
func (s *sink) flush() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.readSaid()
	if s.pending.Len() == 0 {
		return
	}
	s.at.Text = s.pending.String()
	if s.silent {
		s.pending.Reset()
		return
	}
	s.publish(s.at)
	s.at.Offset += utf8.RuneCountInString(s.at.Text)
	s.pending.Reset()
	s.flushed = time.Now()
}

// close ends the piece. It publishes the text that the filter still held back.
func (s *sink) close() pieceResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.readSaid()
	tail, citations := s.filter.Close()
	s.appendText(tail)
	s.flush()
	return pieceResult{text: s.text.String(), citations: citations, unverified: s.filter.Unverified(), wrongFigures: s.filter.WrongFigures()}
}

// checked returns what the model has written so far, and the words of it that would be unverified
// if the piece ended there. It returns none if the answer is not to be corrected.
func (s *sink) checked() (said string, unverified []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	said = s.said.String()
	f := s.fresh.Copy()
	f.Write(said)
	f.Close()
	if !f.ChecksFigures() {
		return said, nil
	}
	return said, f.Unverified()
}

func (s *sink) draft() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readSaid()
	return s.text.String()
}

// startDrafts saves a piece's text in the background until stop is called. It calls
// settled when the turn is settled already.
func (k *Kit) startDrafts(ctx context.Context, ref TurnRef, s *sink, settled func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(draftIntervalWithout)
		defer ticker.Stop()
		saved, warned := 0, false
		last := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			text := s.draft()
			if len(text) == saved || k.Bus.Connected() && time.Since(last) < draftInterval {
				continue
			}
			last = time.Now()
			err := k.saveDraft(ctx, ref, s, text, draftTimeout)
			switch {
			case err == nil:
				saved, warned = len(text), false
			case errors.Is(err, db.ErrSettled):
				settled()
				return
			case errors.Is(err, errCancelled): // StreamPiece saves the text
				return
			case ctx.Err() == nil && !warned:
				k.LogOf(ref).Warn("saving a draft failed; the text stays in memory", "error", err)
				warned = true
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (k *Kit) saveDraft(ctx context.Context, ref TurnRef, s *sink, text string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := k.ensureTurnRow(ctx, ref, s); err != nil {
		return err
	}
	return k.Store.SaveDraft(ctx, ref.Owner, db.Draft{TurnID: ref.TurnID, Piece: s.at.Piece, Attempt: s.at.Attempt, Text: text})
}

// ensureTurnRow writes the row of an unsaved turn, before anything that refers to it. If a
// cancel came first, it stops the piece and returns errCancelled, once.
func (k *Kit) ensureTurnRow(ctx context.Context, ref TurnRef, s *sink) error {
	if ref.Unsaved == nil || s.saved.Load() {
		return nil
	}
	_, cancelled, err := k.save(ctx, &ref)
	if err != nil {
		return err
	}
	s.saved.Store(true)
	if cancelled {
		s.stop()
		return errCancelled
	}
	return nil
}

// errCancelled: a cancel came before the turn had a row.
var errCancelled = errors.New("the turn was cancelled before it was saved")
