package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// maxSameQuestion bounds how often a turn repeats the same question.
const maxSameQuestion = 25

// ask asks the person a question and waits for the answer, without a time limit.
// The steps before it do not run again. It returns errStopped when the turn is
// stopped, and errContinue when the thread must continue as new: then the question
// stays open in the next run.
func (u *turn) ask(ctx workflow.Context, step string, q chat.Question) (chat.ResumeValue, error) {
	return once(u, step, func() (chat.ResumeValue, error) {
		if u.Pending == nil && u.Answer == nil {
			if err := u.storeOldLog(ctx); err != nil {
				return chat.ResumeValue{}, err
			}
			u.openQuestion(ctx, q)
		}
		u.pauseClock(ctx)
		u.blocked = true
		u.asking = true
		err := u.awaitAnswer(ctx)
		u.asking = false
		u.workingSince = workflow.Now(ctx)
		if err == nil && u.Stopped == "" && u.Answer == nil {
			return chat.ResumeValue{}, errContinue
		}
		if u.thread.Version >= 1 {
			u.thread.setStatus(ctx, statusOpen)
		}
		if err != nil {
			return chat.ResumeValue{}, err
		}
		if u.Stopped != "" {
			return chat.ResumeValue{}, errStopped
		}
		answer := u.storeAnswer(ctx, q, *u.Answer)
		u.Answer = nil
		u.thread.setStatusV0(ctx, statusRunning)
		u.markStatus(ctx, "Go on", acts.MarkRunning)
		return answer, nil
	})
}

// storeAnswer stores what a person wrote, if the API has not: the answer came by a
// signal, or while the database was unavailable. It returns the answer with a
// reference instead of the text, to keep texts out of the history.
func (u *turn) storeAnswer(ctx workflow.Context, q chat.Question, v chat.ResumeValue) chat.ResumeValue {
	if u.thread.Version == 0 || v.Ref != "" || !v.HasTexts(q) || u.Unsaved != nil {
		return v
	}
	id := chat.InterruptID(u.TurnID, u.Asked)
	key, err := runOnce[string](ctx, "Keep the answer", acts.KeepAnswer, activities.KeepRequest{TurnRef: u.TurnRef, InterruptID: id, Value: v})
	if err != nil {
		u.log(ctx).Warn("storing the answer failed; the workflow keeps it", "interrupt", id, "error", err)
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

// awaitAnswer waits for an answer, for a stop, or until the thread must continue as
// new. Decisions that came by a signal are checked first. When ApprovalTimeout has
// passed, tool calls are rejected.
func (u *turn) awaitAnswer(ctx workflow.Context) error {
	timing, stop := workflow.WithCancel(ctx)
	defer stop()
	limit := u.approvalLimit(timing)
	for {
		err := workflow.Await(ctx, func() bool {
			return u.Answer != nil || u.Stopped != "" || u.Unchecked != nil || u.thread.mustContinueAsNew(ctx) || limit != nil && limit.IsReady()
		})
		switch {
		case err != nil:
			return err
		case u.Answer != nil || u.Stopped != "":
			return nil
		case u.Unchecked != nil:
			if err := u.checkDecisions(ctx); err != nil {
				return err
			}
		case limit != nil && limit.IsReady():
			u.acceptAnswer(ctx, rejectAll(*u.Pending), chat.ByServer)
			return nil
		default:
			return nil
		}
	}
}

// approvalLimit starts the timer of a question about tools; nil when the question has no
// time limit.
func (u *turn) approvalLimit(ctx workflow.Context) workflow.Future {
	if u.thread.ApprovalTimeout <= 0 || u.Pending == nil || u.Pending.Type != chat.ToolApproval {
		return nil
	}
	left := u.thread.ApprovalTimeout - workflow.Now(ctx).Sub(u.AskedAt)
	return workflow.NewTimerWithOptions(ctx, max(left, time.Millisecond), workflow.TimerOptions{Summary: "Wait for a decision"})
}

// rejectAll rejects every call that a question asks about.
func rejectAll(q chat.Question) chat.ResumeValue {
	v := chat.ResumeValue{Type: chat.ToolApproval}
	for _, c := range q.Calls {
		v.Decisions = append(v.Decisions, chat.Decision{ID: c.ID, Decision: chat.Rejected, Reason: activities.NoAnswerInTime})
	}
	return v
}

// checkDecisions accepts decisions that came by a signal if the changed arguments fit
// the tools' schemas; else the question stays open.
func (u *turn) checkDecisions(ctx workflow.Context) error {
	v, q := *u.Unchecked, *u.Pending
	u.Unchecked = nil
	decided, err := lookup[activities.Decided](ctx, u, "Check the decisions", acts.Decide,
		activities.DecideRequest{TurnRef: u.TurnRef, Question: q, Value: v, Check: true})
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case u.Pending == nil || u.Pending.ID != q.ID || u.Stopped != "": // another answer was accepted meanwhile
		u.noticeIgnoredResume(ctx)
	case err != nil || decided.Misfit:
		u.noticeIgnoredResume(ctx)
	default:
		u.acceptAnswer(ctx, v, chat.BySignal)
	}
	return nil
}

// noticeIgnoredResume adds a notice that an answer was dropped.
func (u *turn) noticeIgnoredResume(ctx workflow.Context) {
	if u.runsAhead {
		u.ignoredResumes++
		return
	}
	u.notice(ctx, chat.NoticeResumeIgnored)
	u.hint(ctx)
}

func (u *turn) openQuestion(ctx workflow.Context, q chat.Question) {
	u.Asked++
	q.ID = chat.InterruptID(u.TurnID, u.Asked)
	u.Pending, u.AskedAt = &q, workflow.Now(ctx)
	usage := u.Usage
	u.append(ctx, chat.Entry{Type: chat.EventInterrupt, Question: &q, Ref: q.Ref, Usage: &usage})
	u.thread.setStatus(ctx, statusInterrupted)
	workflow.SetCurrentDetails(ctx, "Waiting for a person: "+string(q.Type)+" ("+string(q.Prompt)+")")
	u.markStatus(ctx, "Wait for a person", acts.MarkInterrupted)
	u.hint(ctx)
}

// acceptAnswer closes the open question with an answer that fits it, and records by
// which channel it came. A cancel stops the turn instead.
func (u *turn) acceptAnswer(ctx workflow.Context, v chat.ResumeValue, by chat.Channel) {
	if v.Type == chat.CancelResume {
		u.stop(ctx, chat.UserCancelled, by)
		return
	}
	u.log(ctx).Info("question answered", "interrupt", u.Pending.ID, "type", u.Pending.Type, "channel", by)
	u.append(ctx, chat.Entry{Type: chat.EventResumed, Answers: u.Pending.ID, Resume: &v, Channel: by})
	u.Pending, u.Answer, u.AnsweredBy = nil, &v, by
	workflow.SetCurrentDetails(ctx, "")
}
