package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

// lose settles a turn as lost, outside of any activity.
func (b *bundle) lose(ref activities.TurnRef, stopped chat.CancelReason) chat.Event {
	b.T.Helper()
	turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(b.T, err)
	end, err := b.SettleLost(context.Background(), turn, stopped)
	require.NoError(b.T, err)
	require.Equal(b.T, b.terminal(ref), end)
	return end
}

// said are the texts of the history.
func (b *bundle) said() (all []string) {
	b.T.Helper()
	for _, m := range b.history() {
		all = append(all, m.Content)
	}
	return all
}

func eventTypes(t *testing.T, b *bundle, ref activities.TurnRef) (types []chat.EventType) {
	t.Helper()
	events, err := b.Store.Events(context.Background(), owner, ref.TurnID, 0)
	require.NoError(t, err)
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func TestLostTurnKeepsMessageDraftAndCitationsAndCanBeSentAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	require.NoError(t, b.Store.SaveDraft(context.Background(), owner, db.Draft{TurnID: ref.TurnID, Piece: 1, Attempt: 1, Text: "A beginning [1]"}))
	b.PutJSON(ref, chat.TextCitations, []chat.Citation{{N: 1, Source: "document", Title: "Circular", Quote: "x"}})
	end := b.lose(ref, "")
	require.Equal(t, chat.EventFailed, end.Type)
	require.Equal(t, chat.CodeTurnLost, end.Code)
	require.True(t, end.Retryable)
	plain, _ := chat.FailureMessage(chat.CodeTurnLost)
	require.Equal(t, plain.Text, end.Message)
	require.Equal(t, plain.Coded, end.Coded)
	require.Equal(t, "A beginning [1]", end.Partial)
	require.Equal(t, []chat.EventType{chat.EventTurnStarted, chat.EventFailed}, eventTypes(t, b, ref))
	history := b.history()
	require.Len(t, history, 2)
	require.Equal(t, "Tell me", history[0].Content)
	meta := history[1].Metadata
	require.Equal(t, "error", meta["finished_reason"])
	require.Equal(t, "turn_lost", meta["interrupted_reason"])
	require.Len(t, meta["citations"], 1)
}

func TestLostTurnKeepsFinishedPiecesAndToolResults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Begin(chat.Content{Message: "Draw", Agent: chat.AgentAssistant})
	id := func(n int) string { return chat.CallID(ref.TurnID, n) }
	wanted := func(n int) activities.RequestedCall {
		return activities.RequestedCall{CallRef: chat.CallRef{ID: id(n), Name: "draw"}}
	}
	b.PutJSON(ref, chat.SaidKey(1), activities.ModelResult{Chars: 5, Usage: activitytest.OneCall, Calls: []activities.RequestedCall{wanted(1), wanted(2), wanted(3)}})
	b.Put(ref, chat.PieceKey(1), "Well.")
	b.Put(ref, chat.CallKey(id(1)), `{"what":"a cat"}`)
	b.Put(ref, chat.ResultKey(id(1)), "a picture")
	b.PutJSON(ref, chat.DoneKey(id(1)), activities.CallResult{Usage: activitytest.OneCall})
	b.Put(ref, chat.ResultKey(id(2)), "The person rejected this call.")
	b.PutJSON(ref, chat.SaidKey(2), activities.ModelResult{Usage: activitytest.OneCall, Calls: []activities.RequestedCall{wanted(4)}}) // without a text
	b.Put(ref, chat.PieceKey(2), "Done.")

	end := b.lose(ref, "")
	require.Equal(t, "Well.\n\nDone.", end.Partial)
	require.Equal(t, 3, end.Usage.Calls)
	require.Equal(t, []chat.EventType{
		chat.EventTurnStarted, chat.EventText, chat.EventToolCall, chat.EventToolCall, chat.EventToolCall,
		chat.EventToolResult, chat.EventToolResult, chat.EventToolCall, chat.EventText, chat.EventFailed,
	}, eventTypes(t, b, ref))
	results := chat.ToolResults(b.history()[1].Metadata)
	require.Len(t, results, 4)
	require.Equal(t, chat.ToolResult{ToolCallID: id(1), Name: "draw", Arguments: json.RawMessage(`{"what":"a cat"}`), Content: "a picture"}, results[0])
	require.True(t, results[1].IsError)
	require.Equal(t, messages.ToolStopped.Text, results[2].Content)
}

// The rows of messages that a turn has read are dropped: only its texts have them.
func TestLostTurnKeepsTheMessagesThatSteeredIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	further := b.Insert(chat.Content{Message: "In two sentences."})
	take := activities.GivenRequest{TurnRef: ref, First: 1, TurnIDs: []string{further.TurnID}}
	activitytest.Must[any](b.Fixture, b.TakeGiven, take)
	activitytest.Must[any](b.Fixture, b.DropGiven, take)
	b.lose(ref, "")
	require.Contains(t, b.said(), "In two sentences.")
}

// The workflow was lost after the copy was made and before the row was dropped.
func TestMessageThatSteeredALostTurnIsShownOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("Tell me")
	further := b.Insert(chat.Content{Message: "In two sentences."})
	require.NoError(t, b.Store.MarkTurn(context.Background(), owner, further.TurnID, chat.TurnAccepted, ""))
	activitytest.Must[any](b.Fixture, b.TakeGiven, activities.GivenRequest{TurnRef: ref, First: 1, TurnIDs: []string{further.TurnID}})
	b.lose(ref, "")
	open, err := b.Store.OpenTurns(context.Background(), owner, ref.ThreadID)
	require.NoError(t, err)
	require.Empty(t, open)
	require.Equal(t, []string{"Tell me", "In two sentences."}, b.said()[:2])
	require.Equal(t, 1, strings.Count(strings.Join(b.said(), "|"), "In two sentences."))
}

func TestLostTurnWithACancelRequestIsCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("one")
	end := b.lose(ref, chat.Superseded)
	require.Equal(t, chat.EventCancelled, end.Type)
	require.Equal(t, chat.Superseded, end.Reason)

	ref = b.Say("two")
	require.NoError(t, b.Store.Cancel(context.Background(), owner, db.CancelRef{TurnID: ref.TurnID}, chat.UserCancelled))
	end = b.lose(ref, "")
	require.Equal(t, chat.EventCancelled, end.Type)
	require.Equal(t, chat.UserCancelled, end.Reason)
}

func TestSettlingALostTurnKeepsItsFirstEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Exchange("one", "answer")
	turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
	require.NoError(t, err)
	end, err := b.SettleLost(context.Background(), turn, chat.UserCancelled)
	require.NoError(t, err)
	require.Equal(t, chat.EventResponse, end.Type)
	require.Equal(t, "answer", b.history()[1].Content)
}

func TestEachSettledTurnIsReportedOnceAsItWasStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var reported []string
	b.OnSettled = func(_ context.Context, e activities.Ending) {
		reported = append(reported, e.TurnID+" "+string(e.Status)+" "+e.Code+string(e.Reason))
	}
	answered, lost, broken := b.Exchange("one", "answer"), b.Say("two"), b.Say("three")
	turn, err := b.Store.Turn(context.Background(), owner, answered.TurnID)
	require.NoError(t, err)
	_, err = b.SettleLost(context.Background(), turn, chat.UserCancelled) // of another process, too late
	require.NoError(t, err)

	b.lose(lost, "")
	b.End(activities.Ending{TurnRef: lost, Status: chat.TurnCompleted, Log: activitytest.Written1[:1]}) // the workflow was only late

	b.Store.OnSettle = func(s db.Settlement) error {
		if s.Terminal.Response != nil {
			return errors.New("a row that no database takes")
		}
		return nil
	}
	b.Info.Attempt = activities.MaxSettleTries + 1
	b.Env.SetHeartbeatDetails(activities.Handover{Since: time.Now(), Tries: activities.MaxSettleTries, Attempt: activities.MaxSettleTries})
	b.End(activities.Ending{TurnRef: broken, Status: chat.TurnCompleted, Log: activitytest.Written1[:1]})
	require.Equal(t, []string{answered.TurnID + " completed ", lost.TurnID + " failed turn_lost", broken.TurnID + " failed " + chat.CodeInternal}, reported)
}

// TestLostTurnThatNeverBeganGetsAPlace: the turn waited in the queue of a workflow that
// was lost.
func TestLostTurnThatNeverBeganGetsAPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Exchange("one", "1")
	waits := b.Insert(chat.Content{Message: "two"})
	require.NoError(t, b.Store.MarkTurn(context.Background(), owner, waits.TurnID, chat.TurnAccepted, ""))
	b.lose(waits, "")
	turn, err := b.Store.Turn(context.Background(), owner, waits.TurnID)
	require.NoError(t, err)
	require.Equal(t, first.TurnID, turn.Parent)
	require.Len(t, b.history(), 4, "the last says why there is no answer")
}

// TestTurnOfALostWorkflowIsSettledWhenTheNextTurnBegins: the thread's new workflow does
// not have the turn, and no client submits it again. If its beginning was only undone,
// its message would be in no history.
func TestTurnOfALostWorkflowIsSettledWhenTheNextTurnBegins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: uuid.NewString()}
	content := chat.Content{Message: "lost", Agent: chat.AgentDocuments}
	_, _, _, err := b.Store.InsertTurn(context.Background(), chat.Turn{
		ID: lost.TurnID, ThreadID: b.Thread, Owner: owner, Content: content, ContentHash: content.Hash(), CreatedAt: time.Now().Add(-2 * (activities.LostAfter + activities.MaxSkew)),
	})
	require.NoError(t, err)
	must[activities.BeginResult](b, b.BeginTurn, lost)
	next := b.Insert(chat.Content{Message: "next"})
	next.Others = &activities.OtherTurns{}
	require.Equal(t, lost.TurnID, must[activities.BeginResult](b, b.BeginTurn, next).Parent, "it follows the lost turn")
	require.Equal(t, chat.CodeTurnLost, b.terminal(lost).Code)
	said := b.history()
	require.Len(t, said, 3)
	require.Equal(t, chat.CodeTurnLost, said[1].Metadata["error"].(map[string]any)["code"], "the lost turn says why it has no answer")
}
