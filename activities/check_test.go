package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
)

const customAgent = chat.Agent("lamps")

// withCustomAgent adds an agent with one check and instructions.
func withCustomAgent(b *bundle, check chat.Check) {
	b.Kit.Agents = append(b.Kit.Agents, chat.AgentInfo{
		Name: customAgent, Version: 3, Instructions: "You sell lamps.", Checks: map[string]chat.Check{"order": check},
	})
}

func TestCheckReadsWhatThePersonHasWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var said chat.Said
	withCustomAgent(b, func(_ context.Context, s chat.Said) (string, error) { said = s; return "known", nil })
	b.Exchange("Where is A-1?", "On its way.")
	ref := b.Begin(chat.Content{Message: "And A-2?", Agent: customAgent})
	b.Put(ref, "answer:1", `{"type":"text_input","value":"the blue one"}`)
	word := must[string](b, b.Check, activities.CheckRequest{TurnRef: ref, Agent: customAgent, Name: "order", Asked: []activities.AskedQuestion{
		{Question: "Which?", Value: chat.ResumeValue{Type: chat.TextInput, Ref: "answer:1"}}, {Question: "When?", Label: "Today"},
	}})
	require.Equal(t, "known", word)
	require.Equal(t, chat.Said{Owner: owner, ThreadID: ref.ThreadID, TurnID: ref.TurnID, Message: "And A-2?",
		Answers: []string{"the blue one", "Today"}, Earlier: []string{"Where is A-1?"}}, said)
}

func TestCheckFailsOnAnErrorAndOnATextInsteadOfAWord(t *testing.T) {
	for name, check := range map[string]chat.Check{
		"an error":    func(context.Context, chat.Said) (string, error) { return "", errors.New("the shop is closed") },
		"a text":      func(_ context.Context, s chat.Said) (string, error) { return s.Message, nil },
		"a long word": func(context.Context, chat.Said) (string, error) { return strings.Repeat("x", 65), nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			withCustomAgent(b, check)
			ref := b.Begin(chat.Content{Message: "My lamp is broken", Agent: customAgent})
			_, err := run[string](b, b.Check, activities.CheckRequest{TurnRef: ref, Agent: customAgent, Name: "order"})
			require.ErrorContains(t, err, "internal: check order")
			require.NotContains(t, err.Error(), "lamp", "no text of a person enters the history")
		})
	}
}

func TestBeginTurnRecordsTheAgentsVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withCustomAgent(b, nil)
	ref := b.Insert(chat.Content{Message: "Hello", Agent: customAgent})
	require.Equal(t, 3, must[activities.BeginResult](b, b.BeginTurn, ref).AgentVersion)
}
