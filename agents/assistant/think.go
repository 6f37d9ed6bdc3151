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
func (a *Activities) Think(ctx context.Context, ref activities.TurnRef, stage activities.Stage, asked []activities.Asked) (activities.Written, error) {
	return a.Converse(ctx, ref, stage, "think", func(_ context.Context, c activities.Conversation) (llm.Request, *cite.Filter, error) {
		agent, _ := a.Agents.Find(c.Turn.Content.Agent)
		answers := activities.AnswersOf(c.Texts, asked)
		messages := slices.Concat([]llm.Message{own.Assistant(agent.Instructions, c.Earlier.Summary, a.Time())}, c.Before,
			[]llm.Message{c.Asks}, prompt.Asked(activities.QuestionsOf(asked), answers), c.Exchange.Messages)
		request := llm.Request{
			Task:     llm.TaskAssistant,
			Messages: llm.Fit(messages, activities.PromptTokens),
			Facts: llm.Facts{
				Message: strings.Join(append([]string{c.Tagged.TextWithout(c.Turn.Content.Message)}, answers...), "\n"),
				Recent:  prompt.Recent(c.Earlier.Messages), Documents: prompt.Known(c.Tagged.Docs), Explicit: c.Tagged.IDs(),
				Passages: c.Exchange.Passages, Used: c.Exchange.Used, Images: len(c.Turn.Content.Attachments),
			},
			Temperature: temperature,
			MaxTokens:   prompt.MaxAnswerTokens,
		}
		return request, cite.New(c.Exchange.Sources, c.Turn.Content.Message).AllowUncited().Continue(c.Exchange.Citations), nil
	})
}
