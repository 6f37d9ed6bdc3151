// Package clerk is a custom agent for tests. Recorded histories replay it, as they must
// replay the agents of other programs. So its code must not change, and the methods that it
// calls must keep their commands.
package clerk

import (
	"context"
	"errors"
	"strings"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/agents"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/workflows"
)

// Agent uses every method of a turn.
var Agent = palaver.Agent{
	Name: "clerk", Label: "Clerk", Tools: palaver.OnlyTools("list_documents"),
	Checks: map[string]palaver.Check{"name": func(_ context.Context, said palaver.Said) (string, error) {
		if strings.Contains(strings.Join(said.Answers, " "), "plantedname") {
			return "known", nil
		}
		return "missing", nil
	}},
	Activities: map[string]any{
		"count": func(_ context.Context, _ palaver.TurnRef, from int) (int, error) { return from + 1, nil },
	},
	Answer: func(t *palaver.Turn) error {
		known, err := palaver.Lookup[int](t, "Count", "count", 1)
		if err != nil {
			return err
		}
		if known, err = palaver.RunActivity[int](t, "Count on", "count", known); err != nil || known != 3 {
			return errors.Join(err, t.Notice("The count is wrong."))
		}
		for {
			name, err := t.Check("name")
			if err != nil {
				return err
			}
			if name == "known" {
				break
			}
			if err := t.Ask("name", "What is your name?"); err != nil {
				return err
			}
		}
		how, err := t.Choose("how", "How do you want it?", palaver.Choice{ID: "short", Label: "In short"}, palaver.Choice{ID: "long", Label: "At length"})
		if err != nil {
			return err
		}
		if how == "short" {
			if err := t.Notice("It will be short."); err != nil {
				return err
			}
		}
		if err := t.Status("Looking it up..."); err != nil {
			return err
		}
		for {
			if r, err := t.Round(); err != nil || r.Answered {
				return err
			}
		}
	},
}

// Agents returns the agents of a program that has the clerk.
func Agents() ([]workflows.Agent, error) {
	additions, err := service.Collect([]palaver.Option{palaver.WithAgent(Agent)})
	return append(agents.BuiltIn(), additions.Agents...), err
}
