package workflows

import (
	"encoding/json"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// toolLoop makes the model calls of an agent's rounds.
type toolLoop struct {
	status func(n int) chat.Node // status before the n-th model call, "" for none; nil: never one
	model  func(workflow.Context, activities.Stage) workflow.Future
}

// round is the position of a turn in the tool loop.
type round struct {
	N     int              `json:"n"` // of the next model call
	Stage activities.Stage `json:"stage"`
}

// runRound lets the model read what the person has written meanwhile, calls it once, and then
// calls the tools that it asks for. The answer is complete when it asks for none, and the person
// has written nothing more. Each text of the model is a piece of the answer. The thread may
// continue as new between two rounds.
func (u *turn) runRound(ctx workflow.Context, a toolLoop) (said activities.ModelResult, made []activities.CompletedCall, answered bool, err error) {
	next, err := u.nextRound()
	if err == nil {
		err = u.answeredAlready(next.N)
	}
	if err == nil {
		err = u.continueBeforeRound(ctx, next.N)
	}
	if err == nil {
		err = u.readGiven(ctx, &next)
	}
	if err != nil {
		return said, nil, false, err
	}
	if said, err = u.callModel(ctx, a, next.N, next.Stage); err != nil {
		return said, nil, false, err
	}
	if len(said.Calls) == 0 && (len(u.Given) == 0 || u.Overdrawn) {
		return said, nil, true, nil
	}
	if len(said.Calls) > 0 {
		made, err = u.callTools(ctx, next.N, said.Calls)
	}
	if err == nil {
		err = u.finishRound(&next, said, made)
	}
	return said, made, false, err
}

// nextRound returns the round after those that are finished.
func (u *turn) nextRound() (round, error) {
	next := round{N: 1, Stage: activities.Stage{Piece: 1}}
	var err error
	if recorded, ok := u.Steps[stepRound]; ok {
		err = json.Unmarshal(recorded, &next)
	}
	return next, err
}

// continueBeforeRound keeps the thread's state and history short between two rounds.
func (u *turn) continueBeforeRound(ctx workflow.Context, n int) error {
	if n == 1 {
		return nil
	}
	if err := u.storeOldLog(ctx); err != nil {
		return err
	}
	if u.Stopped == "" && u.thread.mustContinueAsNew(ctx) {
		u.pauseClock(ctx)
		return errContinue
	}
	return nil
}

// finishRound records the next round in place of this round's steps.
func (u *turn) finishRound(r *round, said activities.ModelResult, made []activities.CompletedCall) (err error) {
	done := activities.Round{Calls: made}
	if said.Chars > 0 {
		done.Piece = r.Stage.Piece
		r.Stage.Piece, r.Stage.Tried = r.Stage.Piece+1, 0
	} else {
		r.Stage.Tried += said.Attempt
	}
	r.Stage.Round = r.N // the activity reads the rounds from the turn's texts
	r.Stage.Calls += len(said.Calls)
	r.N++
	for _, step := range workflow.DeterministicKeys(u.Steps) {
		if slices.ContainsFunc(roundSteps, func(prefix string) bool { return strings.HasPrefix(step, prefix) }) {
			delete(u.Steps, step)
		}
	}
	u.Steps[stepRound], err = json.Marshal(*r)
	return err
}

// callModel lets the model write the next piece, or ask for tool calls.
func (u *turn) callModel(ctx workflow.Context, a toolLoop, n int, stage activities.Stage) (activities.ModelResult, error) {
	return once(u, stepName(stepWrite, n), func() (w activities.ModelResult, err error) {
		if err = u.mayAnswer(ctx, n, &stage); err != nil {
			return w, err
		}
		if a.status != nil {
			if node := a.status(n); node != "" {
				u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: node})
			}
		}
		err = u.await(ctx, a.model(ctx, stage), &w)
		u.Usage = u.Usage.Add(w.Usage)
		if err != nil {
			return w, err
		}
		if w.Stopped {
			return w, errStopped
		}
		if stage.Last {
			w.Calls = nil
		}
		u.noticeNoImages(ctx, w.NoImages)
		if w.History != "" {
			u.notice(ctx, w.History)
		}
		if w.Thought > 0 {
			u.append(ctx, chat.Entry{Type: chat.EventReasoning, Ref: chat.ReasoningKey(stage.Round + 1), Took: w.Thought})
		}
		if w.Chars > 0 {
			u.append(ctx, chat.Entry{Type: chat.EventText, Piece: stage.Piece, Ref: chat.PieceKey(stage.Piece)})
		}
		if w.Cut != "" {
			u.notice(ctx, w.Cut)
		}
		if w.WrongFigures > 0 {
			u.notice(ctx, chat.NoticeFigures)
		}
		for _, c := range w.Calls {
			u.append(ctx, chat.Entry{Type: chat.EventToolCall, Call: &c.CallRef})
		}
		return w, nil
	})
}

// noticeNoImages adds the notice that the model cannot see pictures, once per turn.
func (u *turn) noticeNoImages(ctx workflow.Context, cannotSee bool) {
	if cannotSee && !u.NoImages {
		u.NoImages = true
		u.notice(ctx, chat.NoticeNoImages)
	}
}
