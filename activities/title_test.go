package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// titled is a bundle whose model writes titles.
func titled(t *testing.T, title string) *bundle {
	b := setup(t)
	b.Titles = activities.NewTitles()
	t.Cleanup(b.Titles.Close)
	b.Model.OnTitle = activitytest.StreamText(title)
	return b
}

// answerAbout settles a turn with an answer, and waits for the title.
func (b *bundle) answerAbout(question string, before func(activities.TurnRef)) activities.TurnRef {
	b.T.Helper()
	ref, _ := b.answered(question)
	if before != nil {
		before(ref)
	}
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1})
	b.Titles.Wait()
	return ref
}

func (b *bundle) titleNow() string {
	b.T.Helper()
	c, err := b.Store.Conversation(context.Background(), owner, b.Thread)
	require.NoError(b.T, err)
	return c.Title
}

// Rule C7.
func TestModelWritesTheTitleOfTheFirstExchange(t *testing.T) {
	t.Parallel()
	b := titled(t, "Days of leave\n")
	first := b.answerAbout("How many days of leave do staff get?", nil)
	require.Equal(t, "Days of leave", b.titleNow())
	require.Contains(t, b.Model.Last().Messages[1].Text, "How many days of leave do staff get?")
	require.Contains(t, b.Model.Last().Messages[1].Text, "25 days [1].")
	spent, err := b.Store.Spent(context.Background(), owner, "", b.Time())
	require.NoError(t, err)
	require.GreaterOrEqual(t, spent.CostUSD, 0.5, "the call is counted")

	calls := b.Model.Calls()
	b.End(activities.Ending{TurnRef: first, Status: chat.TurnCompleted, Log: activitytest.Written1})
	b.Titles.Wait()
	require.Equal(t, calls, b.Model.Calls(), "a repeated settle writes no second title")
}

// Rule C7.
func TestModelWritesNoTitleForAConversationThatWasRenamed(t *testing.T) {
	t.Parallel()
	b := titled(t, "Days of leave")
	b.answerAbout("How many days of leave do staff get?", func(ref activities.TurnRef) {
		_, err := b.Store.ChangeConversation(context.Background(), owner, ref.ThreadID, db.ConversationChange{Title: new("Mine")})
		require.NoError(t, err)
	})
	require.Equal(t, "Mine", b.titleNow())
	require.Zero(t, b.Model.Calls())
}

func TestTitleThatCannotBeUsedLeavesTheOneMadeByRule(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "![x](https://evil.example/" + strings.Repeat("x", 20) + ")"} {
		b := titled(t, text)
		b.answerAbout("How many days of leave do staff get?", nil)
		require.Equal(t, "How many days of leave do staff get?", b.titleNow())
	}
	b := titled(t, "")
	b.Model.OnTitle = func(context.Context, func(string) error) error { return errors.New("model unavailable") }
	b.answerAbout("How many days of leave do staff get?", nil)
	require.Equal(t, "How many days of leave do staff get?", b.titleNow())
}

func TestSettlingDoesNotWaitForTheTitle(t *testing.T) {
	t.Parallel()
	b := titled(t, "")
	asked := make(chan struct{})
	b.Model.OnTitle = func(ctx context.Context, _ func(string) error) error {
		close(asked)
		<-ctx.Done() // until the process ends
		return ctx.Err()
	}
	ref, _ := b.answered("How many days of leave do staff get?")
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1})
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
	ref, _ := b.answered("Summarize this")
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: activitytest.Written1})
	require.Equal(t, "Leave Policy: Summarize this", b.titleNow())
}
