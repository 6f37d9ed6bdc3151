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
)

const (
	// SavePatience is how long an answer waits in memory for a database that is
	// away.
	SavePatience = 5 * time.Minute
	saveAgain    = 250 * time.Millisecond
)

var errEmptyAnswer = errors.New("the answer is empty")

// speech is a model call whose text goes to the person as it comes, as one piece
// of the answer.
type speech struct {
	TurnRef
	piece   int
	step    string // for errors and the log
	request llm.Request
	filter  *cite.Filter
}

// speak streams a piece: deltas over the bus, the draft into the store every
// 300 ms, and at the end the piece with its citations. Stopped, it hands in
// what there is and returns a value; on any other end of its context it saves
// the draft and asks to be tried again.
func (a *Activities) speak(parent, ctx context.Context, w *watch, s speech) (Written, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	out := &sink{
		publish: a.Bus.PublishDelta,
		at:      stream.Delta{TurnID: s.TurnID, Piece: s.piece, Attempt: int(activity.GetInfo(parent).Attempt)},
		filter:  s.filter,
	}
	stopDrafts := a.drafts(ctx, s.TurnRef, out, func() { abort(db.ErrSettled) })
	reply, err := a.Model.Stream(ctx, s.request, func(delta string) error {
		out.write(delta)
		return ctx.Err()
	})
	text, citations := out.close()
	stopDrafts()

	if err == nil && strings.TrimSpace(text) == "" {
		err = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errEmptyAnswer}
	}
	said := Written{Chars: utf8.RuneCountInString(text), Citations: len(citations), Usage: reply.Usage}
	if err == nil {
		err = a.keep(ctx, s, text, citations)
	}
	switch {
	case err == nil:
		return said, nil
	case errors.Is(context.Cause(ctx), db.ErrSettled):
		return Written{}, a.fail(parent, s.TurnRef, s.step, db.ErrSettled)
	}
	a.handIn(parent, s, out, text, citations)
	if w.stopped() {
		said.Stopped = true
		return said, nil
	}
	return Written{}, a.outcome(w, ctx, s.TurnRef, s.step, err)
}

// keep stores a finished piece. While the database is away the text waits in
// memory and the heartbeat goes on.
func (a *Activities) keep(ctx context.Context, s speech, text string, citations []chat.Citation) error {
	patience := time.NewTimer(SavePatience)
	defer patience.Stop()
	for {
		err := a.store(ctx, s, text, citations)
		if !errors.Is(err, db.ErrUnavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return err
		case <-time.After(saveAgain):
		}
	}
}

// store writes the citations first: where the piece stands, they stand.
func (a *Activities) store(ctx context.Context, s speech, text string, citations []chat.Citation) error {
	if err := a.storeCitations(ctx, s, citations); err != nil {
		return err
	}
	return a.Store.PutText(ctx, s.Owner, s.TurnID, chat.PieceKey(s.piece), text)
}

func (a *Activities) storeCitations(ctx context.Context, s speech, citations []chat.Citation) error {
	b, err := json.Marshal(citations)
	if err != nil {
		return err
	}
	return a.Store.PutText(ctx, s.Owner, s.TurnID, chat.TextCitations, string(b))
}

// handIn saves what there is of an answer that was ended, though the context
// is over.
func (a *Activities) handIn(ctx context.Context, s speech, out *sink, text string, citations []chat.Citation) {
	if text == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
	defer cancel()
	err := a.saveDraft(ctx, s.TurnRef, out, text, lastWrite)
	if err == nil {
		err = a.storeCitations(ctx, s, citations)
	}
	if err != nil {
		a.log().Warn("partial not saved", "turn", s.TurnID, "error", err)
	}
}
