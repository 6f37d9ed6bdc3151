package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// maxSameQuestion bounds how often a turn repeats the same question.
const maxSameQuestion = 25

// answer is a person's answer to the open question, by the resume update or signal.
type answer struct {
	Value   chat.ResumeValue `json:"value"`
	Channel chat.Channel     `json:"channel,omitempty"`
	// Unchecked: it has changed arguments of tools, which are not yet checked against the
	// tools' schemas. The question is still open.
	Unchecked bool `json:"unchecked,omitempty"`
}

// maxAnswers bounds the answers that wait for the turn, which takes them at once.
const maxAnswers = 16

// ask asks the person a question and waits for the answer, without a time limit.
// The steps before it do not run again. It returns errStopped when the turn is
// stopped, and errContinue when the thread must continue as new: then the question
// stays open in the next run.
func (u *turn) ask(ctx workflow.Context, step string, q chat.Question) (chat.ResumeValue, error) {
	return once(u, step, func() (chat.ResumeValue, error) {
		if u.Pending == nil && u.answers.Len() == 0 {
			if err := u.storeOldLog(ctx); err != nil {
				return chat.ResumeValue{}, err
			}
			u.openQuestion(ctx, q)
		}
		u.pauseClock(ctx)
		u.blocked, u.asking = true, true
		taken, err := u.awaitAnswer(ctx)
		u.asking, u.workingSince = false, workflow.Now(ctx)
		if err == errContinue {
			return chat.ResumeValue{}, err
		}
		u.thread.setStatus(ctx, statusOpen)
		if err != nil {
			return chat.ResumeValue{}, err
		}
		u.AnsweredBy = taken.Channel
		value := u.storeAnswer(ctx, q, taken.Value)
		u.markStatus(ctx, "Continue with the answer", acts.MarkRunning)
		return value, nil
	})
}

// awaitAnswer is the one place where a turn waits for a person: for the answer, for a stop,
// for the time limit of a question about tools, or until the thread must continue as new.
func (u *turn) awaitAnswer(ctx workflow.Context) (taken answer, err error) {
	timing, stopTimer := workflow.WithCancel(ctx)
	defer stopTimer()
	selector := workflow.NewSelector(ctx)
	answered := false
	selector.AddReceive(u.answers, func(c workflow.ReceiveChannel, _ bool) {
		c.ReceiveAsync(&taken)
		answered = !taken.Unchecked || u.checkDecisions(ctx, taken)
	})
	selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { err = ctx.Err() })
	selector.AddReceive(u.thread.changed, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(nil) })
	if limit := u.approvalLimit(timing); limit != nil {
		selector.AddFuture(limit, func(workflow.Future) {
			if u.Pending != nil {
				u.acceptAnswer(ctx, rejectAll(*u.Pending), chat.ByServer)
			}
		})
	}
	for {
		switch {
		case u.Stopped != "":
			return taken, errStopped
		case err != nil:
			return taken, err
		case answered:
			u.dropAnswers(ctx)
			return taken, nil
		case u.answers.Len() == 0 && u.thread.mustContinueAsNew(ctx):
			return taken, errContinue
		}
		selector.Select(ctx)
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

// checkDecisions closes the open question with decisions that came by a signal if the changed
// arguments fit the tools' schemas, and reports whether they do; else the question stays open.
func (u *turn) checkDecisions(ctx workflow.Context, given answer) bool {
	if u.Pending == nil { // another answer was accepted meanwhile
		u.noticeIgnoredResume(ctx)
		return false
	}
	u.checking = true
	defer func() { u.checking = false }()
	q := *u.Pending
	decided, err := lookup[activities.DecideResult](ctx, u, "Check the decisions", acts.Decide,
		activities.DecideRequest{TurnRef: u.TurnRef, Question: q, Value: given.Value, Check: true})
	if ctx.Err() != nil {
		return false
	}
	if err != nil || decided.Misfit || u.Pending == nil || u.Pending.ID != q.ID || u.Stopped != "" {
		u.noticeIgnoredResume(ctx)
		return false
	}
	u.closeQuestion(ctx, given.Value, given.Channel)
	return true
}

// offerAnswer hands answers to the turn that are still to be checked.
func (u *turn) offerAnswer(ctx workflow.Context, v chat.ResumeValue, by chat.Channel) {
	if !u.answers.SendAsync(answer{Value: v, Channel: by, Unchecked: true}) {
		u.noticeIgnoredResume(ctx)
	}
}

// dropAnswers drops the unchecked answers that came after the one that was taken.
func (u *turn) dropAnswers(ctx workflow.Context) {
	for u.answers.ReceiveAsync(nil) {
		u.noticeIgnoredResume(ctx)
	}
}

// noticeIgnoredResume adds a notice that an answer was dropped. Once the turn is being settled
// its log has the last number: a notice would take that of the terminal event.
func (u *turn) noticeIgnoredResume(ctx workflow.Context) {
	if u.settling {
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
	u.markStatus(ctx, "Ask the person: "+string(q.Prompt), acts.MarkInterrupted)
	u.hint(ctx)
}

// acceptAnswer closes the open question with an answer that fits it, and hands it to the turn.
// A cancel stops the turn instead.
func (u *turn) acceptAnswer(ctx workflow.Context, v chat.ResumeValue, by chat.Channel) {
	if v.Type == chat.CancelResume {
		u.stop(ctx, v.CancelReason(), by)
		return
	}
	u.closeQuestion(ctx, v, by)
	u.answers.SendAsync(answer{Value: v, Channel: by}) // the question is closed, so no other answer waits behind it
}

// closeQuestion closes the open question, and records by which channel its answer came.
func (u *turn) closeQuestion(ctx workflow.Context, v chat.ResumeValue, by chat.Channel) {
	u.log(ctx).Info("question answered", "interrupt", u.Pending.ID, "type", u.Pending.Type, "channel", by)
	u.append(ctx, chat.Entry{Type: chat.EventResumed, Answers: u.Pending.ID, Resume: &v, Channel: by})
	u.Pending = nil
	workflow.SetCurrentDetails(ctx, "Turn "+u.TurnID+": the person has answered")
}

// storeAnswer stores what a person wrote, if the API has not: the answer came by a
// signal, or while the database was unavailable. It returns the answer with a
// reference instead of the text, to keep texts out of the history.
func (u *turn) storeAnswer(ctx workflow.Context, q chat.Question, v chat.ResumeValue) chat.ResumeValue {
	if v.Ref != "" || !v.HasTexts(q) || u.Unsaved != nil {
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
