package admin_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// Full-stack tests cover the removal itself.
func TestPruneListsWhatIsUnusedAndRemovesNothingByItself(t *testing.T) {
	store, ctx := litetest.Store(t), t.Context()
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"}) // no server listens there
	require.NoError(t, err)
	defer temporal.Close()
	in := store.Within(db.Bounds{Anonymous: true, Address: "here"})
	for _, owner := range []string{"gone", "here"} {
		must.Have(in.CreateConversation(ctx, chat.Conversation{ID: uuid.NewString(), Owner: owner}))(t)
	}
	must.Have(store.CreateConversation(ctx, chat.Conversation{ID: uuid.NewString(), Owner: "signed in"}))(t)
	later := time.Now().Add(31 * 24 * time.Hour)
	require.NoError(t, store.Seen(ctx, "here", false, later))

	p := admin.Pruning{
		Users:     admin.UserDeletion{Store: store, Threads: &workflows.Client{Temporal: temporal}},
		Retention: 30 * 24 * time.Hour, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return later },
	}
	var out bytes.Buffer
	require.NoError(t, p.Run(ctx, false, &out))
	require.Contains(t, out.String(), "1 anonymous callers who have made no request for 720h0m0s; they have 1 conversations with 0 turns")
	require.Contains(t, out.String(), "Nothing was removed.")
	require.ErrorContains(t, p.Run(ctx, true, &out), "nothing was deleted", "workflows cannot be ended")
	data := must.Have(store.UserData(ctx, "gone"))(t)
	require.Len(t, data.Threads, 1)

	p.DryRun = true
	var logged bytes.Buffer
	p.Log = slog.New(slog.NewTextHandler(&logged, nil))
	resealed := 0
	p.Reseal = func(context.Context) (int, error) { resealed++; return 3, nil }
	once := uuid.NewString()
	must.Have(store.CreateConversation(ctx, chat.Conversation{ID: once, Owner: "signed in", Kind: chat.ThreadOnce}))(t)
	require.NoError(t, p.Prune(ctx), "a dry run needs no Temporal")
	require.Contains(t, logged.String(), "anonymous_callers=1")
	require.Contains(t, logged.String(), "left_threads=1")
	require.Contains(t, logged.String(), "tokens=3")
	require.Equal(t, 1, resealed, "upkeep that removes nothing goes on")
	require.NoError(t, store.DeleteConversation(ctx, "signed in", once))
	p.DryRun, p.Retention = false, 0
	out.Reset()
	require.NoError(t, p.Run(ctx, false, &out))
	require.Contains(t, out.String(), "ANONYMOUS_RETENTION is 0: nothing")
	require.NoError(t, p.Prune(ctx))
	data = must.Have(store.UserData(ctx, "gone"))(t)
	require.Len(t, data.Threads, 1)
}

func TestUsageListsTablesAndOwnersTheLargestFirst(t *testing.T) {
	store, ctx := litetest.Store(t), t.Context()
	for owner, bytes := range map[string]int{"much": 1_500_000, "little": 10} {
		d := chat.Document{ID: owner, Owner: owner, Title: owner, SourceType: chat.SourceUpload, Format: "txt", Status: chat.DocProcessing, Bytes: int64(bytes), CreatedAt: time.Now()}
		require.NoError(t, store.CreateDocument(ctx, d, make([]byte, bytes)))
	}
	var out bytes.Buffer
	require.NoError(t, admin.Usage(ctx, store, 20, &out))
	require.Regexp(t, `(?s)raw_documents +1\.\d MB.*\nall .*\nmuch +1\.5 MB +0 B +0 +0 +1 +0\nlittle +10 B`, out.String())
	out.Reset()
	require.NoError(t, admin.Usage(ctx, store, 1, &out))
	require.NotContains(t, out.String(), "little")
}
