package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func TestTurnFollowsTheRequestedParentOrTheHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Exchange("one", "1")
	second := b.Exchange("two", "2")
	waiting := b.Insert(chat.Content{Message: "never begun"})
	for name, tc := range map[string]struct{ asked, want string }{
		"nothing asked":        {"", second.TurnID},
		"a turn":               {first.TurnID, first.TurnID},
		"an interrupt's":       {chat.InterruptID(first.TurnID, 2), first.TurnID},
		"root":                 {chat.RootCheckpoint, chat.RootCheckpoint},
		"unknown":              {"8f14e45f-ceea-467f-a8d4-000000000000", second.TurnID},
		"one that never began": {waiting.TurnID, second.TurnID},
	} {
		t.Run(name, func(t *testing.T) {
			ref := b.Insert(chat.Content{Message: name, ParentRequest: tc.asked})
			got := must[activities.BeginResult](b, b.BeginTurn, ref)
			require.Equal(t, tc.want, got.Parent)
			require.Equal(t, got, must[activities.BeginResult](b, b.BeginTurn, ref), "BeginTurn is idempotent")
			turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
			require.NoError(t, err)
			require.Equal(t, chat.TurnRunning, turn.Status)
			require.Equal(t, tc.want, turn.Parent)
			b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCancelled, Hidden: true})
		})
	}
}

// A workflow task, and the submit that it accepted, can be lost after its BeginTurn
// has run. Then another turn may be accepted before this one, or this one never.
func TestTurnBegunInALostWorkflowTaskIsUndoneWhenAnotherBegins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Exchange("one", "1")
	lost, waits, leaves, next := b.Insert(chat.Content{Message: "lost"}), b.Insert(chat.Content{Message: "waits"}), b.Insert(chat.Content{Message: "leaves"}), b.Insert(chat.Content{Message: "next"})
	for _, ref := range []activities.TurnRef{leaves, lost, waits} {
		must[activities.BeginResult](b, b.BeginTurn, ref)
	}
	next.Others = &activities.OtherTurns{Open: []string{leaves.TurnID}, Waiting: []string{waits.TurnID}}
	require.Equal(t, leaves.TurnID, must[activities.BeginResult](b, b.BeginTurn, next).Parent)
	for id, want := range map[string]chat.TurnStatus{
		lost.TurnID: chat.TurnAccepted, waits.TurnID: chat.TurnAccepted, leaves.TurnID: chat.TurnRunning, next.TurnID: chat.TurnRunning,
	} {
		turn, err := b.Store.Turn(context.Background(), owner, id)
		require.NoError(t, err)
		require.Equal(t, want, turn.Status)
		require.Equal(t, want == chat.TurnRunning, turn.Parent != "")
	}
	b.End(activities.Ending{TurnRef: next, Status: chat.TurnCancelled})
	waits.Others = &activities.OtherTurns{}
	require.Equal(t, next.TurnID, must[activities.BeginResult](b, b.BeginTurn, waits).Parent, "it begins again, after the other turn")
	settled, err := b.Store.Turn(context.Background(), owner, first.TurnID)
	require.NoError(t, err)
	require.Equal(t, chat.TurnCompleted, settled.Status)
}

// Its row has the time of the API process that stored it.
func TestMessageOfATurnThatNoThreadHasStaysWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]time.Duration{"ahead": activities.MaxSkew, "equal": 0, "behind": -activities.MaxSkew, "old": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			content := chat.Content{Message: "lost", Agent: chat.AgentAssistant}
			lost := activities.TurnRef{Owner: owner, ThreadID: b.Thread, TurnID: uuid.NewString()}
			_, _, _, err := b.Store.InsertTurn(t.Context(), chat.Turn{ID: lost.TurnID, ThreadID: b.Thread, Owner: owner, ClientTurnID: "c",
				Content: content, ContentHash: content.Hash(), CreatedAt: time.Now().Add(sent)})
			require.NoError(t, err)
			must[activities.BeginResult](b, b.BeginTurn, lost)
			next := b.Insert(chat.Content{Message: "next"})
			next.Others = &activities.OtherTurns{}
			must[activities.BeginResult](b, b.BeginTurn, next)
			row, err := b.Store.Turn(t.Context(), owner, lost.TurnID)
			require.NoError(t, err)
			want := chat.TurnAccepted // its submit may be in flight; else repair settles it
			if name == "old" {
				want = chat.TurnFailed
			}
			require.Equal(t, want, row.Status)
		})
	}
}

// The message is sent again while the database is unavailable, and saved behind the turn
// that nobody has.
func TestUnsavedTurnDoesNotFollowATurnBegunInALostWorkflowTask(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.Exchange("one", "1")
	lost := b.Insert(chat.Content{Message: "again"})
	must[activities.BeginResult](b, b.BeginTurn, lost)
	again := b.unsaved(chat.Content{Message: "again"})
	again.Others = &activities.OtherTurns{}
	require.Equal(t, first.TurnID, must[activities.BeginResult](b, b.BeginTurn, again).Parent)
}

func TestBeginTurnReturnsTheContentOfTheMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Insert(chat.Content{Message: "hi", Action: chat.Audit, WebSearch: true})
	require.Equal(t, activities.BeginResult{Parent: chat.RootCheckpoint, Agent: chat.AgentDocuments, Action: chat.Audit, WebSearch: true, Rounds: true, RunID: "run-" + ref.TurnID}, must[activities.BeginResult](b, b.BeginTurn, ref))
}

func TestMarkedStatusIsInTheTurnsRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("hi")
	for _, step := range []struct {
		mark any
		want chat.TurnStatus
	}{{b.MarkInterrupted, chat.TurnInterrupted}, {b.MarkRunning, chat.TurnRunning}} {
		_, err := run[any](b, step.mark, ref)
		require.NoError(t, err)
		turn, err := b.Store.Turn(context.Background(), owner, ref.TurnID)
		require.NoError(t, err)
		require.Equal(t, step.want, turn.Status)
	}
}

func TestAnnounceStopPublishesOnTheBus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Say("hi")
	_, err := run[any](b, b.AnnounceStop, ref)
	require.NoError(t, err)
	require.Equal(t, []string{ref.TurnID}, b.Bus.Announced())
}

func TestCancelBeforeTheTurnIsFoundWhenItBegins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ref := b.Insert(chat.Content{Message: "hi"})
	require.NoError(t, b.Store.Cancel(context.Background(), owner, db.CancelRef{TurnID: ref.TurnID}, chat.UserCancelled))
	require.True(t, must[activities.BeginResult](b, b.BeginTurn, ref).Cancelled)
	require.False(t, must[activities.BeginResult](b, b.BeginTurn, b.Insert(chat.Content{Message: "hi"})).Cancelled)
}
