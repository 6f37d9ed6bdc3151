package activities

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// checkResult matches what a check may return: it enters Temporal's history, so it is one
// word, not a text.
var checkResult = regexp.MustCompile(`^[a-zA-Z0-9_.-]{0,64}$`)

// Check runs one of an agent's checks on what the person has written.
func (a *Activities) Check(ctx context.Context, r CheckRequest) (string, error) {
	word, err := a.check(ctx, r)
	if err != nil {
		return "", a.Fail(ctx, r.TurnRef, "check "+r.Name, err)
	}
	return word, nil
}

func (a *Activities) check(ctx context.Context, r CheckRequest) (string, error) {
	agent, _ := a.Agents.Find(r.Agent)
	check := agent.Checks[r.Name]
	if check == nil {
		return "", fmt.Errorf("the agent %s has no check %s", r.Agent, r.Name)
	}
	turn, err := a.LoadOrUnsaved(ctx, &r.TurnRef)
	if err != nil {
		return "", err
	}
	said := chat.Said{Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.TurnID, Message: turn.Content.Message}
	if said.Answers, err = a.answers(ctx, r.TurnRef, r.Asked); err != nil {
		return "", err
	}
	recent, err := a.Store.Recent(ctx, r.Owner, r.ThreadID, r.Parent, earlierMessages)
	if err != nil {
		return "", err
	}
	for _, m := range recent {
		if m.Role == string(llm.User) {
			said.Earlier = append(said.Earlier, m.Content)
		}
	}
	word, err := check(ctx, said)
	if err == nil && !checkResult.MatchString(word) {
		return "", errors.New("a check returns at most 64 letters, digits, _, . and -, and this one did not")
	}
	return word, err
}

// answers returns the person's answers to an agent's own questions.
func (a *Activities) answers(ctx context.Context, ref TurnRef, asked []AskedQuestion) ([]string, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	texts, err := a.Store.Texts(ctx, ref.Owner, ref.TurnID)
	if err != nil {
		return nil, err
	}
	return AnswersOf(texts, asked), nil
}

// AnswersOf is answers for a caller that has read the turn's texts.
func AnswersOf(texts map[string]string, asked []AskedQuestion) []string {
	var answers []string
	for _, q := range asked {
		if q.Label != "" {
			answers = append(answers, q.Label)
		} else {
			answers = append(answers, q.Value.Whole(texts).Text())
		}
	}
	return answers
}

func QuestionsOf(asked []AskedQuestion) []string {
	questions := make([]string, len(asked))
	for i, q := range asked {
		questions[i] = q.Question
	}
	return questions
}
