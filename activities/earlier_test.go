package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// summaries makes the model answer every call with "A1", "A2"… calls counts those for
// summaries.
func (b *bundle) summaries() (calls func() int) {
	n := 0
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		n++
		return emit(fmt.Sprintf("A%d", n))
	}
	return func() (count int) {
		for _, r := range b.Model.Asked() {
			if r.Task == llm.TaskHistory {
				count++
			}
		}
		return count
	}
}

// Rule S5.
func TestOlderPartOfAConversationIsSummarizedOnce(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000 // 4 exchanges
	b.TalkAtLength(6)
	calls := b.summaries()
	write := func(message string) activities.ModelResult {
		s := b.Ask(message)
		w := b.think(s)
		b.End(activities.Ending{TurnRef: s.TurnRef, Status: chat.TurnCompleted, Log: activitytest.Written1[:1]})
		return w
	}
	w := write("And now?")
	require.Equal(t, 1, calls())
	require.Equal(t, chat.NoticeSummarized, w.History)
	require.Equal(t, 2, w.Usage.Calls, "summarizing counts")
	summarized, answer := b.Model.Asked()[0], activitytest.PromptText(b.Model.Last())
	require.Contains(t, activitytest.PromptText(summarized), "Message 0.")
	require.Contains(t, b.Model.Last().Messages[0].Text, "A1", "the summary is in the system message")
	require.NotContains(t, answer, "Message 0.")
	require.Contains(t, answer, "Answer 5.")

	w = write("Once more?")
	require.Equal(t, 1, calls(), "the summary is stored")
	require.Empty(t, w.History)
	require.Equal(t, 1, w.Usage.Calls)
	require.Contains(t, b.Model.Last().Messages[0].Text, "A1")
}

func TestSummaryGrowsWithTheConversation(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	b.TalkAtLength(6)
	b.summaries()
	b.think(b.Ask("One"))
	b.TalkAtLength(4)
	w := b.think(b.Ask("Two"))
	require.Equal(t, chat.NoticeSummarized, w.History)
	again := activitytest.PromptText(b.Model.Asked()[len(b.Model.Asked())-2])
	require.Contains(t, again, "A1", "the summary before is part of the next")
	require.NotContains(t, again, "Message 0.\n")
}

func TestBranchHasTheSummaryOfItsOwnPast(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	early := b.Exchange("The beginning", "of it")
	b.TalkAtLength(6)
	b.summaries()
	b.think(b.Ask("Go on"))
	ref := b.Begin(chat.Content{Message: "Another way", Agent: chat.AgentAssistant, ParentRequest: early.TurnID})
	w := b.think(activitytest.Step{TurnRef: ref, Stage: activities.Stage{Piece: 1}})
	require.Empty(t, w.History)
	require.Contains(t, activitytest.PromptText(b.Model.Last()), "The beginning")
	require.NotContains(t, activitytest.PromptText(b.Model.Last()), "A1", "the summary is of turns that this branch does not have")
}

// Rule S5.
func TestWithoutAModelTheBeginningIsLeftOutWithOneNotice(t *testing.T) {
	b := setup(t)
	b.HistoryTokens, b.Model.Offline = 2000, true
	b.TalkAtLength(6)
	calls := b.summaries()
	require.Equal(t, chat.NoticeHistoryDropped, b.think(b.Ask("One")).History)
	require.Empty(t, b.think(b.Ask("Two")).History, "the notice was given already")
	require.Zero(t, calls())
	b.Model.Offline = false
	require.Equal(t, chat.NoticeSummarized, b.think(b.Ask("Three")).History, "with a model it is summarized")
	require.Contains(t, activitytest.PromptText(b.Model.Asked()[len(b.Model.Asked())-2]), "Message 0.")
}

func TestFailedSummaryDoesNotFailTheAnswer(t *testing.T) {
	b := setup(t)
	b.HistoryTokens = 2000
	b.TalkAtLength(6)
	n := 0
	b.Model.OnStream = func(_ context.Context, emit func(string) error) error {
		if n++; n == 1 {
			return &llm.Error{Code: chat.CodeModelUnavailable, Retryable: true, Err: errors.New("busy")}
		}
		return emit(fmt.Sprintf("A%d", n))
	}
	require.Equal(t, chat.NoticeHistoryDropped, b.think(b.Ask("One")).History)
	require.Equal(t, chat.NoticeSummarized, b.think(b.Ask("Two")).History, "the next turn tries again")
}

func TestASmallWindowHasLittleRoomForEarlierMessages(t *testing.T) {
	b := setup(t)
	b.Model.Window = 4096
	b.TalkAtLength(3) // 1,500 tokens
	b.summaries()
	require.Equal(t, chat.NoticeSummarized, b.think(b.Ask("One")).History)
}

func TestMessagesThatAreTooManyAreSummarizedInParts(t *testing.T) {
	b := setup(t)
	b.HistoryTokens, b.Model.Window = 400, 2048
	b.TalkAtLength(8)
	calls := b.summaries()
	b.think(b.Ask("One"))
	require.Greater(t, calls(), 1)
	require.Contains(t, activitytest.PromptText(b.Model.Asked()[1]), "A1", "each part has the summary of those before")
}
