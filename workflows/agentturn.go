package workflows

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// Turn is a turn that an agent's code runs. Its methods, and Lookup, Call and StartModel,
// record their results. After a process has died, or when the thread continues in a new
// run, the agent's code runs again from its first line, and each of them returns what it
// returned before.
//
// So the code must do the same each time: no clock, no random numbers, no I/O, no
// goroutines, no iteration over a map, no state outside the function. It may decide only
// by what the methods have returned.
//
// When a method returns an error, the turn was stopped, has failed, or goes on in another
// run: return that error. Further calls do nothing and return the same error. The turn ends
// with that error, whatever the agent returns.
//
// Texts for people are constants of the agent's code: a status has at most 200
// characters, a notice or a question 1000, a label 200.
type Turn struct {
	// Outcome is what the agent says about its answer. It is stored with it.
	Outcome activities.Outcome

	ctx      workflow.Context
	turn     *turn
	begun    activities.BeginResult
	used     map[string]int // how often the name of a step was used
	asked    []activities.AskedQuestion
	docs     []string // beside those of Outcome
	answered bool
	err      error // the first one
}

// Choice is one option of Choose.
type Choice struct {
	ID    string // for the agent's code: at most 40 of a-z, 0-9, _ and -
	Label string // for the person
}

// Round is one model call and the tool calls that it asked for.
type Round struct {
	Answered  bool       `json:"answered,omitempty"` // the model asked for no tool: the answer is complete
	Calls     []ToolCall `json:"calls,omitempty"`
	Citations int        `json:"citations,omitempty"` // of the answer so far
}

// ToolCall is a tool call that has its result.
type ToolCall struct {
	Tool   string `json:"tool"`
	Failed bool   `json:"failed,omitempty"` // or rejected by the person
}

// ModelCall says how a round calls the model.
type ModelCall struct {
	// Activity is a func(context.Context, activities.TurnRef, activities.Stage, args…)
	// (activities.ModelResult, error).
	Activity any
	// Args follow the stage; nil: the agent's own questions with their answers.
	Args    []any
	Summary string // in Temporal's Web UI
	// Status is shown before the n-th call; "" shows none.
	Status func(n int) chat.Node
}

const (
	maxStatus  = 200
	maxMessage = 1000
	maxLabel   = 200
	maxOptions = 20
)

var stepNames = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// Version is the agent's version when the turn began.
func (t *Turn) Version() int { return t.begun.AgentVersion }

// Action is the action that the message asks for explicitly; empty when it does not.
func (t *Turn) Action() chat.Action { return t.begun.Action }

// Effort is how much work the answer may take.
func (t *Turn) Effort() chat.Effort { return t.turn.effort }

// NoWebSearch reports whether the person forbade searches of the web.
func (t *Turn) NoWebSearch() bool { return t.begun.NoWebSearch }

// MayImport reports whether the turn may have to do with imports: its message has links, or
// asks about imports, or imports of the conversation are open or have just ended.
func (t *Turn) MayImport() bool { return t.begun.Imports }

// AddDocuments adds documents to those that the conversation knows from now on, beside those of
// Outcome.
func (t *Turn) AddDocuments(ids ...string) { t.docs = append(t.docs, ids...) }

// Status shows people what the turn does now, until the next status.
func (t *Turn) Status(message string) error {
	if err := t.check("status", message, maxStatus); err != nil {
		return err
	}
	return t.Show(chat.Entry{Type: chat.EventStatus, Node: chat.NodeAgent, Text: message})
}

// Notice shows a text that stays in the conversation.
func (t *Turn) Notice(message string) error {
	if err := t.check("notice", message, maxMessage); err != nil {
		return err
	}
	return t.Show(chat.Entry{Type: chat.EventNotice, Code: chat.NoticeAgent, Text: message})
}

// ShowAnswer shows the answer that an activity has stored as the text of piece 1.
func (t *Turn) ShowAnswer() error {
	err := t.Show(chat.Entry{Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)})
	t.answered = err == nil
	return err
}

// End ends the turn without a further answer, with a notice of this code.
func (t *Turn) End(code string) error {
	err := t.Show(chat.Entry{Type: chat.EventNotice, Code: code})
	t.answered = err == nil
	return err
}

// Show adds entries to the turn's log, such as statuses and notices.
func (t *Turn) Show(entries ...chat.Entry) error {
	if len(entries) == 0 {
		return t.err
	}
	_, err := recordStep(t, "show", func() (bool, error) {
		t.turn.appendAll(t.ctx, entries)
		return true, nil
	})
	return err
}

// Check runs the agent's check of this name on what the person has written, and returns
// its result, one word. The check may run more than once, and each run may take 10 seconds.
// A check that fails is retried for a minute; then the turn fails.
func (t *Turn) Check(name string) (string, error) {
	if t.err == nil && t.turn.agent.Checks[name] == nil {
		t.err = fmt.Errorf("the agent %s has no check %q", t.turn.agent.Name, name)
	}
	return recordStep(t, "check "+name, func() (string, error) {
		return lookup[string](t.ctx, t.turn, "Check "+name, acts.Check, activities.CheckRequest{
			TurnRef: t.turn.TurnRef, Agent: t.turn.agent.Name, Name: name, Asked: t.asked,
		})
	})
}

// Ask asks the person a question and waits for the answer, without a time limit. Checks and
// the model read the answer, at most 32,000 characters; the agent's code never sees it. name
// identifies the question: at most 40 of a-z, 0-9, _ and -. A turn can ask the same question
// 25 times.
func (t *Turn) Ask(name, question string) error {
	_, err := t.askOwn(name, chat.Question{Type: chat.TextInput, Prompt: chat.PromptOwn, Text: question})
	return err
}

// Choose is Ask with 2 to 20 choices. It returns the id of the one that the person chose.
func (t *Turn) Choose(name, question string, choices ...Choice) (string, error) {
	q := chat.Question{Type: chat.Choice, Prompt: chat.PromptOwn, Text: question}
	for _, c := range choices {
		q.OptionIDs, q.Labels = append(q.OptionIDs, c.ID), append(q.Labels, c.Label)
	}
	return t.askOwn(name, q)
}

// askOwn asks a question whose text is the agent's. It returns the option that was chosen;
// "" for a question without options.
func (t *Turn) askOwn(name string, q chat.Question) (string, error) {
	if t.err == nil {
		t.err = checkQuestion(q)
	}
	answer, err := t.Question(name, q)
	if err != nil {
		return "", err
	}
	asked := activities.AskedQuestion{Question: q.Text, Value: answer}
	if q.Type == chat.Choice {
		asked.Label = q.OptionLabel(answer.Text(), "").Text
		asked.Value = chat.ResumeValue{Type: answer.Type}
	}
	t.asked = append(t.asked, asked)
	return answer.Text(), nil
}

// Question asks a question of the vocabulary, as Ask does, and returns the answer: an option,
// or a reference to the text that the person wrote.
func (t *Turn) Question(name string, q chat.Question) (chat.ResumeValue, error) {
	if t.err == nil && !stepNames.MatchString(name) {
		t.err = fmt.Errorf("the question's name %q is not allowed: use at most 40 of a-z, 0-9, _ and -", name)
	}
	step := t.step("ask " + name)
	if t.err == nil && t.used["ask "+name] > maxSameQuestion {
		t.err = temporal.NewNonRetryableApplicationError("too many questions", chat.CodeStepLimit, nil)
	}
	if t.err != nil {
		return chat.ResumeValue{}, t.err
	}
	answer, err := t.turn.ask(t.ctx, step, q)
	t.err = err
	return answer, err
}

// Round calls the model once, with the conversation and the tools that the agent may
// call, and streams what it writes. Then it makes the tool calls that the model asks for,
// after the person has approved those that need approval. The model reads what the person has
// written meanwhile (on_busy: steer). When the turn's steps, tokens or money are used up, one
// more round answers without tools, with a notice; a round after it fails. The thread may
// continue in a new run before a round.
func (t *Turn) Round() (Round, error) { return t.RoundBy(t.turn.agent.Model) }

// RoundBy is Round with a model call of the agent's choice.
func (t *Turn) RoundBy(m ModelCall) (Round, error) {
	r, err := recordStep(t, "round", func() (Round, error) {
		written, outcomes, answered, err := t.turn.runRound(t.ctx, t.loop(m))
		if err != nil {
			return Round{}, err
		}
		r := Round{Answered: answered, Citations: written.Citations}
		for _, o := range outcomes {
			r.Calls = append(r.Calls, ToolCall{Tool: o.Name, Failed: o.IsError})
		}
		return r, nil
	})
	t.answered = t.answered || r.Answered
	return r, err
}

// Answer runs rounds until the answer is complete.
func (t *Turn) Answer() error {
	_, err := t.AnswerBy(t.turn.agent.Model)
	return err
}

// AnswerBy is Answer with a model call of the agent's choice. It returns the last round.
func (t *Turn) AnswerBy(m ModelCall) (Round, error) {
	for {
		if r, err := t.RoundBy(m); err != nil || r.Answered {
			return r, err
		}
	}
}

func (t *Turn) loop(m ModelCall) toolLoop {
	args := m.Args
	if args == nil {
		args = []any{t.asked}
	}
	return toolLoop{
		status: m.Status,
		model: func(ctx workflow.Context, s activities.Stage) workflow.Future {
			return workflow.ExecuteActivity(t.turn.modelCall(ctx, m.Summary), m.Activity, append([]any{t.turn.nextActivityRef(), s}, args...)...)
		},
	}
}

// CallTool makes a tool call that the message itself asks for, not the model: no person is
// asked, so the tool must need no approval.
func (t *Turn) CallTool(c activities.RequestedCall) error {
	step := t.step("tool")
	if t.err == nil {
		_, t.err = t.turn.callRequested(t.ctx, step, c)
	}
	return t.err
}

// Lookup runs a short activity that reads or writes the database: first in the workflow task
// itself, and when that fails or takes longer than a second, as an activity of its own with
// retries for a minute. Arguments and result enter Temporal's history, so they have ids, enums,
// numbers and hashes, never a text. activity is the name of one of the agent's Activities, or
// a func(context.Context, activities.TurnRef, args…) (T, error) that the worker knows. summary
// is shown in Temporal's Web UI.
func Lookup[T any](t *Turn, summary string, activity any, args ...any) (T, error) {
	activity = t.named(activity)
	return recordStep(t, activityName(activity), func() (T, error) {
		result, err := lookup[T](t.ctx, t.turn, summary, activity, append([]any{t.turn.TurnRef}, args...)...)
		t.spend(result)
		return result, err
	})
}

// Call runs an activity that may take long. It ends when the turn is stopped or its deadline
// passes. Its arguments and result are as those of Lookup.
func Call[T any](t *Turn, summary string, activity any, args ...any) (T, error) {
	return start[T](t, summary, false, activity, args).Get()
}

// CallModel is Call for an activity that calls a model: it counts against the turn's limits
// of steps and tokens.
func CallModel[T any](t *Turn, summary string, activity any, args ...any) (T, error) {
	return StartModel[T](t, summary, activity, args...).Get()
}

// StartModel is CallModel without waiting for the result. Call Get of each activity that was
// started, before the next question or round.
func StartModel[T any](t *Turn, summary string, activity any, args ...any) *Pending[T] {
	return start[T](t, summary, true, activity, args)
}

// Pending is an activity that was started.
type Pending[T any] struct {
	turn   *Turn
	step   string
	future workflow.Future // nil: its result is recorded already
}

func start[T any](t *Turn, summary string, model bool, activity any, args []any) *Pending[T] {
	activity = t.named(activity)
	p := &Pending[T]{turn: t, step: t.step(activityName(activity))}
	if _, recorded := t.turn.Steps[p.step]; recorded || t.err != nil {
		return p
	}
	if model {
		if t.err = t.turn.mayCall(t.ctx); t.err != nil {
			return p
		}
	}
	ref := t.turn.nextActivityRef()
	if _, reports := any(*new(T)).(activities.Reporter); reports { // else followers would look for reports in vain
		ref.Step = p.step
		t.turn.reporting = append(t.turn.reporting, p.step)
	}
	p.future = workflow.ExecuteActivity(t.turn.modelCall(t.ctx, summary), activity, append([]any{ref}, args...)...)
	return p
}

// Get waits for the activity's result, or returns the recorded one.
func (p *Pending[T]) Get() (T, error) {
	return runStep(p.turn, p.step, func() (result T, err error) {
		err = p.turn.turn.await(p.turn.ctx, p.future, &result)
		p.turn.spend(result)
		if r, is := any(result).(activities.Reporter); is {
			p.turn.turn.logReports(p.turn.ctx, p.step, nil, r.Reported())
		}
		return result, err
	})
}

// spend counts what an activity has used of models and searches.
func (t *Turn) spend(result any) {
	if v := reflect.ValueOf(result); v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	if r, ok := result.(activities.Spender); ok {
		t.turn.Usage = t.turn.Usage.Add(r.Spent())
	}
}

// named returns the full name of one of the agent's Activities; other activities stay.
func (t *Turn) named(activity any) any {
	if name, is := activity.(string); is {
		return t.turn.agent.activityName(name)
	}
	return activity
}

// activityName returns the name under which Temporal knows an activity: that of its function.
func activityName(activity any) string {
	if name, is := activity.(string); is {
		return name
	}
	name := runtime.FuncForPC(reflect.ValueOf(activity).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}

// step returns the name of the agent's next step of this kind. It differs from the agent's
// other steps.
func (t *Turn) step(kind string) string {
	t.used[kind]++
	return stepName(stepAgent+kind, t.used[kind])
}

// recordStep runs the agent's next step of this kind, or returns its recorded result.
func recordStep[T any](t *Turn, kind string, run func() (T, error)) (T, error) {
	return runStep(t, t.step(kind), run)
}

// runStep runs a step, or returns its recorded result. After an error no step runs any more.
func runStep[T any](t *Turn, step string, run func() (T, error)) (result T, err error) {
	if t.err != nil {
		return result, t.err
	}
	result, t.err = once(t.turn, step, run)
	return result, t.err
}

func (t *Turn) check(what, text string, most int) error {
	if t.err == nil {
		t.err = checkText(what, text, most)
	}
	return t.err
}

func checkText(what, text string, most int) error {
	if n := utf8.RuneCountInString(text); n == 0 || n > most {
		return fmt.Errorf("a %s has 1 to %d characters, and this one has %d", what, most, n)
	}
	return nil
}

func checkQuestion(q chat.Question) error {
	if err := checkText("question", q.Text, maxMessage); err != nil || q.Type != chat.Choice {
		return err
	}
	if n := len(q.OptionIDs); n < 2 || n > maxOptions {
		return fmt.Errorf("a choice has 2 to %d options, and this one has %d", maxOptions, n)
	}
	for i, id := range q.OptionIDs {
		if !stepNames.MatchString(id) || slices.Contains(q.OptionIDs[:i], id) {
			return errors.New("each option needs an id of its own, of at most 40 of a-z, 0-9, _ and -")
		}
		if err := checkText("label", q.Labels[i], maxLabel); err != nil {
			return err
		}
	}
	return nil
}
