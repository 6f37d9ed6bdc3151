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
	// How long a finished answer waits in memory for a database that is away.
	savePatience = 5 * time.Minute
	saveAgain    = 250 * time.Millisecond
)

var errEmptyAnswer = errors.New("the answer is empty")

// Write streams an answer: deltas over the bus, the draft into the store every
// 300 ms, and at the end the piece with its citations. Stopped, it hands in
// what there is and returns a value; on any other end of its context it saves
// the draft and asks to be tried again.
func (a *Activities) Write(parent context.Context, r WriteRequest) (Written, error) {
	ctx, w := a.watch(parent, r.TurnID)
	defer w.end()
	step := string(r.Action)
	m, err := a.gather(ctx, r)
	if err != nil {
		if w.stopped() {
			return Written{Stopped: true}, nil
		}
		return Written{}, a.outcome(w, ctx, r.TurnRef, step, err)
	}
	if done, ok := written(m.texts, r.Piece); ok { // an earlier attempt died after its last write
		return done, nil
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	s := &sink{
		publish: a.Bus.PublishDelta,
		at:      stream.Delta{TurnID: r.TurnID, Piece: r.Piece, Attempt: int(activity.GetInfo(parent).Attempt)},
		filter:  cite.New(m.sources, m.allowed...),
	}
	stopDrafts := a.drafts(ctx, r.TurnRef, s, func() { abort(db.ErrSettled) })
	reply, err := a.Model.Stream(ctx, answerPrompt(m), func(delta string) error {
		s.write(delta)
		return ctx.Err()
	})
	text, citations := s.close()
	stopDrafts()

	if err == nil && strings.TrimSpace(text) == "" {
		err = &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errEmptyAnswer}
	}
	out := Written{Chars: utf8.RuneCountInString(text), Citations: len(citations), Usage: reply.Usage}
	if err == nil {
		err = a.keep(ctx, r, text, citations)
	}
	switch {
	case err == nil:
		return out, nil
	case errors.Is(context.Cause(ctx), db.ErrSettled):
		return Written{}, a.fail(parent, r.TurnRef, step, db.ErrSettled)
	}
	a.handIn(parent, r, s, text, citations)
	if w.stopped() {
		out.Stopped = true
		return out, nil
	}
	return Written{}, a.outcome(w, ctx, r.TurnRef, step, err)
}

// written recognises a piece that stands already.
func written(texts map[string]string, piece int) (Written, bool) {
	text, ok := texts[chat.PieceKey(piece)]
	if !ok {
		return Written{}, false
	}
	var citations []chat.Citation
	_ = json.Unmarshal([]byte(texts[chat.TextCitations]), &citations) // ours, and only counted
	return Written{Chars: utf8.RuneCountInString(text), Citations: len(citations)}, true
}

// keep stores a finished piece. While the database is away the text waits in
// memory and the heartbeat goes on.
func (a *Activities) keep(ctx context.Context, r WriteRequest, text string, citations []chat.Citation) error {
	patience := time.NewTimer(savePatience)
	defer patience.Stop()
	for {
		err := a.store(ctx, r, text, citations)
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
func (a *Activities) store(ctx context.Context, r WriteRequest, text string, citations []chat.Citation) error {
	if err := a.storeCitations(ctx, r, citations); err != nil {
		return err
	}
	return a.Store.PutText(ctx, r.Owner, r.TurnID, chat.PieceKey(r.Piece), text)
}

func (a *Activities) storeCitations(ctx context.Context, r WriteRequest, citations []chat.Citation) error {
	b, err := json.Marshal(citations)
	if err != nil {
		return err
	}
	return a.Store.PutText(ctx, r.Owner, r.TurnID, chat.TextCitations, string(b))
}

// handIn saves what there is of an answer that was ended, though the context
// is over.
func (a *Activities) handIn(ctx context.Context, r WriteRequest, s *sink, text string, citations []chat.Citation) {
	if text == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
	defer cancel()
	err := a.saveDraft(ctx, r.TurnRef, s, text, lastWrite)
	if err == nil {
		err = a.storeCitations(ctx, r, citations)
	}
	if err != nil {
		a.log().Warn("partial not saved", "turn", r.TurnID, "error", err)
	}
}
