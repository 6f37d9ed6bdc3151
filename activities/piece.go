package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/tools"
	"github.com/palaver-chat/palaver/llm"
)

const (
	// SaveTimeout is how long an answer stays in memory while the database is
	// unavailable.
	SaveTimeout       = 5 * time.Minute
	saveRetryInterval = 250 * time.Millisecond
)

var errEmptyAnswer = errors.New("the answer is empty")

// pieceRequest is a model call that streams one piece of the answer, and may ask for
// tool calls.
type pieceRequest struct {
	TurnRef
	Stage
	step    string // for errors and the log
	request llm.Request
	filter  *cite.Filter
	offered []tools.Tool
	// remembered are approvals of pinned tools.
	remembered []string
	before     earlier // its usage and notice belong to the piece
	again      bool    // a lost attempt may have shown the beginning of the piece
}

// pieceResult is the result of a model call, before it is stored.
type pieceResult struct {
	text      string
	citations []chat.Citation
	calls     []wanted
	record    Written
}

// streamPiece streams a piece: deltas over the bus, and its draft to the store (draftWait
// apart). At the end it stores the piece with its citations and tool calls. When the
// turn is stopped, it saves the partial text and returns no error. On any other end
// of its context it saves the draft and returns a retryable error.
func (a *Activities) streamPiece(parent, ctx context.Context, w *watch, s pieceRequest) (Written, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	attempt := s.Tried + int(activity.GetInfo(parent).Attempt)
	out := &sink{
		publish: a.Bus.PublishDelta,
		at:      bus.Delta{TurnID: s.TurnID, Piece: s.Piece, Attempt: attempt, Logged: s.Logged},
		filter:  s.filter,
	}
	stopDrafts := a.startDrafts(ctx, s.TurnRef, out, func() { abort(db.ErrSettled) })
	defer stopDrafts() // also when the model's code panics
	for _, t := range s.offered {
		s.request.Tools = append(s.request.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	s.request.Facts.Tools = s.request.Tools
	if s.again && a.OnRestart != nil && ctx.Err() == nil {
		a.OnRestart()
	}
	reply, err := a.Model.Stream(ctx, s.request, func(delta string) error {
		if err := w.checkLease(); err != nil {
			return err
		}
		out.write(delta)
		return ctx.Err()
	})
	if err == nil {
		err = w.checkLease()
	}
	text, citations := out.close()
	stopDrafts()

	got := pieceResult{text: text, citations: citations}
	if len(s.offered) > 0 {
		got.calls = readCalls(s, reply.Calls)
	}
	if err == nil && strings.TrimSpace(text) == "" {
		got.text = ""
		if len(got.calls) == 0 {
			err = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errEmptyAnswer}
		}
	}
	got.record = Written{
		Chars: utf8.RuneCountInString(got.text), Citations: len(citations), Usage: s.before.usage.Add(reply.Usage), History: s.before.notice,
		Attempt: attempt - s.Tried, NoImages: reply.NoImages,
	}
	for _, c := range got.calls {
		got.record.Calls = append(got.record.Calls, c.Wanted)
	}
	if err == nil {
		err = a.storePieceWithRetries(ctx, s, out, got)
	}
	switch {
	case err == nil:
		return got.record, nil
	case errors.Is(context.Cause(ctx), db.ErrSettled):
		return Written{}, a.fail(w.parent, s.TurnRef, s.step, db.ErrSettled)
	}
	failed := a.endError(w, ctx, s.TurnRef, s.step, err)
	if w.checkLease() != nil { // the next attempt may write already
		return Written{}, failed
	}
	timeout := finalWriteTimeout
	if final(failed) { // no other attempt writes it
		timeout = SaveTimeout
	}
	a.savePartial(w, s, out, text, citations, timeout)
	if w.stopped() {
		got.record.Stopped, got.record.Calls = true, nil
		return got.record, nil
	}
	return Written{}, failed
}

// storedPiece finds the result of a model call that an earlier attempt has stored
// before its worker died.
func storedPiece(texts map[string]string, s Stage) (Written, bool) {
	text, piece := texts[chat.PieceKey(s.Piece)]
	var w Written
	if raw := texts[chat.SaidKey(s.next())]; raw != "" && json.Unmarshal([]byte(raw), &w) == nil && (piece || w.Chars == 0) {
		return w, true
	}
	if !piece {
		return Written{}, false
	}
	var citations []chat.Citation
	_ = json.Unmarshal([]byte(texts[chat.TextCitations]), &citations) // our own JSON, for their number only
	return Written{Chars: utf8.RuneCountInString(text), Citations: len(citations)}, true
}

// storePieceWithRetries stores the result, and retries while the database is
// unavailable. Heartbeats go on meanwhile.
func (a *Activities) storePieceWithRetries(ctx context.Context, s pieceRequest, out *sink, got pieceResult) error {
	return retryUntilStored(ctx, SaveTimeout, func(ctx context.Context) error {
		if err := a.ensureTurnRow(ctx, s.TurnRef, out); err != nil {
			return err
		}
		return a.storePiece(ctx, s, got)
	})
}

// storePiece writes the piece, its citations and its tool calls in one transaction.
func (a *Activities) storePiece(ctx context.Context, s pieceRequest, got pieceResult) error {
	citations, err := json.Marshal(got.citations)
	if err != nil {
		return err
	}
	texts := []db.Text{{Key: chat.TextCitations, Text: string(citations)}}
	if len(got.calls) > 0 || got.record.Attempt > 1 { // overwrites the record of an earlier attempt
		record, err := json.Marshal(got.record)
		if err != nil {
			return err
		}
		for _, c := range got.calls {
			texts = append(texts, c.texts...)
		}
		texts = append(texts, db.Text{Key: chat.SaidKey(s.next()), Text: string(record)})
	}
	if got.text != "" {
		texts = append(texts, db.Text{Key: chat.PieceKey(s.Piece), Text: got.text})
	}
	return a.putTexts(ctx, s.TurnRef, texts...)
}

func (a *Activities) storeCitations(ctx context.Context, s pieceRequest, citations []chat.Citation) error {
	b, err := json.Marshal(citations)
	if err != nil {
		return err
	}
	return a.putTexts(ctx, s.TurnRef, db.Text{Key: chat.TextCitations, Text: string(b)})
}

// savePartial saves the draft and the citations of an answer that was cut short. The
// work's context has ended, so it uses a context of its own.
func (a *Activities) savePartial(w *watch, s pieceRequest, out *sink, text string, citations []chat.Citation, timeout time.Duration) {
	if text == "" {
		return
	}
	ctx, cancel := w.finalContext(timeout)
	defer cancel()
	err := retryUntilStored(ctx, timeout, func(ctx context.Context) error {
		if err := a.saveDraft(ctx, s.TurnRef, out, text, finalWriteTimeout); err != nil {
			return err
		}
		return a.storeCitations(ctx, s, citations)
	})
	switch {
	case errors.Is(err, db.ErrSettled): // the turn did not wait for this activity
		a.logOf(s.TurnRef).Info("partial answer not saved: the turn is settled", "step", s.step)
	case err != nil:
		a.logOf(s.TurnRef).Warn("saving the partial answer failed", "step", s.step, "error", err)
	}
}
