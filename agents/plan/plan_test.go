package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestPlanIsStoredAsNumberedSteps(t *testing.T) {
	f := activitytest.New(t)
	a := &Activities{Kit: f.Kit}
	f.Add(a)
	ref := f.Begin(chat.Content{Message: "How did margins change?", Agent: chat.AgentAssistant})
	f.Model.Answers = []any{map[string]any{"steps": []string{"Find the\nstatements", " ", "Compare"}}}
	got := activitytest.Must[PlanResult](f, a.Plan, ref)
	require.Equal(t, 2, got.Steps)
	require.Equal(t, "1. Find the statements\n2. Compare", f.Texts(ref)[chat.TextPlan])
	require.True(t, strings.HasPrefix(f.Model.Last().Messages[0].Text, "You are about to answer"))
}

func TestThereIsNoPlanWithoutAModelOrWhenItsAnswerCannotBeRead(t *testing.T) {
	f := activitytest.New(t)
	a := &Activities{Kit: f.Kit}
	f.Add(a)
	ref := f.Begin(chat.Content{Message: "How did margins change?", Agent: chat.AgentAssistant})
	f.Model.Answers = []any{llm.ErrUnparseable}
	require.Zero(t, activitytest.Must[PlanResult](f, a.Plan, ref).Steps)
	f.Model.Offline = true
	require.Equal(t, PlanResult{}, activitytest.Must[PlanResult](f, a.Plan, ref))
	require.NotContains(t, f.Texts(ref), chat.TextPlan)
}
