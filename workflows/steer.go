package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// maxGiven bounds the messages that wait for a turn's next round.
const maxGiven = 10

// mayBeGiven reports whether the open turn will read the message before its next model call.
func (t *thread) mayBeGiven(s SubmitRequest) bool {
	u := t.turn
	return s.OnBusy == chat.Steer && s.Unsaved == nil && !s.Cancelled && u != nil && u.steerable &&
		u.Unsaved == nil && u.Stopped == "" && !u.settling && !u.Overdrawn && len(u.Given) < maxGiven
}

// give hands a message to the open turn.
func (t *thread) give(s SubmitRequest) SubmitReply {
	t.turn.Given = append(t.turn.Given, s)
	t.Carried.Seen[len(t.Carried.Seen)-1].Into = t.turn.TurnID
	return SubmitReply{Status: chat.TurnAccepted, TurnID: t.turn.TurnID}
}

// readGiven lets the next model call read what the person has written since the last one. The log
// shows it there.
func (u *turn) readGiven(ctx workflow.Context, r *round) error {
	read, err := once(u, stepName(stepGiven, r.N), func() (int, error) {
		if len(u.Given) == 0 || u.Stopped != "" {
			return 0, nil
		}
		request := activities.GivenRequest{TurnRef: u.TurnRef, First: len(r.Stage.Given) + 1}
		for _, s := range u.Given {
			request.TurnIDs = append(request.TurnIDs, s.TurnID)
		}
		clean, _ := workflow.NewDisconnectedContext(ctx) // a message is taken, or it keeps its own turn
		if _, err := lookup[any](clean, u, "Read what the person has added", acts.TakeGiven, request); err != nil {
			return 0, err
		}
		n := len(request.TurnIDs)
		u.Given = slices.Clone(u.Given[n:]) // more may have come
		for i := range n {
			u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeSteered, Ref: chat.GivenKey(request.First + i)})
		}
		return n, nil
	})
	for range read {
		r.Stage.Given = append(r.Stage.Given, r.N)
	}
	return err
}

// enqueueUnread makes turns of the messages that the turn has not read when it ends.
func (t *thread) enqueueUnread(u *turn) {
	for _, s := range u.Given {
		for i := range t.Carried.Seen {
			if t.Carried.Seen[i].TurnID == s.TurnID {
				t.Carried.Seen[i].Into = ""
			}
		}
	}
	t.Carried.Queue = append(slices.Clone(u.Given), t.Carried.Queue...)
	u.Given = nil
}
