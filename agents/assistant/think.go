package assistant

import (
	"context"
	"slices"
	"strings"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	own "github.com/palaver-chat/palaver/agents/assistant/prompt"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/documents/cite"
	"github.com/palaver-chat/palaver/llm"
)

const temperature = 0.4

// Activities has the assistant's activity. It is safe for concurrent use.
type Activities struct{ *activities.Kit }

// acts names activities; it is never called.
var acts *Activities

// Register registers the activity under the name of its method.
func (a *Activities) Register(r worker.ActivityRegistry) { r.RegisterActivity(a.Think) }

// Think makes one model call of the assistant, or of an agent like it. asked are the agent's
// own questions so far.
func (a *Activities) Think(ctx context.Context, ref activities.TurnRef, stage activities.Stage, asked []activities.AskedQuestion) (activities.ModelResult, error) {
	return a.Converse(ctx, ref, stage, "think", func(ctx context.Context, c *activities.Conversation) (llm.Request, *cite.Filter, error) {
		agent, _ := a.Agents.Find(c.Turn.Content.Agent)
		answers := activities.AnswersOf(c.Texts, asked)
		system := own.Assistant(agent.Instructions, c.Earlier.Summary, a.Time())
		if guidance := stage.Guidance(c.Texts); guidance != "" {
			system.Text += "\n\n" + guidance
		}
		messages := slices.Concat([]llm.Message{system}, c.Before,
			[]llm.Message{c.Asks}, prompt.Asked(activities.QuestionsOf(asked), answers), c.Exchange.Messages)
		var library []llm.Document
		if a.Model.Info().Offline {
			var err error
			if library, err = prompt.Library(ctx, a.Store, ref.Owner); err != nil {
				return llm.Request{}, nil, err
			}
		}
		request := llm.Request{
			Task:     llm.TaskAssistant,
			Messages: llm.Fit(messages, activities.PromptTokens),
			Facts: llm.Facts{
				Message: strings.Join(append([]string{c.Tagged.TextWithout(c.Turn.Content.Message)}, answers...), "\n"),
				Recent:  prompt.Recent(c.Earlier.Messages), Documents: prompt.Known(c.Tagged.Docs), Explicit: c.Tagged.IDs(), Library: library, Now: a.Time(),
				Passages: c.Exchange.Passages, Used: c.Exchange.Used, Images: len(c.Turn.Content.Attachments),
			},
			Temperature: temperature,
			MaxTokens:   prompt.MaxAnswerTokens,
		}
		return request, cite.New(c.Exchange.Sources, c.Turn.Content.Message).AllowUncited().CheckFigures(c.Exchange.Computed()...).CheckDocuments(a.DocumentTexts(ctx, ref, c.Exchange.Sources)).Continue(c.Exchange.Citations), nil
	})
}
