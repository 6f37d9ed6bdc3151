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
	"github.com/palaver-chat/palaver/db"
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
	ref.Parent = activitytest.Must[activities.BeginResult](b.Fixture, b.BeginTurn, ref).Parent
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

// Rule C12: a model sees a picture of somebody else only in a turn of a space, of a message that is
// shared there or that its author has copied, as long as its author reads the space.
func TestTurnSeesAPictureOfSomebodyElseOnlyAsItsReaderDoes(t *testing.T) {
	t.Parallel()
	b, ctx := setup(t), context.Background()
	b.Model.Vision = true
	space, other := chat.Space{ID: uuid.NewString(), Name: "Team"}, chat.Space{ID: uuid.NewString(), Name: "Other"}
	require.NoError(t, b.Store.CreateSpace(ctx, "ann", space))
	for _, id := range []string{owner, "bob"} {
		require.NoError(t, b.Store.PutSpaceMember(ctx, "ann", space.ID, chat.SpaceMember{ID: id, Role: chat.Reader}))
	}
	require.NoError(t, b.Store.CreateSpace(ctx, owner, other))
	picture := func(of string) string {
		id := uuid.NewString()
		require.NoError(t, b.Store.PutAttachment(ctx, chat.Attachment{ID: id, Owner: of, MIME: "image/png"}, []byte(id)))
		return id
	}
	in, thread, turn := db.InSpace(ctx, space.ID), uuid.NewString(), uuid.NewString()
	shown, unused, own := picture("ann"), picture("ann"), picture(owner)
	_, _, _, err := b.Store.InsertTurn(in, chat.Turn{ID: turn, ThreadID: thread, Owner: "ann", Space: space.ID, CreatedAt: time.Now(), Content: chat.Content{Message: "What is this?", Attachments: []string{shown}}})
	require.NoError(t, err)
	require.NoError(t, b.Store.MarkTurn(in, "ann", turn, chat.TurnRunning, chat.RootCheckpoint))
	_, err = b.Store.Settle(in, db.Settlement{Owner: "ann", ThreadID: thread, TurnID: turn, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted, Text: "A cat.", At: time.Now()})
	require.NoError(t, err)
	sees := func(ctx context.Context, who string) (found []string) {
		images, err := b.Images(ctx, who, "", []string{shown, unused, own})
		require.NoError(t, err)
		for _, image := range images {
			found = append(found, string(image.Data))
		}
		return found
	}
	share := func(yes bool) {
		_, err := b.Store.ChangeConversation(in, "ann", thread, db.ConversationChange{Shared: &yes})
		require.NoError(t, err)
	}
	require.Equal(t, []string{own}, sees(in, owner), "it is not shared")
	share(true)
	require.Equal(t, []string{shown, own}, sees(in, owner))
	for what, ctx := range map[string]context.Context{"in no space": ctx, "in another space": db.InSpace(ctx, other.ID), "with the space in the scope": db.InSpace(ctx, chat.Scope([]string{space.ID}))} {
		require.Equal(t, []string{own}, sees(ctx, owner), what)
	}
	require.Empty(t, sees(in, "eve"))
	_, err = b.Store.CopyBranch(in, thread, "", chat.Conversation{ID: uuid.NewString(), Owner: owner, Space: space.ID, CreatedAt: time.Now()})
	require.NoError(t, err)
	share(false)
	require.Equal(t, []string{shown, own}, sees(in, owner), "of a copied message")
	require.Empty(t, sees(in, "bob"), "who has copied nothing")
	require.NoError(t, b.Store.RemoveSpaceMember(ctx, "ann", space.ID, false, owner))
	require.Equal(t, []string{own}, sees(in, owner))
}
