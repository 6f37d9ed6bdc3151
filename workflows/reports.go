package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
)

// logReports appends what an activity has reported (activities.CallResult.Progress), except the
// reports that are in the log already. call is the activity's tool call, nil for a step of an
// agent.
func (u *turn) logReports(ctx workflow.Context, of string, call *chat.CallRef, nodes []chat.Node) {
	for i := u.Reported[of]; i < len(nodes); i++ {
		u.append(ctx, chat.Entry{Type: chat.EventStatus, Node: nodes[i], Ref: chat.ProgressKey(of, i+1), Call: call})
	}
	u.reporting = slices.DeleteFunc(u.reporting, func(running string) bool { return running == of })
}

// noteReports remembers that n reports of a call are in the log. The call may run again,
// because its outcome is unknown, and then returns them again.
func (u *turn) noteReports(call string, n int) {
	if u.Reported == nil {
		u.Reported = map[string]int{}
	}
	u.Reported[call] = n
}
