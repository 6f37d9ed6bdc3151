package activities

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

// titled is a bundle whose model answers and writes titles.
func titled(t *testing.T, title string) *testBundle {
	b := setup(t)
	b.Titles = NewTitles()
	t.Cleanup(b.Titles.Close)
	b.model.stream, b.model.title = streamText("25 days [1]."), streamText(title)
	return b
}

// answerAbout asks, writes and settles, and waits for the title.
func (b *testBundle) answerAbout(question string, before func(TurnRef)) TurnRef {
	b.t.Helper()
	r := b.question(question, leave)
	must[Written](b, b.Write, r)
	if before != nil {
		before(r.TurnRef)
	}
	must[Settled](b, b.Settle, Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: written1, Action: chat.Inquire})
	b.Titles.running.Wait()
	return r.TurnRef
}

func (b *testBundle) titleNow() string {
	b.t.Helper()
	c, err := b.store.Conversation(context.Background(), owner, b.thread)
	require.NoError(b.t, err)
	return c.Title
}

// Rule C7.
func TestModelWritesTheTitleOfTheFirstExchange(t *testing.T) {
	t.Parallel()
	b := titled(t, "Days of leave\n")
	first := b.answerAbout("How many days of leave do staff get?", nil)
	require.Equal(t, "Days of leave", b.titleNow())
	require.Contains(t, b.model.last().Messages[1].Text, "How many days of leave do staff get?")
	require.Contains(t, b.model.last().Messages[1].Text, "25 days [1].")
	spent, err := b.store.Spent(context.Background(), owner, "", b.now())
	require.NoError(t, err)
	require.GreaterOrEqual(t, spent.CostUSD, 0.5, "the call is counted")

	calls := b.model.calls()
	must[Settled](b, b.Settle, Ending{TurnRef: first, Status: chat.TurnCompleted, Log: written1, Action: chat.Inquire})
	b.Titles.running.Wait()
	require.Equal(t, calls, b.model.calls(), "a repeated settle writes no second title")
}

// Rule C7.
func TestModelWritesNoTitleForAConversationThatWasRenamed(t *testing.T) {
	t.Parallel()
	b := titled(t, "Days of leave")
	b.answerAbout("How many days of leave do staff get?", func(ref TurnRef) {
		_, err := b.store.ChangeConversation(context.Background(), owner, ref.ThreadID, db.ConversationChange{Title: ptr("Mine")})
		require.NoError(t, err)
	})
	require.Equal(t, "Mine", b.titleNow())
	require.NotEqual(t, llm.TaskTitle, b.model.last().Task)
}

func TestTitleThatCannotBeUsedLeavesTheOneMadeByRule(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "![x](https://evil.example/" + strings.Repeat("x", 20) + ")"} {
		b := titled(t, text)
		b.answerAbout("How many days of leave do staff get?", nil)
		require.Equal(t, "How many days of leave do staff get?", b.titleNow())
	}
	b := titled(t, "")
	b.model.title = func(context.Context, func(string) error) error { return errors.New("model unavailable") }
	b.answerAbout("How many days of leave do staff get?", nil)
	require.Equal(t, "How many days of leave do staff get?", b.titleNow())
}

func TestSettlingDoesNotWaitForTheTitle(t *testing.T) {
	t.Parallel()
	b := titled(t, "")
	asked := make(chan struct{})
	b.model.title = func(ctx context.Context, _ func(string) error) error {
		close(asked)
		<-ctx.Done() // until the process ends
		return ctx.Err()
	}
	r := b.question("How many days of leave do staff get?", leave)
	must[Written](b, b.Write, r)
	must[Settled](b, b.Settle, Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: written1, Action: chat.Inquire})
	<-asked
	b.Titles.Close()
	require.Equal(t, "How many days of leave do staff get?", b.titleNow())
}

// Rule C7.
func TestAVagueFirstMessageIsTitledWithItsDocument(t *testing.T) {
	t.Parallel()
	b := titled(t, "")
	b.Titles.Close()
	b.Titles = nil
	r := b.question("Summarize this", leave)
	must[Written](b, b.Write, r)
	must[Settled](b, b.Settle, Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: written1, Action: chat.Inquire})
	require.Equal(t, "Leave Policy: Summarize this", b.titleNow())
}
