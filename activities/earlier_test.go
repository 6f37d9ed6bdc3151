package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// talkAtLength adds n exchanges of 2,000 characters each, and returns the last turn.
func (b *testBundle) talkAtLength(n int) (last TurnRef) {
	for i := range n {
		last = b.exchange(fmt.Sprintf("Message %d. ", i)+strings.Repeat("a", 1000), fmt.Sprintf("Answer %d. ", i)+strings.Repeat("b", 1000))
	}
	return last
}

// summaries makes the model answer every call with "A1", "A2"… calls counts those for
// summaries.
func (b *testBundle) summaries() (calls func() int) {
	n := 0
	b.model.stream = func(_ context.Context, emit func(string) error) error {
		n++
		return emit(fmt.Sprintf("A%d", n))
	}
	return func() (count int) {
		b.model.mu.Lock()
		defer b.model.mu.Unlock()
		for _, r := range b.model.asked {
			if r.Task == llm.TaskHistory {
				count++
			}
		}
		return count
	}
}

func promptText(r llm.Request) string {
	var text strings.Builder
	for _, m := range r.Messages {
		text.WriteString(m.Text + "\n")
	}
	return text.String()
}

// Rule S5.
func TestOlderPartOfAConversationIsSummarizedOnceInBothAgents(t *testing.T) {
	for _, agent := range []chat.Agent{chat.AgentDocuments, chat.AgentAssistant} {
		t.Run(string(agent), func(t *testing.T) {
			b := setup(t)
			b.HistoryTokens = 2000 // 4 exchanges
			b.talkAtLength(6)
			calls := b.summaries()
			write := func(message string) Written {
				ref := b.begin(chat.Content{Message: message, Agent: agent})
				var w Written
				if agent == chat.AgentAssistant {
					w = must[Written](b, b.Think, ThinkRequest{TurnRef: ref, Stage: Stage{Piece: 1}})
				} else {
					w = must[Written](b, b.Write, WriteRequest{TurnRef: ref, Action: chat.Inquire, Stage: Stage{Piece: 1}})
				}
				must[Settled](b, b.Settle, Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: written1[:1]})
				return w
			}
			w := write("And now?")
			require.Equal(t, 1, calls())
			require.Equal(t, chat.NoticeSummarized, w.History)
			require.Equal(t, 2, w.Usage.Calls, "summarizing counts")
			summarized, answer := b.model.asked[len(b.model.asked)-2], promptText(b.model.last())
			require.Contains(t, promptText(summarized), "Message 0.")
			require.Contains(t, b.model.last().Messages[0].Text, "A1", "the summary is in the system message")
			require.NotContains(t, answer, "Message 0.")
			require.Contains(t, answer, "Answer 5.")

			w = write("Once more?")
			require.Equal(t, 1, calls(), "the summary is stored")
			require.Empty(t, w.History)
			require.Equal(t, 1, w.Usage.Calls)
			require.Contains(t, b.model.last().Messages[0].Text, "A1")
		})
	}
}

func TestSummaryGrowsWithTheConversation(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	b.talkAtLength(6)
	b.summaries()
	must[Written](b, b.Think, b.ask("One"))
	b.talkAtLength(4)
	w := must[Written](b, b.Think, b.ask("Two"))
	require.Equal(t, chat.NoticeSummarized, w.History)
	again := promptText(b.model.asked[len(b.model.asked)-2])
	require.Contains(t, again, "A1", "the summary before is part of the next")
	require.NotContains(t, again, "Message 0.\n")
}

func TestBranchHasTheSummaryOfItsOwnPast(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	early := b.exchange("The beginning", "of it")
	b.talkAtLength(6)
	b.summaries()
	must[Written](b, b.Think, b.ask("Go on"))
	ref := b.begin(chat.Content{Message: "Another way", Agent: chat.AgentAssistant, ParentRequest: early.TurnID})
	w := must[Written](b, b.Think, ThinkRequest{TurnRef: ref, Stage: Stage{Piece: 1}})
	require.Empty(t, w.History)
	require.Contains(t, promptText(b.model.last()), "The beginning")
	require.NotContains(t, promptText(b.model.last()), "A1", "the summary is of turns that this branch does not have")
}

// Rule S5.
func TestWithoutAModelTheBeginningIsLeftOutWithOneNotice(t *testing.T) {
	b := setup(t)
	b.HistoryTokens, b.model.offline = 2000, true
	b.talkAtLength(6)
	calls := b.summaries()
	require.Equal(t, chat.NoticeHistoryDropped, must[Written](b, b.Think, b.ask("One")).History)
	require.Empty(t, must[Written](b, b.Think, b.ask("Two")).History, "the notice was given already")
	require.Zero(t, calls())
	b.model.offline = false
	require.Equal(t, chat.NoticeSummarized, must[Written](b, b.Think, b.ask("Three")).History, "with a model it is summarized")
	require.Contains(t, promptText(b.model.asked[len(b.model.asked)-2]), "Message 0.")
}

func TestFailedSummaryDoesNotFailTheAnswer(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	b.talkAtLength(6)
	n := 0
	b.model.stream = func(_ context.Context, emit func(string) error) error {
		if n++; n == 1 {
			return &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("busy")}
		}
		return emit(fmt.Sprintf("A%d", n))
	}
	require.Equal(t, chat.NoticeHistoryDropped, must[Written](b, b.Think, b.ask("One")).History)
	require.Equal(t, chat.NoticeSummarized, must[Written](b, b.Think, b.ask("Two")).History, "the next turn tries again")
}

func TestASmallWindowHasLittleRoomForEarlierMessages(t *testing.T) {
	b := setup(t)
	b.model.window = 4096
	b.talkAtLength(3) // 1,500 tokens
	b.summaries()
	require.Equal(t, chat.NoticeSummarized, must[Written](b, b.Think, b.ask("One")).History)
}

func TestMessagesThatAreTooManyAreSummarizedInParts(t *testing.T) {
	b := setup(t)
	b.HistoryTokens, b.model.window = 400, 2048
	b.talkAtLength(8)
	calls := b.summaries()
	must[Written](b, b.Think, b.ask("One"))
	require.Greater(t, calls(), 1)
	require.Contains(t, promptText(b.model.asked[1]), "A1", "each part has the summary of those before")
}
