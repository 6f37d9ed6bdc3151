package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// maxGiven bounds the messages that wait for a turn's next round.
const maxGiven = 10

// mayBeGiven reports whether the open turn will read the message before its next model call. The
// turn reads no space that the message adds to the scope.
func (t *thread) mayBeGiven(s SubmitRequest) bool {
	u := t.turn
	if s.OnBusy != chat.Steer || s.Unsaved != nil || u == nil || !u.steerable ||
		u.Unsaved != nil || u.Stopped != "" || u.settling || u.Overdrawn || len(u.Given) >= maxGiven ||
		slices.ContainsFunc(chat.SpacesIn(s.Space), func(id string) bool { return !slices.Contains(chat.SpacesIn(u.Space), id) }) {
		return false
	}
	why, _ := t.stoppedBefore(s)
	return why == ""
}

// give hands a message to the open turn.
func (t *thread) give(s SubmitRequest) SubmitReply {
	t.turn.Given = append(t.turn.Given, s)
	t.Carried.Seen[len(t.Carried.Seen)-1].Into = t.turn.TurnID
	return SubmitReply{Status: chat.TurnAccepted, TurnID: t.turn.TurnID, Given: true}
}

// given returns the index of a message that the open turn has not read; -1: there is none. Once
// the turn takes a message, a cancel of that message comes too late.
func (t *thread) given(turnID string) int {
	if t.turn == nil {
		return -1
	}
	i := slices.IndexFunc(t.turn.Given, func(s SubmitRequest) bool { return s.TurnID == turnID })
	if i < t.turn.taking {
		return -1
	}
	return i
}

// takeBack moves a message that the open turn has not read to the front of the queue.
func (t *thread) takeBack(turnID string) {
	if i := t.given(turnID); i >= 0 {
		t.enqueueFirst(t.turn.Given[i])
		t.turn.Given = slices.Delete(slices.Clone(t.turn.Given), i, i+1)
	}
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
		n := len(request.TurnIDs)
		u.taking = n
		defer func() { u.taking = 0 }()
		// A regular activity, because a local one can run in a workflow task that Temporal loses.
		// Then a stop may come first.
		if _, err := runWithRetries[any](clean, u, lookupLimits, "Read what the person has added", acts.TakeGiven, request); err != nil {
			return 0, err
		}
		u.Given = slices.Clone(u.Given[n:]) // more may have come
		for i := range n {
			u.append(ctx, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeSteered, Ref: chat.GivenKey(request.First + i)})
		}
		// The messages are in the log. If their rows cannot be dropped now, the settlement drops them.
		u.Taken = append(u.Taken, request.TurnIDs...)
		if _, err := runOnce[any](clean, "Drop the turns of what was read", acts.DropGiven, activities.GivenRequest{TurnRef: u.TurnRef, TurnIDs: u.Taken}); err == nil {
			u.Taken = nil
		} else {
			u.log(ctx).Warn("the turns of messages that were read are dropped later", "error", err)
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
	t.enqueueFirst(u.Given...)
	u.Given = nil
}

// enqueueFirst lets messages that were given to a turn wait for turns of their own.
func (t *thread) enqueueFirst(given ...SubmitRequest) {
	for _, s := range given {
		for i := range t.Carried.Seen {
			if t.Carried.Seen[i].TurnID == s.TurnID {
				t.Carried.Seen[i].Into = ""
			}
		}
	}
	t.Carried.Queue = append(slices.Clone(given), t.Carried.Queue...)
}
