package workflows

import (
	"cmp"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// normalRounds is the number of model calls in which a turn of normal effort finds its answer.
const normalRounds = 6

// firstCalls is the number of model calls that a turn may make in any case before it answers: those
// that understand the message, find its documents and plan the steps.
const firstCalls = 4

// mayCall checks the turn's limits before a model call that is no round, and counts the call. Its
// error ends the turn with the code of the limit; the partial answer is kept.
func (u *turn) mayCall(ctx workflow.Context) error {
	if err := u.mayWork(ctx); err != nil {
		return err
	}
	if code, _ := u.usedUp(0); code != "" && u.Calls >= firstCalls {
		return limitReached(code)
	}
	u.Calls++
	return nil
}

// mayAnswer checks the turn's limits before the model call of the n-th round, counts the call,
// and tells the model what is left. When a limit is reached, the model has to answer with what it
// has found, and a notice says so. That happens once; then the turn ends with the code of the
// limit.
func (u *turn) mayAnswer(ctx workflow.Context, n int, stage *activities.Stage) error {
	if err := u.mayWork(ctx); err != nil {
		return err
	}
	ahead := 0
	if n > 1 { // the last of the steps is the one that answers
		ahead = 1
	}
	code, notice := u.usedUp(ahead)
	if code != "" && u.Overdrawn {
		return limitReached(code)
	}
	if u.effort != chat.Quick {
		stage.Effort, stage.Left = u.effort, u.left(n)
	}
	stage.Last = code != "" || u.effort == chat.Normal && n >= normalRounds
	if code != "" {
		u.Overdrawn = true
		u.notice(ctx, notice)
	}
	u.Calls++
	return nil
}

// answeredAlready returns an error when the turn has answered because a limit was reached, and its
// agent asks for a further round.
func (u *turn) answeredAlready(n int) error {
	if _, answered := u.Steps[stepName(stepWrite, n)]; answered && u.Overdrawn {
		code, _ := u.usedUp(1)
		return limitReached(cmp.Or(code, chat.CodeStepLimit)) // the settings may have changed
	}
	return nil
}

// mayWork returns an error when the turn was stopped, or its deadline has passed.
func (u *turn) mayWork(ctx workflow.Context) error {
	switch {
	case u.Stopped != "":
		return errStopped
	case u.timeLeft(ctx) <= 0:
		return limitReached(chat.CodeDeadline)
	}
	return nil
}

// usedUp returns the code and the notice of the limit that is reached when as many more model
// calls are made as ahead says; "" when none is.
func (u *turn) usedUp(ahead int) (code, notice string) {
	switch bounds := u.thread.ThreadInput; {
	case bounds.MaxSteps > 0 && u.Calls+ahead >= bounds.MaxSteps:
		return chat.CodeStepLimit, chat.NoticeStepsUsed
	case bounds.MaxTokens > 0 && u.Usage.Tokens() >= bounds.MaxTokens:
		return chat.CodeTokenLimit, chat.NoticeTokensUsed
	case bounds.MaxCostUSD > 0 && u.Usage.CostUSD >= bounds.MaxCostUSD:
		return chat.CodeTokenLimit, chat.NoticeCostUsed
	}
	return "", ""
}

// left is what the limits leave before the n-th round.
func (u *turn) left(n int) *activities.LimitsLeft {
	bounds, l := u.thread.ThreadInput, &activities.LimitsLeft{}
	if bounds.MaxSteps > 0 {
		l.Steps = max(1, bounds.MaxSteps-u.Calls)
	}
	if own := normalRounds - n + 1; u.effort == chat.Normal && (l.Steps == 0 || own < l.Steps) {
		l.Steps = max(1, own)
	}
	if bounds.MaxTokens > 0 {
		l.Tokens = max(1, bounds.MaxTokens-u.Usage.Tokens())
	}
	if bounds.MaxCostUSD > 0 {
		l.CostUSD = max(0, bounds.MaxCostUSD-u.Usage.CostUSD)
	}
	return l
}

func limitReached(code string) error {
	return temporal.NewNonRetryableApplicationError("the turn has reached a limit", code, nil)
}
