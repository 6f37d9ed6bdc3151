package workflows

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// Agent declares an agent: what clients see of it, and how it answers a turn.
type Agent struct {
	chat.AgentInfo
	// Answer decides what happens in a turn. It is workflow code, so it must replay; see Turn.
	// nil: Turn.Answer.
	Answer func(*Turn) error
	// Model makes the model calls of Turn.Round and Turn.Answer.
	Model ModelCall
	// Activities are those that an agent of another program runs by name: functions of a
	// context, an activities.TurnRef and any arguments that return a result and an error.
	Activities map[string]any
}

// Register registers the agent's Activities.
func (a Agent) Register(r worker.ActivityRegistry) {
	for name, run := range a.Activities {
		r.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: a.activityName(name)})
	}
}

// activityName is the name under which Temporal knows one of the agent's Activities.
func (a Agent) activityName(name string) string { return string(a.Name) + "." + name }

// Validate returns an error that says why the agent cannot be used, or nil.
func (a Agent) Validate() error {
	for name, run := range a.Activities {
		if !stepNames.MatchString(name) || !isActivity(run) {
			return fmt.Errorf("the activity %q needs a name of at most 40 of a-z, 0-9, _ and -, and a func(context.Context, TurnRef, args…) (result, error)", name)
		}
	}
	return a.AgentInfo.Validate()
}

func isActivity(run any) bool {
	if run == nil || reflect.TypeOf(run).Kind() != reflect.Func {
		return false
	}
	f := reflect.TypeOf(run)
	return f.NumIn() >= 2 && f.In(0) == reflect.TypeFor[context.Context]() && f.In(1) == reflect.TypeFor[activities.TurnRef]() &&
		f.NumOut() == 2 && f.Out(1) == reflect.TypeFor[error]()
}

// AgentInfos returns what clients, the page and activities know about agents.
func AgentInfos(agents []Agent) chat.Agents {
	infos := make(chat.Agents, len(agents))
	for i, a := range agents {
		infos[i] = a.AgentInfo
	}
	return infos
}

// runAgent runs the agent that the message asked for, after the preparation that all agents
// share. Remembered approvals are kept, however the turn ends.
func (u *turn) runAgent(ctx workflow.Context, begun activities.BeginResult) (activities.Ending, error) {
	u.approved = append(slices.Clone(begun.Approved), u.Remembered...)
	u.noticeNoImages(ctx, begun.NoImages)
	u.agent = u.thread.agentNamed(begun.Agent)
	u.effort, u.steerable = cmp.Or(begun.Effort, u.thread.Effort, chat.Quick), begun.Rounds
	if begun.AgentVersion > u.agent.Version {
		panic(fmt.Sprintf("the turn began with version %d of the agent %s, and this build has version %d: run the newer release", begun.AgentVersion, u.agent.Name, u.agent.Version))
	}
	t := &Turn{ctx: ctx, turn: u, begun: begun, used: map[string]int{}}
	done, err := t.prepare()
	if err == nil && !done {
		err = t.answer()
	}
	ending := activities.Ending{Outcome: t.Outcome, Approvals: u.Remembered}
	ending.DocIDs = append(t.docs, ending.DocIDs...)
	return ending, err
}

// prepare runs Threads.Prepare, such as the import of the links of a message. done: the turn
// is answered.
func (t *Turn) prepare() (done bool, err error) {
	if t.turn.thread.prepare == nil {
		return false, nil
	}
	return t.turn.thread.prepare(t)
}

// answer runs the agent's code. An agent that returns without an answer gets rounds until
// there is one. The first error of a method is the turn's, whatever the agent returns.
func (t *Turn) answer() error {
	var err error
	if answer := t.turn.agent.Answer; answer != nil {
		err = answer(t)
	}
	switch {
	case t.err != nil:
		return t.err
	case err == nil && !t.answered:
		return t.Answer()
	}
	return err
}

// agentNamed returns the agent of that name. The first agent also runs turns whose agent no
// longer exists.
func (t *thread) agentNamed(name chat.Agent) Agent {
	i := slices.IndexFunc(t.agents, func(a Agent) bool { return a.Name == name })
	return t.agents[max(i, 0)]
}
