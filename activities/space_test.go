package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// A turn gets its end although its author may not read its documents any more.
func TestTurnOfSomebodyWhoHasLeftItsSpaceIsSettled(t *testing.T) {
	t.Parallel()
	b, ctx, space := setup(t), context.Background(), uuid.NewString()
	b.Env = b.NewEnv(worker.Options{Interceptors: []interceptor.WorkerInterceptor{activities.Announce(b.Bus)}})
	require.NoError(t, b.Store.CreateSpace(ctx, "ann", chat.Space{ID: space, Name: "Team"}))
	require.NoError(t, b.Store.PutSpaceMember(ctx, "ann", space, chat.SpaceMember{ID: owner, Role: chat.Reader}))
	doc := b.DocOf(chat.SpaceOwner(space), "Leave Policy", activitytest.Leave)
	c := chat.Content{Message: "How many days?", Agent: chat.AgentDocuments}
	ref := activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: uuid.NewString(), Space: space}
	_, _, _, err := b.Store.InsertTurn(ctx, chat.Turn{ID: ref.TurnID, ThreadID: ref.ThreadID, Owner: owner, Space: space, Content: c, CreatedAt: time.Now()})
	require.NoError(t, err)
	ref.Parent = activitytest.Must[activities.Begun](b.Fixture, b.BeginTurn, ref).Parent
	b.Put(ref, chat.PieceKey(1), "25 days [1].")

	require.NoError(t, b.Store.RemoveSpaceMember(ctx, owner, space, false, owner))
	question := chat.Question{ID: "q", Type: chat.DocChoice, OptionIDs: []string{doc}, ChunkIDs: []string{doc + ".0"}}
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted},
		{N: 2, Type: chat.EventStatus, Node: chat.NodeDocs, DocIDs: []string{doc}},
		{N: 3, Type: chat.EventInterrupt, Question: &question},
		{N: 4, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)},
	}})
	turn, err := b.Store.Turn(ctx, owner, ref.TurnID)
	require.NoError(t, err)
	require.Equal(t, chat.TurnCompleted, turn.Status)
}
