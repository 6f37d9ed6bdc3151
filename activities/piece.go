package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"

	"github.com/palaver-chat/palaver/agents/prompt"
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
	text       string
	citations  []chat.Citation
	unverified []string
	// wrongFigures is how many of them are figures.
	wrongFigures int
	calls        []callWithTexts
	record       ModelResult
	reasoning    string
}

// addInstructions tells the model the instructions of the turn's space, as the operator's.
func (k *Kit) addInstructions(ctx context.Context, s PieceRequest) error {
	if s.Space == "" {
		return nil
	}
	space, err := k.Store.ThisSpace(ctx, s.Owner)
	if err == nil && space.Instructions != "" && len(s.Request.Messages) > 0 {
		s.Request.Messages[0].Text += prompt.SpaceNote(space.Instructions)
	}
	return err
}

// StreamPiece streams a piece: deltas over the bus, and its draft to the store (draftInterval
// apart). At the end it stores the piece with its citations and tool calls. When the
// turn is stopped, it saves the partial text and returns no error. On any other end
// of its context it saves the draft and returns a retryable error.
func (k *Kit) StreamPiece(parent, ctx context.Context, w *Watch, s PieceRequest) (ModelResult, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	attempt := s.Tried + int(activity.GetInfo(parent).Attempt)
	out := &sink{
		publish: k.Bus.PublishDelta,
		at:      bus.Delta{TurnID: s.TurnID, Piece: s.Piece, Attempt: attempt, Logged: s.Logged},
		filter:  s.Filter,
		fresh:   s.Filter.Copy(),
		hidden:  k.HideReasoning,
		stop:    w.stopTurn,
	}
	stopDrafts := k.startDrafts(ctx, s.TurnRef, out, func() { abort(db.ErrSettled) })
	defer stopDrafts() // also when the model's code panics
	s.Request.Model = s.Model
	if err := k.addInstructions(ctx, s); err != nil {
		return ModelResult{}, err
	}
	for _, t := range s.Offered {
		s.Request.Tools = append(s.Request.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	s.Request.Facts.Tools = s.Request.Tools
	if LostAttempt(parent) && k.OnRestart != nil && ctx.Err() == nil {
		k.OnRestart()
	}
	reply, err := k.streamChecked(ctx, w, s, out)
	if err == nil {
		err = w.checkLease()
	}
	got := out.close()
	stopDrafts()

	if len(s.Offered) > 0 {
		got.calls = readCalls(s, reply.Calls)
	}
	partial := got
	if err == nil && strings.TrimSpace(got.text) == "" {
		got.text = ""
		if len(got.calls) == 0 {
			err = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errEmptyAnswer}
		}
	}
	got.record = ModelResult{
		Chars: utf8.RuneCountInString(got.text), Citations: len(got.citations), Usage: s.Before.Usage.Add(reply.Usage), History: s.Before.Notice,
		Attempt: attempt - s.Tried, NoImages: reply.NoImages,
	}
	if got.reasoning = clean(reply.Reasoning); got.reasoning != "" && !k.HideReasoning {
		got.record.Thought = max(1, int(out.took.Milliseconds()))
	}
	if len(got.calls) > 0 {
		got.record.Dropped = reply.Dropped
	} else {
		got.record.Cut, got.record.WrongFigures = cutNotices[reply.Finish], got.wrongFigures
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
		return ModelResult{}, k.Fail(w.Parent, s.TurnRef, s.Step, db.ErrSettled)
	}
	failed := k.EndError(w, ctx, s.TurnRef, s.Step, err)
	if w.checkLease() != nil { // the next attempt may write already
		return ModelResult{}, failed
	}
	timeout := FinalWriteTimeout
	if IsFinal(failed) { // no other attempt writes it
		timeout = SaveTimeout
	}
	k.savePartial(w, s, out, partial, timeout)
	if w.Stopped() {
		got.record.Stopped, got.record.Calls = true, nil
		return got.record, nil
	}
	return ModelResult{}, failed
}

// Words that ask a model to correct an answer.
const (
	correct = "These words of your answer are not in the passages that it cites: %s. Quotations must be word for word. Each figure must stand in a cited passage with the same unit, " +
		"or be computed from such figures with the formula shown. Write the whole answer again with that corrected, and leave out what you cannot support. Do not say that you correct it."
	maxCorrected = 20 // quotations and figures that are named
)

// streamChecked streams an answer. If quotations or figures of it are not found, the model writes
// it again, once; the better one of both stays.
func (k *Kit) streamChecked(ctx context.Context, w *Watch, s PieceRequest, out *sink) (llm.Reply, error) {
	first, err := k.streamWhole(ctx, w, s, out)
	if err != nil || len(first.Calls) > 0 || first.Finish != llm.FinishStop || k.Model.Info().Offline {
		return first, err
	}
	said, wrong := out.checked()
	if len(wrong) == 0 {
		return first, nil
	}
	named, err := json.Marshal(wrong[:min(len(wrong), maxCorrected)])
	if err != nil {
		return first, err
	}
	s.Request.Messages = append(slices.Clone(s.Request.Messages), llm.Message{Role: llm.Assistant, Text: said}, llm.Message{Role: llm.User, Text: fmt.Sprintf(correct, named)})
	out.retract()
	second, err := k.streamWhole(ctx, w, s, out)
	_, left := out.checked()
	if ctx.Err() != nil || w.checkLease() != nil {
		return second, err
	}
	second.Usage = first.Usage.Add(second.Usage)
	if err == nil && len(second.Calls) == 0 && out.draft() != "" && len(left) < len(wrong) {
		return second, nil
	}
	if err != nil {
		k.LogOf(s.TurnRef).Warn("an answer could not be corrected", "step", s.Step, "error", err)
	}
	out.retract()
	out.write(said)
	first.Usage = second.Usage
	return first, nil
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
	rest.Reasoning = cmp.Or(rest.Reasoning, first.Reasoning)
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
func StoredPiece(texts map[string]string, s Stage) (ModelResult, bool) {
	text, piece := texts[chat.PieceKey(s.Piece)]
	var w ModelResult
	if raw := texts[chat.SaidKey(s.next())]; raw != "" && json.Unmarshal([]byte(raw), &w) == nil && (piece || w.Chars == 0) {
		return w, true
	}
	if !piece {
		return ModelResult{}, false
	}
	var citations []chat.Citation
	_ = json.Unmarshal([]byte(texts[chat.TextCitations]), &citations) // our own JSON, for their number only
	return ModelResult{Chars: utf8.RuneCountInString(text), Citations: len(citations)}, true
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
	texts, err := s.about(got)
	if err != nil {
		return err
	}
	if got.reasoning != "" {
		texts = append(texts, db.Text{Key: chat.ReasoningKey(s.next()), Text: got.reasoning})
	}
	if len(got.calls) > 0 || got.record.Attempt > 1 || got.record.Thought > 0 || got.record.Cut != "" || got.record.WrongFigures > 0 { // overwrites the record of an earlier attempt
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

// about returns what is stored about a piece's text.
func (s PieceRequest) about(got pieceResult) ([]db.Text, error) {
	citations, err := json.Marshal(got.citations)
	if err != nil {
		return nil, err
	}
	texts := []db.Text{{Key: chat.TextCitations, Text: string(citations)}}
	if len(got.unverified) > 0 || got.record.Attempt > 1 { // an earlier attempt may have stored its own
		unverified, err := json.Marshal(got.unverified)
		if err != nil {
			return nil, err
		}
		texts = append(texts, db.Text{Key: chat.UnverifiedKey(s.Piece), Text: string(unverified)})
	}
	return texts, nil
}

// savePartial saves the draft and the citations of an answer that was cut short. The
// work's context has ended, so it uses a context of its own.
func (k *Kit) savePartial(w *Watch, s PieceRequest, out *sink, got pieceResult, timeout time.Duration) {
	if got.text == "" {
		return
	}
	ctx, cancel := w.FinalContext(timeout)
	defer cancel()
	err := retryUntilStored(ctx, timeout, func(ctx context.Context) error {
		if err := k.saveDraft(ctx, s.TurnRef, out, got.text, FinalWriteTimeout); err != nil {
			return err
		}
		texts, err := s.about(got)
		if err != nil {
			return err
		}
		return k.PutTexts(ctx, s.TurnRef, texts...)
	})
	switch {
	case errors.Is(err, db.ErrSettled): // the turn did not wait for this activity
		k.LogOf(s.TurnRef).Info("partial answer not saved: the turn is settled", "step", s.Step)
	case err != nil:
		k.LogOf(s.TurnRef).Warn("saving the partial answer failed", "step", s.Step, "error", err)
	}
}
