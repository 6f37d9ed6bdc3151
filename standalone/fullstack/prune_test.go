package fullstack

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/app/prune"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

func TestPruneRemovesWhatAVisitorLeftUnusedAndNothingElse(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t)
	gone := c.me()
	doc := c.upload("Liquidity circular", circular)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	back := newTalk(t, c.url, s.NewUser())
	back.ask("Hello", nil) // the turn ends with an open question
	store, ctx := s.Parts.Store, context.Background()
	theirs := keptOf(t, store, back.me())
	require.NoError(t, store.PutProfile(ctx, "signed in", chat.Profile{Industry: "banking"}))
	public := must.Have(store.ListDocuments(ctx, "nobody", "", 200))(t)
	later := time.Now().Add(31 * 24 * time.Hour)
	require.NoError(t, store.Seen(ctx, back.me(), false, later))

	p := admin.Pruning{
		Users:     admin.UserDeletion{Store: store, Threads: &workflows.Client{Temporal: s.Parts.Temporal, Namespace: s.Parts.Namespace}},
		Retention: 30 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return later },
	}
	var out bytes.Buffer
	require.NoError(t, p.Run(ctx, true, &out))
	require.Contains(t, out.String(), "Removed:\n- 1 anonymous callers")
	require.Contains(t, out.String(), "1 conversations with 1 turns")
	require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, c.thread))
	require.Equal(t, theirs, keptOf(t, store, back.me()))
	require.Equal(t, 1, keptOf(t, store, "signed in").Profiles)
	kept := must.Have(store.ListDocuments(ctx, "nobody", "", 200))(t)
	require.Equal(t, public, kept, "public documents are kept")
	require.True(t, afterwards(t, s, gone).Empty())
}

// returning is a store whose users come back right after they were listed as unused.
type returning struct {
	db.Store
	back func()
}

func (s returning) UnusedOwners(ctx context.Context, before time.Time, after string, limit int) ([]string, error) {
	owners, err := s.Store.UnusedOwners(ctx, before, after, limit)
	s.back()
	return owners, err
}

func (s returning) OldThreads(ctx context.Context, before time.Time, after string, limit int) ([]chat.ThreadRef, error) {
	threads, err := s.Store.OldThreads(ctx, before, after, limit)
	s.back()
	return threads, err
}

func TestPruneKeepsWhatIsUsedAgainAfterItWasListed(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t)
	answered(t, c.ask("What is the ratio?", tags(c.upload("Liquidity circular", circular))))
	theirs, later := keptOf(t, s.Parts.Store, c.me()), time.Now().Add(31*24*time.Hour)
	users := admin.UserDeletion{Threads: &workflows.Client{Temporal: s.Parts.Temporal, Namespace: s.Parts.Namespace}}
	users.Store = returning{s.Parts.Store, func() { require.NoError(t, s.Parts.Store.Seen(t.Context(), c.me(), false, later)) }}
	p := admin.Pruning{Users: users, Retention: 30 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return later }}
	require.NoError(t, p.Prune(t.Context()))
	require.Equal(t, theirs, keptOf(t, s.Parts.Store, c.me()))

	listed, sent := time.Now(), false
	p.Users.Store = returning{s.Parts.Store, func() {
		if !sent {
			sent = true
			answered(t, c.ask("And in a year?", nil))
		}
	}}
	p.Retention, p.Conversations, p.Now = 0, time.Hour, func() time.Time { return listed.Add(time.Hour) }
	require.NoError(t, p.Prune(t.Context()))
	require.True(t, sent)
	require.Equal(t, theirs.Threads, keptOf(t, s.Parts.Store, c.me()).Threads)
	answered(t, c.ask("And now?", nil))
}

func TestPruneRemovesTheChatsOfDeletedBoardsAndTemporaryThreads(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	store, ctx := s.Parts.Store, t.Context()
	model.On(answerCall, llmtest.Text("The price."), llmtest.Text("The price."), llmtest.Text("The price."))
	stays := c.newBoard(churn)
	answered(t, c.ask("Why?", nil))
	deleted := c.newBoard(churn)
	answered(t, c.ask("Why?", nil))
	c.do(http.StatusNoContent, http.MethodDelete, "/api/discoveries/"+deleted.ID, nil, nil)
	_, _, resp := c.named(object{"message": "Why?", "discovery_context": churn, "on_disconnect": "continue"})
	once := resp.Header.Get("X-Thread-Id")

	owner := c.me()
	left := func(thread string) bool {
		_, err := store.Conversation(ctx, owner, thread)
		return err == nil
	}
	p := admin.Pruning{
		Users: admin.UserDeletion{Store: store, Threads: &workflows.Client{Temporal: s.Parts.Temporal, Namespace: s.Parts.Namespace}},
		Log:   slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(2 * time.Hour) },
	}
	require.NoError(t, p.Prune(ctx))
	require.True(t, left(stays.ID))
	require.True(t, left(deleted.ID), "the board can still be restored")
	require.False(t, left(once))

	p.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	require.NoError(t, p.Prune(ctx))
	require.True(t, left(stays.ID))
	require.False(t, left(deleted.ID), "its board cannot be restored any more")
	require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, deleted.ID))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, stays.ID))
	require.Equal(t, "The price.", last(c.ask("And?", object{"thread_id": stays.ID})).Response)
}

// Rule W13.
func TestTheDailyScheduleRemovesWhatVisitorsLeftUnused(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t, stacktest.Flag("anonymous-retention", "1ns"))
	c.ask("Hello", nil) // the turn ends with an open question
	visitor := c.me()
	ctx := context.Background()
	require.NoError(t, prune.Daily(ctx, s.Temporal()), "a second worker must be able to update the schedule")
	daily := s.Temporal().ScheduleClient().GetHandle(ctx, prune.Schedule)
	told := must.Have(daily.Describe(ctx))(t)
	require.Len(t, told.Info.NextActionTimes, 10)
	require.Less(t, time.Until(told.Info.NextActionTimes[0]), 25*time.Hour)
	require.NoError(t, daily.Trigger(ctx, client.ScheduleTriggerOptions{}))
	require.Eventually(t, func() bool { return keptOf(t, s.Parts.Store, visitor).Empty() }, time.Minute, 50*time.Millisecond)
}

func TestPruneKeepsOldConversationsWithAnOpenQuestion(t *testing.T) {
	t.Parallel()
	s, model, c := scripted(t)
	doc := c.upload("Liquidity circular", circular)
	answered(t, c.ask("What is the ratio?", tags(doc)))
	model.On(intentCall, unsure)
	open := newTalk(t, c.url, c.client)
	interrupted(t, open.ask("The circular", tags(doc)))
	p := admin.Pruning{
		Users:         admin.UserDeletion{Store: s.Parts.Store, Threads: &workflows.Client{Temporal: s.Parts.Temporal, Namespace: s.Parts.Namespace}},
		Conversations: 24 * time.Hour, Log: slog.New(slog.DiscardHandler),
	}
	ctx := context.Background()
	require.NoError(t, p.Prune(ctx))
	require.Len(t, keptOf(t, s.Parts.Store, c.me()).Threads, 2, "the conversations are newer than the retention")
	p.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	p.DryRun = true
	require.NoError(t, p.Prune(ctx))
	require.Len(t, keptOf(t, s.Parts.Store, c.me()).Threads, 2, "a dry run removes nothing")
	p.DryRun = false
	require.NoError(t, p.Prune(ctx))
	kept := keptOf(t, s.Parts.Store, c.me())
	require.Equal(t, []string{open.thread}, kept.Threads)
	require.Equal(t, []string{doc}, kept.Documents)
	require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, s, c.thread))
	require.Equal(t, 1, len(open.history().roles()))
}
