package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// maxAsks bounds how often a turn asks the same thing again.
const maxAsks = 25

// ask puts a question to the person and waits as long as it takes. The turn
// goes on here, at this line, with the answer; nothing before it runs again.
// It ends early when the turn is stopped, and with errContinue when the thread
// must continue as new: then the question stays open across it.
func (u *turn) ask(ctx workflow.Context, step string, q chat.Question) (chat.ResumeValue, error) {
	return once(u, step, func() (chat.ResumeValue, error) {
		if u.Pending == nil && u.Answer == nil {
			if err := u.trim(ctx); err != nil {
				return chat.ResumeValue{}, err
			}
			u.pose(ctx, q)
		}
		u.rest(ctx)
		u.waits = true
		err := u.awaitAnswer(ctx)
		u.since = workflow.Now(ctx)
		if err == nil && u.Stopped == "" && u.Answer == nil {
			return chat.ResumeValue{}, errContinue
		}
		if u.thread.Version >= 1 {
			u.thread.show(ctx, statusOpen)
		}
		if err != nil {
			return chat.ResumeValue{}, err
		}
		if u.Stopped != "" {
			return chat.ResumeValue{}, errStopped
		}
		answer := u.keep(ctx, q, *u.Answer)
		u.Answer = nil
		u.thread.showWork(ctx, statusRunning)
		u.mark(ctx, "Go on", acts.MarkRunning)
		return answer, nil
	})
}

// keep has what a person wrote stored, where the API has not done so: the answer
// came by a signal, or while the database could not be reached. The thread
// carries texts no further than it must.
func (u *turn) keep(ctx workflow.Context, q chat.Question, v chat.ResumeValue) chat.ResumeValue {
	if u.thread.Version == 0 || v.Ref != "" || !v.HasTexts(q) || u.Unsaved != nil {
		return v
	}
	id := chat.InterruptID(u.TurnID, u.Asked)
	key, err := quick[string](ctx, "Keep the answer", acts.KeepAnswer, activities.KeepRequest{TurnRef: u.TurnRef, InterruptID: id, Value: v})
	if err != nil {
		u.log(ctx).Warn("answer not stored; the thread carries it", "error", err)
		return v
	}
	short := v.ByReference(q, key)
	for i := range u.Log {
		if u.Log[i].Answers == id {
			u.Log[i].Resume = &short
		}
	}
	return short
}

// awaitAnswer waits for an answer, a stop, or the time to continue as new.
// Decisions that came by a signal are looked at first; those about tools may
// have a time limit, after which the calls are not made.
func (u *turn) awaitAnswer(ctx workflow.Context) error {
	timing, stop := workflow.WithCancel(ctx)
	defer stop()
	limit := u.approvalLimit(timing)
	for {
		err := workflow.Await(ctx, func() bool {
			return u.Answer != nil || u.Stopped != "" || u.Unchecked != nil || u.thread.full(ctx) || limit != nil && limit.IsReady()
		})
		switch {
		case err != nil:
			return err
		case u.Answer != nil || u.Stopped != "":
			return nil
		case u.Unchecked != nil:
			if err := u.check(ctx); err != nil {
				return err
			}
		case limit != nil && limit.IsReady():
			u.answered(ctx, nobody(*u.Pending))
			return nil
		default:
			return nil
		}
	}
}

// approvalLimit is the timer of a question about tools; nil for none.
func (u *turn) approvalLimit(ctx workflow.Context) workflow.Future {
	if u.thread.ApprovalTimeout <= 0 || u.Pending == nil || u.Pending.Type != chat.ToolApproval {
		return nil
	}
	left := u.thread.ApprovalTimeout - workflow.Now(ctx).Sub(u.AskedAt)
	return workflow.NewTimerWithOptions(ctx, max(left, time.Millisecond), workflow.TimerOptions{Summary: "Wait for a decision"})
}

// nobody rejects every call that a question asks about.
func nobody(q chat.Question) chat.ResumeValue {
	v := chat.ResumeValue{Type: chat.ToolApproval}
	for _, c := range q.Calls {
		v.Decisions = append(v.Decisions, chat.Decision{ID: c.ID, Decision: chat.Rejected, Reason: activities.NobodyAnswered})
	}
	return v
}

// check takes decisions that came from a shell when the arguments they change
// fit the tools; else the question stays open.
func (u *turn) check(ctx workflow.Context) error {
	v, q := *u.Unchecked, *u.Pending
	u.Unchecked = nil
	decided, err := lookup[activities.Decided](ctx, u, "Check the decisions", acts.Decide,
		activities.DecideRequest{TurnRef: u.TurnRef, Question: q, Value: v, Check: true})
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case u.Pending == nil || u.Pending.ID != q.ID || u.Stopped != "": // another answer was taken meanwhile
		u.ignored(ctx)
	case err != nil || decided.Misfit:
		u.ignored(ctx)
	default:
		u.answered(ctx, v)
	}
	return nil
}

// ignored tells of an answer that was dropped.
func (u *turn) ignored(ctx workflow.Context) {
	u.notice(ctx, chat.NoticeResumeIgnored)
	u.hint(ctx)
}

func (u *turn) pose(ctx workflow.Context, q chat.Question) {
	u.Asked++
	q.ID = chat.InterruptID(u.TurnID, u.Asked)
	u.Pending, u.AskedAt = &q, workflow.Now(ctx)
	usage := u.Usage
	u.append(ctx, chat.Entry{Type: chat.EventInterrupt, Question: &q, Ref: q.Ref, Usage: &usage})
	u.thread.show(ctx, statusInterrupted)
	workflow.SetCurrentDetails(ctx, "Waiting for a person: "+string(q.Type)+" ("+string(q.Prompt)+")")
	u.mark(ctx, "Wait for a person", acts.MarkInterrupted)
	u.hint(ctx)
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
