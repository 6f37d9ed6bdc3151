// Package plan lets a model say how it is going to find an answer before it begins. All agents
// whose turns can be thorough use it.
package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/workflows"
)

// Show lets the model plan a thorough turn, and shows the plan. Other turns have none.
func Show(t *workflows.Turn) error {
	if t.Effort() != chat.Thorough {
		return nil
	}
	planned, err := workflows.CallModel[PlanResult](t, "Plan the steps", acts.Plan)
	if err != nil || planned.Steps == 0 {
		return err
	}
	return t.Show(chat.Entry{Type: chat.EventNotice, Code: chat.NoticePlan, Ref: chat.TextPlan})
}

// PlanResult is the result of Plan; the steps are text "plan".
type PlanResult struct {
	Steps int        `json:"steps"` // 0: there is no plan
	Usage chat.Usage `json:"usage"`
}

// Spent is the usage of the model call.
func (p PlanResult) Spent() chat.Usage { return p.Usage }

// Activities are safe for concurrent use.
type Activities struct{ *activities.Kit }

// acts names activities; it is never called.
var acts *Activities

// Register registers the activity under the name of its method.
func (a *Activities) Register(r worker.ActivityRegistry) { r.RegisterActivity(a.Plan) }

//go:embed plan.md
var instructions string

const (
	maxSteps   = 6
	maxStep    = 300 // characters
	maxEarlier = 6   // messages
)

var schema = llm.Schema{
	Name:        "plan",
	Description: "The steps by which the answer will be found.",
	JSON:        json.RawMessage(`{"type":"object","additionalProperties":false,"required":["steps"],"properties":{"steps":{"type":"array","items":{"type":"string"}}}}`),
}

// Plan has a model plan how to find the answer, and stores the steps as a text of the turn. Without
// a model, or when its answer cannot be parsed, there is no plan.
func (a *Activities) Plan(ctx context.Context, ref activities.TurnRef) (PlanResult, error) {
	if a.Model.Info().Offline {
		return PlanResult{}, nil
	}
	ctx, w := a.Watch(ctx, ref.TurnID)
	defer w.End()
	planned, err := a.plan(ctx, ref)
	return planned, a.EndError(w, ctx, ref, "plan", err)
}

func (a *Activities) plan(ctx context.Context, ref activities.TurnRef) (PlanResult, error) {
	t, err := a.Turn(ctx, ref)
	if err != nil {
		return PlanResult{}, err
	}
	recent, err := a.Recent(ctx, ref, maxEarlier)
	if err != nil {
		return PlanResult{}, err
	}
	tagged, err := a.ReadTags(ctx, ref, t.Content.TipTap, t.Content.TaggedDocs, t.Content.TaggedSets)
	if err != nil {
		return PlanResult{}, err
	}
	var out struct {
		Steps []string `json:"steps"`
	}
	usage, err := a.Model.Structured(ctx, llm.Request{
		Task:     llm.TaskInquire,
		Messages: prompt.Conversation(strings.TrimSpace(instructions), prompt.Recent(recent), t.Content.Message+prompt.TaggedNote(tagged.Docs)),
		Facts:    llm.Facts{Message: t.Content.Message},
	}, schema, &out)
	if err != nil && !errors.Is(err, llm.ErrUnparseable) {
		return PlanResult{Usage: usage}, err
	}
	steps := numbered(out.Steps)
	if len(steps) == 0 {
		return PlanResult{Usage: usage}, nil
	}
	return PlanResult{len(steps), usage}, a.PutTexts(ctx, ref, db.Text{Key: chat.TextPlan, Text: strings.Join(steps, "\n")})
}

// numbered returns the steps as lines with numbers.
func numbered(steps []string) (lines []string) {
	for _, s := range steps {
		if s = language.Truncate(chat.OneLine(s), maxStep); s != "" && len(lines) < maxSteps {
			lines = append(lines, fmt.Sprintf("%d. %s", len(lines)+1, s))
		}
	}
	return lines
}
