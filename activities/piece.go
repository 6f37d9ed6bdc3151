package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

const (
	// SaveTimeout is how long an answer stays in memory while the database is
	// unavailable.
	SaveTimeout       = 5 * time.Minute
	saveRetryInterval = 250 * time.Millisecond
)

var errEmptyAnswer = errors.New("the answer is empty")

// PieceRequest is a model call that streams one piece of the answer, and may ask for
// tool calls.
type PieceRequest struct {
	TurnRef
	Stage
	Step    string // for errors and the log
	Request llm.Request
	Filter  *cite.Filter
	Offered []tools.Tool
	// Remembered are approvals of pinned tools.
	Remembered []string
	Before     Earlier // its usage and notice belong to the piece
}

// pieceResult is the result of a model call, before it is stored.
type pieceResult struct {
	text      string
	citations []chat.Citation
	calls     []callWithTexts
	record    Written
	reasoning string
}

// StreamPiece streams a piece: deltas over the bus, and its draft to the store (draftWait
// apart). At the end it stores the piece with its citations and tool calls. When the
// turn is stopped, it saves the partial text and returns no error. On any other end
// of its context it saves the draft and returns a retryable error.
func (k *Kit) StreamPiece(parent, ctx context.Context, w *Watch, s PieceRequest) (Written, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	attempt := s.Tried + int(activity.GetInfo(parent).Attempt)
	out := &sink{
		publish: k.Bus.PublishDelta,
		at:      bus.Delta{TurnID: s.TurnID, Piece: s.Piece, Attempt: attempt, Logged: s.Logged},
		filter:  s.Filter,
		fresh:   s.Filter.Copy(),
		hidden:  k.HideReasoning,
	}
	stopDrafts := k.startDrafts(ctx, s.TurnRef, out, func() { abort(db.ErrSettled) })
	defer stopDrafts() // also when the model's code panics
	for _, t := range s.Offered {
		s.Request.Tools = append(s.Request.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	s.Request.Facts.Tools = s.Request.Tools
	if LostAttempt(parent) && k.OnRestart != nil && ctx.Err() == nil {
		k.OnRestart()
	}
	reply, err := k.streamWhole(ctx, w, s, out)
	if err == nil {
		err = w.checkLease()
	}
	text, citations := out.close()
	stopDrafts()

	got := pieceResult{text: text, citations: citations}
	if len(s.Offered) > 0 {
		got.calls = readCalls(s, reply.Calls)
	}
	if err == nil && strings.TrimSpace(text) == "" {
		got.text = ""
		if len(got.calls) == 0 {
			err = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errEmptyAnswer}
		}
	}
	got.record = Written{
		Chars: utf8.RuneCountInString(got.text), Citations: len(citations), Usage: s.Before.Usage.Add(reply.Usage), History: s.Before.Notice,
		Attempt: attempt - s.Tried, NoImages: reply.NoImages,
	}
	if got.reasoning = clean(reply.Reasoning); got.reasoning != "" && !k.HideReasoning {
		got.record.Thought = max(1, int(out.took.Milliseconds()))
	}
	if len(got.calls) == 0 {
		got.record.Cut = cutNotices[reply.Finish]
	}
	for _, c := range got.calls {
		got.record.Calls = append(got.record.Calls, c.RequestedCall)
	}
	if err == nil {
		err = k.storePieceWithRetries(ctx, s, out, got)
	}
	switch {
	case err == nil:
		return got.record, nil
	case errors.Is(context.Cause(ctx), db.ErrSettled):
		return Written{}, k.Fail(w.Parent, s.TurnRef, s.Step, db.ErrSettled)
	}
	failed := k.EndError(w, ctx, s.TurnRef, s.Step, err)
	if w.checkLease() != nil { // the next attempt may write already
		return Written{}, failed
	}
	timeout := FinalWriteTimeout
	if IsFinal(failed) { // no other attempt writes it
		timeout = SaveTimeout
	}
	k.savePartial(w, s, out, text, citations, timeout)
	if w.Stopped() {
		got.record.Stopped, got.record.Calls = true, nil
		return got.record, nil
	}
	return Written{}, failed
}

// cutNotices are the notices of answers that are not complete.
var cutNotices = map[llm.Finish]string{
	llm.FinishLength: chat.NoticeAnswerCut,
	llm.FinishFilter: chat.NoticeAnswerFiltered,
	llm.FinishAbort:  chat.NoticeAnswerBroken,
}

// goOn asks a model for the rest of an answer that was cut off.
const goOn = "Your answer was cut off there. Go on with the very next character: do not repeat anything, and do not say that you go on."

// streamWhole streams an answer. One that the limit or the provider has cut off is
// continued, once.
func (k *Kit) streamWhole(ctx context.Context, w *Watch, s PieceRequest, out *sink) (llm.Reply, error) {
	var said strings.Builder
	emit := func(delta string) error {
		if err := w.checkLease(); err != nil {
			return err
		}
		said.WriteString(delta)
		out.write(delta)
		return ctx.Err()
	}
	r := s.Request
	r.Reasoning = out.think
	r.Retract = func() { said.Reset(); out.retract() }
	first, err := k.Model.Stream(ctx, r, emit)
	again := first.Finish == llm.FinishLength || first.Finish == llm.FinishAbort
	if err != nil || !again || len(first.Calls) > 0 || strings.TrimSpace(said.String()) == "" {
		return first, err
	}
	r.Messages = append(slices.Clone(r.Messages), llm.Message{Role: llm.Assistant, Text: said.String()}, llm.Message{Role: llm.User, Text: goOn})
	r.Retract = nil // what was written before stays
	rest, err := k.Model.Stream(ctx, r, emit)
	rest.Usage = first.Usage.Add(rest.Usage)
	rest.NoImages = first.NoImages || rest.NoImages
	if rest.Reasoning == "" {
		rest.Reasoning = first.Reasoning
	}
	if err != nil && ctx.Err() == nil && w.checkLease() == nil { // the part that is there is an answer
		k.LogOf(s.TurnRef).Warn("an answer that was cut off could not be continued", "step", s.Step, "error", err)
		rest.Finish, rest.Calls = first.Finish, nil
		return rest, nil
	}
	return rest, err
}

// clean makes a model's text valid for every database.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// StoredPiece finds the result of a model call that an earlier attempt has stored
// before its worker died.
func StoredPiece(texts map[string]string, s Stage) (Written, bool) {
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
func (k *Kit) storePieceWithRetries(ctx context.Context, s PieceRequest, out *sink, got pieceResult) error {
	return retryUntilStored(ctx, SaveTimeout, func(ctx context.Context) error {
		if err := k.ensureTurnRow(ctx, s.TurnRef, out); err != nil {
			return err
		}
		return k.storePiece(ctx, s, got)
	})
}

// storePiece writes the piece, its citations and its tool calls in one transaction.
func (k *Kit) storePiece(ctx context.Context, s PieceRequest, got pieceResult) error {
	citations, err := json.Marshal(got.citations)
	if err != nil {
		return err
	}
	texts := []db.Text{{Key: chat.TextCitations, Text: string(citations)}}
	if got.reasoning != "" {
		texts = append(texts, db.Text{Key: chat.ReasoningKey(s.next()), Text: got.reasoning})
	}
	if len(got.calls) > 0 || got.record.Attempt > 1 || got.record.Thought > 0 || got.record.Cut != "" { // overwrites the record of an earlier attempt
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
	return k.PutTexts(ctx, s.TurnRef, texts...)
}

func (k *Kit) storeCitations(ctx context.Context, s PieceRequest, citations []chat.Citation) error {
	b, err := json.Marshal(citations)
	if err != nil {
		return err
	}
	return k.PutTexts(ctx, s.TurnRef, db.Text{Key: chat.TextCitations, Text: string(b)})
}

// savePartial saves the draft and the citations of an answer that was cut short. The
// work's context has ended, so it uses a context of its own.
func (k *Kit) savePartial(w *Watch, s PieceRequest, out *sink, text string, citations []chat.Citation, timeout time.Duration) {
	if text == "" {
		return
	}
	ctx, cancel := w.FinalContext(timeout)
	defer cancel()
	err := retryUntilStored(ctx, timeout, func(ctx context.Context) error {
		if err := k.saveDraft(ctx, s.TurnRef, out, text, FinalWriteTimeout); err != nil {
			return err
		}
		return k.storeCitations(ctx, s, citations)
	})
	switch {
	case errors.Is(err, db.ErrSettled): // the turn did not wait for this activity
		k.LogOf(s.TurnRef).Info("partial answer not saved: the turn is settled", "step", s.Step)
	case err != nil:
		k.LogOf(s.TurnRef).Warn("saving the partial answer failed", "step", s.Step, "error", err)
	}
}
