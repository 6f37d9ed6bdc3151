package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestGivenMessagesAreCopiedToTheTurnAndTheirOwnTurnsGo(t *testing.T) {
	b := setup(t)
	r := b.Ask("Compare the two policies")
	first := b.Insert(chat.Content{Message: "Only for 2024", Agent: chat.AgentAssistant})
	second := b.Insert(chat.Content{Message: "And be short", Agent: chat.AgentAssistant})
	request := activities.GivenRequest{TurnRef: r.TurnRef, TurnIDs: []string{first.TurnID, second.TurnID}, First: 2}
	for range 2 { // the answer of the first attempt was lost
		_, err := activitytest.Run[any](b.Fixture, b.TakeGiven, request)
		require.NoError(t, err)
		texts := b.Texts(r.TurnRef)
		require.Equal(t, []string{"Only for 2024", "And be short"}, []string{texts[chat.GivenKey(2)], texts[chat.GivenKey(3)]})
		_, err = b.Store.Turn(context.Background(), owner, first.TurnID)
		require.NoError(t, err, "its thread may not know that the message was copied: it would be nowhere")
	}
	for range 2 {
		_, err := activitytest.Run[any](b.Fixture, b.DropGiven, request)
		require.NoError(t, err)
		_, err = b.Store.Turn(context.Background(), owner, first.TurnID)
		require.ErrorIs(t, err, db.ErrNotFound)
	}
}

func TestSettlementDropsTheTurnsOfMessagesThatWereRead(t *testing.T) {
	b := setup(t)
	r := b.Ask("Compare the two policies")
	given := b.Insert(chat.Content{Message: "Only for 2024", Agent: chat.AgentAssistant})
	for range 2 {
		_, err := activitytest.Run[activities.SettleResult](b.Fixture, b.Settle, activities.Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Taken: []string{given.TurnID}})
		require.NoError(t, err)
		_, err = b.Store.Turn(context.Background(), owner, given.TurnID)
		require.ErrorIs(t, err, db.ErrNotFound)
	}
}

func TestExchangeShowsGivenMessagesWhereTheyCame(t *testing.T) {
	b := setup(t)
	r := b.Ask("Look")
	b.AddRound(&r, 0, "look", `{"query":"a"}`, "nothing")
	b.AddRound(&r, 0, "look", `{"query":"b"}`, "something")
	b.Put(r.TurnRef, chat.GivenKey(1), "Only for 2024")
	b.Put(r.TurnRef, chat.GivenKey(2), "And be short")
	r.Given = []int{2, 3}
	e, err := b.ToolExchange(context.Background(), owner, b.Texts(r.TurnRef), r.Stage, nil, nil)
	require.NoError(t, err)
	var said []string
	for _, m := range e.Messages {
		said = append(said, string(m.Role)+" "+m.Text)
	}
	require.Len(t, said, 6)
	require.Contains(t, said[2], "user ")
	require.Contains(t, said[2], "Only for 2024")
	require.Contains(t, said[5], "And be short")
}
