package workflows

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

// Turn is a turn that the code of a custom agent runs. Its methods record their results.
// After a process has died, or when the thread continues in a new run, the agent's code
// runs again from its first line, and each method returns what it returned before.
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
	ctx      workflow.Context
	turn     *turn
	version  int
	used     map[string]int // how often the name of a step was used
	asked    []activities.Asked
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
	Answered bool     `json:"answered,omitempty"` // the model asked for no tool: the answer is complete
	Calls    []Called `json:"calls,omitempty"`
}

// Called is a tool call that has its result.
type Called struct {
	Tool   string `json:"tool"`
	Failed bool   `json:"failed,omitempty"` // or rejected by the person
}

const (
	maxStatus  = 200
	maxMessage = 1000
	maxLabel   = 200
	maxOptions = 20
)

var ownName = regexp.MustCompile(`^[a-z0-9_-]{1,40}$`)

// answerByOwn runs the code of a custom agent. An agent that returns without an
// answer gets the assistant's loop.
func answerByOwn(ctx workflow.Context, u *turn, begun activities.Begun, answer func(*Turn) error) error {
	if begun.AgentVersion > u.agent.Version {
		panic(fmt.Sprintf("the turn began with version %d of the agent %s, and this build has version %d: run the newer release", begun.AgentVersion, u.agent.Name, u.agent.Version))
	}
	t := &Turn{ctx: ctx, turn: u, version: begun.AgentVersion, used: map[string]int{}}
	var err error
	if answer != nil {
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

// Version is the agent's version when the turn began.
func (t *Turn) Version() int { return t.version }

// Status shows people what the turn does now, until the next status.
func (t *Turn) Status(message string) error {
	return t.say("status", message, maxStatus, chat.Entry{Type: chat.EventStatus, Node: chat.NodeAgent, Text: message})
}

// Notice shows a text that stays in the conversation.
func (t *Turn) Notice(message string) error {
	return t.say("notice", message, maxMessage, chat.Entry{Type: chat.EventNotice, Code: chat.NoticeAgent, Text: message})
}

func (t *Turn) say(kind, message string, most int, e chat.Entry) error {
	_, err := ownStep(t, kind, "", func(step string) (bool, error) {
		return once(t.turn, step, func() (bool, error) {
			if err := checkText(kind, message, most); err != nil {
				return false, err
			}
			t.turn.append(t.ctx, e)
			return true, nil
		})
	})
	return err
}

// Check runs the agent's check of this name on what the person has written, and returns
// its result, one word. The check may run more than once, and each run may take 10 seconds.
// A check that fails is retried for a minute; then the turn fails.
func (t *Turn) Check(name string) (string, error) {
	return ownStep(t, "check", name, func(step string) (string, error) {
		return once(t.turn, step, func() (string, error) {
			if t.turn.agent.Checks[name] == nil {
				return "", fmt.Errorf("the agent %s has no check %q", t.turn.agent.Name, name)
			}
			return lookup[string](t.ctx, t.turn, "Check "+name, acts.Check, activities.CheckRequest{
				TurnRef: t.turn.TurnRef, Agent: t.turn.agent.Name, Name: name, Asked: t.asked,
			})
		})
	})
}

// Ask asks the person a question and waits for the answer, without a time limit. Checks and
// the model read the answer, at most 32,000 characters; the agent's code never sees it. name
// identifies the question: at most 40 of a-z, 0-9, _ and -. A turn can ask the same question
// 25 times.
func (t *Turn) Ask(name, question string) error {
	_, err := t.ask(name, chat.Question{Type: chat.TextInput, Prompt: chat.PromptOwn, Text: question})
	return err
}

// Choose is Ask with 2 to 20 choices. It returns the id of the one that the person chose.
func (t *Turn) Choose(name, question string, choices ...Choice) (string, error) {
	q := chat.Question{Type: chat.Choice, Prompt: chat.PromptOwn, Text: question}
	for _, c := range choices {
		q.OptionIDs, q.Labels = append(q.OptionIDs, c.ID), append(q.Labels, c.Label)
	}
	return t.ask(name, q)
}

// ask returns the option that was chosen; "" for a question without options.
func (t *Turn) ask(name string, q chat.Question) (string, error) {
	answer, err := ownStep(t, "ask", name, func(step string) (chat.ResumeValue, error) {
		if err := checkQuestion(q); err != nil {
			return chat.ResumeValue{}, err
		}
		if t.used[stepOwn+"ask "+name] > maxSameQuestion {
			return chat.ResumeValue{}, temporal.NewNonRetryableApplicationError("too many questions", chat.CodeStepLimit, nil)
		}
		return t.turn.ask(t.ctx, step, q)
	})
	if err != nil {
		return "", err
	}
	asked := activities.Asked{Question: q.Text, Value: answer}
	if q.Type == chat.Choice {
		asked.Label = q.OptionLabel(answer.Text(), "").Text
		asked.Value = chat.ResumeValue{Type: answer.Type}
	}
	t.asked = append(t.asked, asked)
	return answer.Text(), nil
}

// Round calls the model once, with the conversation and the tools that the agent may
// call, and streams what it writes. Then it makes the tool calls that the model asks for,
// after the person has approved those that need approval. Like every model call, it is
// bounded by the turn's deadline, steps and tokens.
func (t *Turn) Round() (Round, error) {
	r, err := ownStep(t, "round", "", func(step string) (Round, error) {
		return once(t.turn, step, t.runRound)
	})
	t.answered = t.answered || r.Answered
	return r, err
}

func (t *Turn) runRound() (Round, error) {
	said, made, err := t.turn.runRound(t.ctx, t.turn.thinking(t.asked))
	if err != nil {
		return Round{}, err
	}
	r := Round{Answered: len(said.Calls) == 0}
	for _, m := range made {
		r.Calls = append(r.Calls, Called{Tool: m.Name, Failed: m.IsError})
	}
	return r, nil
}

// Answer runs the assistant's loop: rounds until the answer is complete.
func (t *Turn) Answer() error {
	if t.err == nil {
		_, t.err = t.turn.runToolLoop(t.ctx, t.turn.thinking(t.asked))
		t.answered = t.err == nil
	}
	return t.err
}

// ownStep runs a step of a custom agent, under a name that differs from the agent's
// other steps. After an error no step runs any more.
func ownStep[T any](t *Turn, kind, name string, run func(step string) (T, error)) (result T, err error) {
	if t.err != nil {
		return result, t.err
	}
	key := stepOwn + kind
	if kind == "check" || kind == "ask" {
		if !ownName.MatchString(name) {
			t.err = fmt.Errorf("%s: the name %q is not allowed: use at most 40 of a-z, 0-9, _ and -", kind, name)
			return result, t.err
		}
		key += " " + name
	}
	t.used[key]++
	step := stepName(key, t.used[key])
	result, t.err = run(step)
	return result, t.err
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
		if !ownName.MatchString(id) || slices.Contains(q.OptionIDs[:i], id) {
			return errors.New("each option needs an id of its own, of at most 40 of a-z, 0-9, _ and -")
		}
		if err := checkText("label", q.Labels[i], maxLabel); err != nil {
			return err
		}
	}
	return nil
}
