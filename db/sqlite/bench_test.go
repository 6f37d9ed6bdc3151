package sqlite

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// BenchmarkTurn measures all writes of one turn.
func BenchmarkTurn(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "palaver.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	ctx, parent := b.Context(), chat.RootCheckpoint
	for i := 0; b.Loop(); i++ {
		id := strconv.Itoa(i)
		_, _, _, err := s.InsertTurn(ctx, chat.Turn{ID: id, Owner: "o", ThreadID: "c", ClientTurnID: id, StreamRunID: id, Content: chat.Content{Message: "hello"}})
		require.NoError(b, err)
		require.NoError(b, s.MarkTurn(ctx, "o", id, chat.TurnAccepted, ""))
		require.NoError(b, s.MarkTurn(ctx, "o", id, chat.TurnRunning, parent))
		require.NoError(b, s.SaveDraft(ctx, "o", db.Draft{TurnID: id, Piece: 1, Text: "hel"}))
		require.NoError(b, s.PutText(ctx, "o", id, chat.PieceKey(1), "hello"))
		end := db.Settlement{Owner: "o", ThreadID: "c", TurnID: id, Status: chat.TurnCompleted, Text: "hello", Terminal: chat.Event{N: 9}}
		for n := range 8 {
			end.Events = append(end.Events, chat.Event{N: n + 1, Type: chat.EventStatus, Message: "Finding documents..."})
		}
		_, err = s.Settle(ctx, end)
		require.NoError(b, err)
		parent = id
	}
}

// BenchmarkShrink measures how long one step of Shrink holds the lock, for 500 MB of which
// four fifths are free.
func BenchmarkShrink(b *testing.B) {
	_, user := bloated(b, 500, "PRAGMA auto_vacuum = INCREMENTAL")
	s := shrinking{pool: user}
	for b.Loop() {
		_, err := s.step(b.Context())
		require.NoError(b, err)
	}
}

// BenchmarkStoreText stores 70,000 words.
func BenchmarkStoreText(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "palaver.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	var text strings.Builder
	var chunks []chat.Chunk
	for i := range 500 {
		var chunk strings.Builder
		for n := range 140 {
			chunk.WriteString("word" + strconv.Itoa((i*n+n)%9973) + " ")
		}
		chunks = append(chunks, chat.Chunk{Text: chunk.String(), Start: text.Len(), End: text.Len() + chunk.Len()})
		text.WriteString(chunk.String())
	}
	require.NoError(b, s.CreateDocument(b.Context(), chat.Document{ID: "d", Owner: "o"}, nil))
	for b.Loop() {
		require.NoError(b, s.StoreText(b.Context(), "o", "d", text.String(), chunks, nil))
	}
}

// BenchmarkStoreNumbers stores 50,000 rows of numbers.
func BenchmarkStoreNumbers(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "palaver.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	var text strings.Builder
	var chunks []chat.Chunk
	for i := 0; i < 50_000; {
		var chunk strings.Builder
		for chunk.Len() < 1200 {
			fmt.Fprintf(&chunk, "%d | 2024-%02d-%02d | %d.%02d | %d,%03d.%02d | %d\n", i, i%12+1, i%28+1, i%997, i%100, i%90+1, i%1000, i%100, i*7919%100_003)
			i++
		}
		chunks = append(chunks, chat.Chunk{Text: chunk.String(), Start: text.Len(), End: text.Len() + chunk.Len()})
		text.WriteString(chunk.String())
	}
	require.NoError(b, s.CreateDocument(b.Context(), chat.Document{ID: "d", Owner: "o"}, nil))
	for b.Loop() {
		require.NoError(b, s.StoreText(b.Context(), "o", "d", text.String(), chunks, nil))
	}
}
