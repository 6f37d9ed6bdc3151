package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
)

// ask puts a question to the person and waits as long as it takes. The turn
// goes on here, at this line, with the answer; nothing before it runs again.
// It ends early when the turn is stopped, and with errContinue when the thread
// must continue as new: then the question stays open across it.
func (u *turn) ask(ctx workflow.Context, step string, q chat.Question) (chat.ResumeValue, error) {
	return once(u, step, func() (chat.ResumeValue, error) {
		if u.Pending == nil && u.Answer == nil {
			u.pose(ctx, q)
		}
		u.rest(ctx)
		err := workflow.Await(ctx, func() bool {
			return u.Answer != nil || u.Stopped != "" || u.thread.full(ctx)
		})
		u.since = workflow.Now(ctx)
		if err != nil {
			return chat.ResumeValue{}, err
		}
		if u.Stopped != "" {
			return chat.ResumeValue{}, errStopped
		}
		if u.Answer == nil {
			return chat.ResumeValue{}, errContinue
		}
		answer := *u.Answer
		u.Answer = nil
		u.thread.show(ctx, statusRunning)
		u.mark(ctx, "Go on", acts.MarkRunning)
		return answer, nil
	})
}

func (u *turn) pose(ctx workflow.Context, q chat.Question) {
	u.Asked++
	q.ID = chat.InterruptID(u.TurnID, u.Asked)
	u.Pending = &q
	u.append(ctx, chat.Entry{Type: chat.EventInterrupt, Question: &q, Ref: q.Ref})
	u.thread.show(ctx, statusInterrupted)
	workflow.SetCurrentDetails(ctx, "Waiting for a person: "+string(q.Type)+" ("+string(q.Prompt)+")")
	u.mark(ctx, "Wait for a person", acts.MarkInterrupted)
}

// answered takes an answer that fits the open question, exactly once. A cancel
// ends the turn instead.
func (u *turn) answered(ctx workflow.Context, v chat.ResumeValue) {
	if v.Type == chat.CancelResume {
		u.stop(ctx, chat.UserCancelled)
		return
	}
	u.append(ctx, chat.Entry{Type: chat.EventResumed, Answers: u.Pending.ID, Resume: &v})
	u.Pending, u.Answer = nil, &v
	workflow.SetCurrentDetails(ctx, "")
}
