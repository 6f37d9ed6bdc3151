package activities

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

const ownAgent = chat.Agent("own")

// withOwnAgent adds an agent with one check and instructions of its own.
func withOwnAgent(b *testBundle, check chat.Check) {
	b.Activities.Agents = append(b.Activities.Agents, chat.AgentInfo{
		Name: ownAgent, Version: 3, Instructions: "You sell lamps.", Checks: map[string]chat.Check{"order": check},
	})
}

func TestCheckReadsWhatThePersonHasWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var said chat.Said
	withOwnAgent(b, func(_ context.Context, s chat.Said) (string, error) { said = s; return "known", nil })
	b.exchange("Where is A-1?", "On its way.")
	ref := b.begin(chat.Content{Message: "And A-2?", Agent: ownAgent})
	b.put(ref, "answer:1", `{"type":"text_input","value":"the blue one"}`)
	word := must[string](b, b.Activities.Check, CheckRequest{TurnRef: ref, Agent: ownAgent, Name: "order", Asked: []Asked{
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
			withOwnAgent(b, check)
			ref := b.begin(chat.Content{Message: "My lamp is broken", Agent: ownAgent})
			_, err := run[string](b, b.Activities.Check, CheckRequest{TurnRef: ref, Agent: ownAgent, Name: "order"})
			require.ErrorContains(t, err, "internal: check order")
			require.NotContains(t, err.Error(), "lamp", "no text of a person enters the history")
		})
	}
}

func TestThinkTellsAnOwnAgentsModelItsInstructionsQuestionsAndAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withOwnAgent(b, nil)
	ref := b.begin(chat.Content{Message: "My lamp is broken", Agent: ownAgent})
	b.put(ref, "answer:1", `{"type":"text_input","value":"A-1"}`)
	b.model.stream = streamText("A new one comes.")
	must[Written](b, b.Think, ThinkRequest{TurnRef: ref, Stage: Stage{Piece: 1}, Asked: []Asked{
		{Question: "Which order?", Value: chat.ResumeValue{Type: chat.TextInput, Ref: "answer:1"}}}})
	asked := b.model.last()
	require.True(t, strings.HasPrefix(asked.Messages[0].Text, "You sell lamps.\n- A passage stands in"), asked.Messages[0].Text)
	require.NotContains(t, asked.Messages[0].Text, "You are Palaver")
	require.Equal(t, []llm.Message{
		{Role: llm.User, Text: "My lamp is broken"}, {Role: llm.Assistant, Text: "Which order?"}, {Role: llm.User, Text: "A-1"},
	}, asked.Messages[1:])
	require.Equal(t, "My lamp is broken\nA-1", asked.Facts.Message)
}

func TestBeginTurnRecordsTheAgentsVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	withOwnAgent(b, nil)
	ref := b.insert(chat.Content{Message: "Hello", Agent: ownAgent})
	require.Equal(t, 3, must[Begun](b, b.BeginTurn, ref).AgentVersion)
}
