package discovery

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

var agents = chat.Agents{{Name: chat.AgentDocuments}, {Name: chat.AgentDiscovery, OnBoards: true}}

const someID = "6f0c4b0e-6d4b-5b0a-9d4e-2f1f0a3f7c11"

// Rule K9.
func TestMessageOnAStoredBoard(t *testing.T) {
	t.Parallel()
	s := must.Have(ParseMessage([]byte(`{"message":" Why? ","discovery_id":"`+someID+`","client_turn_id":"c","referenced_items":[{"id":"F-1","type":"fact","text":"x"}]}`), agents))(t)
	require.Equal(t, someID, s.ThreadID)
	require.Equal(t, chat.Content{Message: "Why?", Agent: chat.AgentDiscovery, References: []string{"F-1"}}, s.Content)
	require.True(t, s.CancelOnDisconnect, "closing the connection stops the turn")
	require.Equal(t, "c", s.ClientTurnID)
	s = must.Have(ParseMessage([]byte(`{"message":"Why?","discovery_id":"`+someID+`","on_disconnect":"continue"}`), agents))(t)
	require.False(t, s.CancelOnDisconnect)
}

func TestMessageWithABoardKeepsItsIDs(t *testing.T) {
	t.Parallel()
	s, err := ParseMessage([]byte(`{"message":"Why?","chat_history":[{"role":"user","content":"Hello"}],
		"discovery_context":{"title":"T","inputs":[{"input_id":"9f-x","text":"Calls"}],"facts":[{"fact_id":"F-1","text":"Seven","related_ids":["9f-x"]}]}}`), agents)
	require.NoError(t, err)
	require.Empty(t, s.ThreadID)
	require.Equal(t, chat.ThreadOnce, s.Content.ThreadKind())
	var b board.Board
	require.NoError(t, json.Unmarshal(s.Content.Board, &b))
	require.Equal(t, "9f-x", b.Items[0].ID)
	require.Equal(t, []string{"9f-x"}, b.Items[1].Related)
	require.Equal(t, "Hello", b.History[0].Content)
}

func TestBadFieldsOfAMessageAreNamed(t *testing.T) {
	t.Parallel()
	for body, field := range map[string]string{
		`{"discovery_context":{}}`:                                   "message",
		`{"message":"x"}`:                                            "discovery_context",
		`{"message":"x","discovery_id":"no"}`:                        "discovery_id",
		`{"message":"x","discovery_context":5}`:                      "discovery_context",
		`{"message":"x","discovery_context":{"facts":[{"text":5}]}}`: "discovery_context.facts[0].text",
		`{"message":"x","discovery_context":{},"chat_history":[{"role":"system","content":"x"}]}`: "chat_history[0].role",
		`{"message":"x","discovery_context":{},"chat_history":"x"}`:                               "chat_history",
		`{"message":"x","discovery_context":{},"referenced_items":[{"id":"","type":"fact"}]}`:     "referenced_items[0].id",
		`{"message":"x","discovery_context":{},"referenced_items":[{"id":"F-1","type":"idea"}]}`:  "referenced_items[0].type",
		`{"message":"x","discovery_context":{},"on_disconnect":"x"}`:                              "on_disconnect",
		`[]`: "body",
	} {
		_, err := ParseMessage([]byte(body), agents)
		require.ErrorContains(t, err, field+" ", body)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"message":"x","discovery_context":{"facts":[{"text":"x","related_inputs":["I-1"]}]},"chat_history":[{"role":"user","content":"x"}],"referenced_items":[{"id":"F-1"}]}`))
	f.Add([]byte(`{"message":"x","discovery_id":"` + someID + `"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := ParseMessage(body, agents)
		require.False(t, err == nil && s.ThreadID == "" && json.Unmarshal(s.Content.Board, new(board.Board)) != nil, "the stored board cannot be read: %s", s.Content.Board)
	})
}
