package discovery

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
)

func TestDiscussReadsTheBoardOfTheMessage(t *testing.T) {
	f := activitytest.New(t)
	a := &Activities{Kit: f.Kit, Threshold: 20, Temperature: 0.7, MaxTokens: 900}
	f.Add(a)
	f.Agents = append(f.Agents, Agent.AgentInfo)
	f.Equip(activitytest.ReadTool(board.AgentTools[0]), activitytest.ReadTool("look"))
	b, err := json.Marshal(board.Board{Title: "Berths", Goal: "Shorter waits", Items: []board.Item{
		{ID: "F-1", Kind: board.Fact, Version: board.Version{Text: "Ships wait nine hours on average."}},
	}})
	require.NoError(t, err)
	ref := f.Begin(chat.Content{Message: "What about F-1?", Agent: chat.AgentDiscovery, Board: b, References: []string{"F-1"}})
	f.Model.OnStream = activitytest.StreamText(`It says "Ships wait nine hours on average."`)

	got := activitytest.Must[activities.ModelResult](f, a.Discuss, ref, activities.Stage{Piece: 1}, nil)
	require.Positive(t, got.Chars)
	require.Equal(t, `It says "Ships wait nine hours on average."`, f.Texts(ref)[chat.PieceKey(1)], "an answer may quote the board")
	asked := f.Model.Last()
	require.Equal(t, llm.TaskDiscovery, asked.Task)
	require.Equal(t, float32(0.7), asked.Temperature)
	require.Equal(t, 900, asked.MaxTokens)
	require.Contains(t, asked.Messages[0].Text, "Ships wait nine hours on average.")
	require.Equal(t, "What about F-1?", asked.Messages[1].Text)
	require.Equal(t, []string{"F-1"}, asked.Facts.References)
	require.Equal(t, "Berths", asked.Facts.Board.Title)
	require.Len(t, asked.Tools, 1, "only tools of boards")
}

func TestDiscussFailsWhenTheBoardWasDeleted(t *testing.T) {
	f := activitytest.New(t)
	a := &Activities{Kit: f.Kit}
	f.Add(a)
	ref := f.Begin(chat.Content{Message: "What is missing?", Agent: chat.AgentDiscovery})
	_, err := activitytest.Run[activities.ModelResult](f, a.Discuss, ref, activities.Stage{Piece: 1}, nil)
	require.Equal(t, chat.CodeNotFound, activitytest.AppError(t, err).Type())
	require.True(t, activities.IsFinal(err))
}
