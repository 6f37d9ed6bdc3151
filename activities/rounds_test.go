package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestRoundsAreReadFromTheTurnsTexts(t *testing.T) {
	calls := func(ids ...string) (out []activities.RequestedCall) {
		for _, id := range ids {
			out = append(out, activities.RequestedCall{CallRef: chat.CallRef{ID: id, Name: "look"}})
		}
		return out
	}
	texts := map[string]string{
		chat.SaidKey(1): activitytest.JSON(activities.ModelResult{Chars: 9, Calls: calls("c1")}), chat.DoneKey("c1"): activitytest.JSON(activities.CallResult{}),
		chat.SaidKey(2): activitytest.JSON(activities.ModelResult{Calls: calls("c2", "c3")}), chat.DoneKey("c2"): activitytest.JSON(activities.CallResult{IsError: true}), chat.ResultKey("c3"): "rejected",
		chat.SaidKey(3): activitytest.JSON(activities.ModelResult{Chars: 5, Calls: calls("c4")}), chat.DoneKey("c4"): activitytest.JSON(activities.CallResult{}),
		chat.SaidKey(4): activitytest.JSON(activities.ModelResult{Chars: 7, Calls: calls("c5")}), // by an attempt that died
	}
	made := func(id string, failed bool) activities.CompletedCall {
		return activities.CompletedCall{CallRef: chat.CallRef{ID: id, Name: "look"}, IsError: failed}
	}
	want := []activities.Round{
		{Piece: 1, Calls: []activities.CompletedCall{made("c1", false)}},
		{Calls: []activities.CompletedCall{made("c2", true), made("c3", true)}},
		{Piece: 2, Calls: []activities.CompletedCall{made("c4", false)}},
	}
	require.Equal(t, want, activities.Stage{Round: 3}.Rounds(texts))
}
