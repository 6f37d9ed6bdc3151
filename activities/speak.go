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
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/retrieval/cite"
	"github.com/palaver-chat/palaver/stream"
	"github.com/palaver-chat/palaver/tools"
)

const (
	// SavePatience is how long an answer waits in memory for a database that is
	// away.
	SavePatience = 5 * time.Minute
	saveAgain    = 250 * time.Millisecond
)

var errEmptyAnswer = errors.New("the answer is empty")

// speech is a model call whose text goes to the person as it comes, as one piece
// of the answer, and which may call tools.
type speech struct {
	TurnRef
	Stage
	step    string // for errors and the log
	request llm.Request
	filter  *cite.Filter
	offered []tools.Tool
}

// said is what a model call came to, until it is stored.
type said struct {
	text      string
	citations []chat.Citation
	calls     []wanted
	record    Written
}

// speak streams a piece: deltas over the bus, the draft into the store every
// 300 ms, and at the end the piece with its citations and the tool calls that
// are to be made. Stopped, it hands in what there is and returns a value; on any
// other end of its context it saves the draft and asks to be tried again.
func (a *Activities) speak(parent, ctx context.Context, w *watch, s speech) (Written, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	attempt := s.Tried + int(activity.GetInfo(parent).Attempt)
	out := &sink{
		publish: a.Bus.PublishDelta,
		at:      stream.Delta{TurnID: s.TurnID, Piece: s.Piece, Attempt: attempt, Logged: s.Logged},
		filter:  s.filter,
	}
	stopDrafts := a.drafts(ctx, s.TurnRef, out, func() { abort(db.ErrSettled) })
	defer stopDrafts() // also when the model's code panics
	for _, t := range s.offered {
		s.request.Tools = append(s.request.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	s.request.Facts.Tools = s.request.Tools
	reply, err := a.Model.Stream(ctx, s.request, func(delta string) error {
		if err := w.held(); err != nil {
			return err
		}
		out.write(delta)
		return ctx.Err()
	})
	if err == nil {
		err = w.held()
	}
	text, citations := out.close()
	stopDrafts()

	got := said{text: text, citations: citations}
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
		Chars: utf8.RuneCountInString(got.text), Citations: len(citations), Usage: reply.Usage,
		Attempt: attempt - s.Tried, NoImages: reply.NoImages,
	}
	for _, c := range got.calls {
		got.record.Calls = append(got.record.Calls, c.Wanted)
	}
	if err == nil {
		err = a.keep(ctx, s, out, got)
	}
	switch {
	case err == nil:
		return got.record, nil
	case errors.Is(context.Cause(ctx), db.ErrSettled):
		return Written{}, a.fail(w.parent, s.TurnRef, s.step, db.ErrSettled)
	}
	failed := a.outcome(w, ctx, s.TurnRef, s.step, err)
	if w.held() != nil { // the next attempt may be writing already
		return Written{}, failed
	}
	patience := lastWrite
	if final(failed) { // nobody will write this again
		patience = SavePatience
	}
	a.handIn(w, s, out, text, citations, patience)
	if w.stopped() {
		got.record.Stopped, got.record.Calls = true, nil
		return got.record, nil
	}
	return Written{}, failed
}

// spoken recognises a model call whose result stands already: an earlier attempt
// died after its last write.
func spoken(texts map[string]string, s Stage) (Written, bool) {
	text, piece := texts[chat.PieceKey(s.Piece)]
	var w Written
	if raw := texts[saidKey(s.next())]; raw != "" && json.Unmarshal([]byte(raw), &w) == nil && (piece || w.Chars == 0) {
		return w, true
	}
	if !piece {
		return Written{}, false
	}
	var citations []chat.Citation
	_ = json.Unmarshal([]byte(texts[chat.TextCitations]), &citations) // ours, and only counted
	return Written{Chars: utf8.RuneCountInString(text), Citations: len(citations)}, true
}

// keep stores what was said. While the database is away it waits in memory and
// the heartbeat goes on.
func (a *Activities) keep(ctx context.Context, s speech, out *sink, got said) error {
	return lasting(ctx, SavePatience, func(ctx context.Context) error {
		if err := a.ensure(ctx, s.TurnRef, out); err != nil {
			return err
		}
		return a.store(ctx, s, got)
	})
}

// store writes all that was said at once: where the piece stands, its citations
// and the calls that follow it stand.
func (a *Activities) store(ctx context.Context, s speech, got said) error {
	citations, err := json.Marshal(got.citations)
	if err != nil {
		return err
	}
	texts := []db.Text{{Key: chat.TextCitations, Text: string(citations)}}
	if len(got.calls) > 0 || got.record.Attempt > 1 { // an earlier attempt may have left a record of other calls
		record, err := json.Marshal(got.record)
		if err != nil {
			return err
		}
		for _, c := range got.calls {
			texts = append(texts, c.texts...)
		}
		texts = append(texts, db.Text{Key: saidKey(s.next()), Text: string(record)})
	}
	if got.text != "" {
		texts = append(texts, db.Text{Key: chat.PieceKey(s.Piece), Text: got.text})
	}
	return a.putTexts(ctx, s.TurnRef, texts...)
}

func (a *Activities) storeCitations(ctx context.Context, s speech, citations []chat.Citation) error {
	b, err := json.Marshal(citations)
	if err != nil {
		return err
	}
	return a.putTexts(ctx, s.TurnRef, db.Text{Key: chat.TextCitations, Text: string(b)})
}

// handIn saves what there is of an answer that was ended, though the context
// is over.
func (a *Activities) handIn(w *watch, s speech, out *sink, text string, citations []chat.Citation, patience time.Duration) {
	if text == "" {
		return
	}
	ctx, cancel := w.last(patience)
	defer cancel()
	err := lasting(ctx, patience, func(ctx context.Context) error {
		if err := a.saveDraft(ctx, s.TurnRef, out, text, lastWrite); err != nil {
			return err
		}
		return a.storeCitations(ctx, s, citations)
	})
	switch {
	case errors.Is(err, db.ErrSettled): // the turn ended without waiting for this
		a.logOf(s.TurnRef).Info("partial not saved: the turn is settled")
	case err != nil:
		a.logOf(s.TurnRef).Warn("partial not saved", "error", err)
	}
}
