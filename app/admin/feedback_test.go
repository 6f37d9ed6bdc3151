package admin

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestFeedbackIsWrittenForOperators(t *testing.T) {
	s := litetest.Store(t)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rate := func(owner, id string, good bool, reason string) {
		_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: id, Owner: owner, ThreadID: "c-" + id, ClientTurnID: id, Content: chat.Content{Message: "asked in " + id, Agent: chat.AgentDocuments}})
		require.NoError(t, err)
		_, err = s.Settle(t.Context(), db.Settlement{Owner: owner, ThreadID: "c-" + id, TurnID: id, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted,
			Terminal: chat.Event{N: 1, Type: chat.EventResponse, Response: &chat.Response{Text: "answered in " + id}}})
		require.NoError(t, err)
		at = at.Add(time.Hour)
		require.NoError(t, s.PutFeedback(t.Context(), db.Feedback{Owner: owner, ThreadID: "c-" + id, TurnID: id, Good: good, Reason: reason, UpdatedAt: at}))
	}
	rate("ann", "one", true, "")
	rate("bob", "two", false, "=WRONG()\nand <long>")
	written := func(f FeedbackFilter) string {
		var out bytes.Buffer
		require.NoError(t, Feedback(t.Context(), s, f, &out))
		return out.String()
	}
	require.Equal(t, `{"at":"2026-05-01T13:00:00Z","owner":"ann","conversation_id":"c-one","turn_id":"one","rating":"up","agent":"documents"}
{"at":"2026-05-01T14:00:00Z","owner":"bob","conversation_id":"c-two","turn_id":"two","rating":"down","reason":"=WRONG()\nand <long>","agent":"documents"}
`, written(FeedbackFilter{}))
	require.Equal(t, 1, strings.Count(written(FeedbackFilter{Since: at.Add(-time.Minute)}), "\n"))

	rows := must.Have(csv.NewReader(strings.NewReader(written(FeedbackFilter{CSV: true, Texts: true}))).ReadAll())(t)
	require.Equal(t, []string{"2026-05-01T14:00:00Z", "bob", "c-two", "two", "down", "'=WRONG()\nand <long>", "documents", "asked in two", "answered in two"}, rows[2])
	require.NotContains(t, written(FeedbackFilter{CSV: true}), "asked in", "texts only when they are asked for")
}
