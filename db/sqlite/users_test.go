package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// traces lists the tables with a cell that contains one of the words, without
// those of the search index, whose contents are not text.
func traces(t *testing.T, s *Store, words ...string) []string {
	t.Helper()
	tables := must.Have(s.reader.Query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'chunk_index%'"))(t)
	defer tables.Close()
	var names, found []string
	for tables.Next() {
		var name string
		require.NoError(t, tables.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, tables.Err())
	require.Greater(t, len(names), 15)
	for _, name := range names {
		rows := must.Have(s.reader.Query("SELECT * FROM " + name))(t)
		columns := must.Have(rows.Columns())(t)
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			require.NoError(t, rows.Scan(into...))
			for i := range cells {
				text := fmt.Sprintf("%s", cells[i])
				if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
					found = append(found, name+"."+columns[i])
				}
			}
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestDeletedThreadAndUserLeaveNoRows(t *testing.T) {
	s, ctx := openStore(t, filepath.Join(t.TempDir(), "palaver.db")), t.Context()
	const word, docWord = "Marzipan", "Nougat"
	owner, thread := uuid.NewString(), uuid.NewString()
	begin := func(parent string) chat.Turn {
		content := chat.Content{Message: word, Agent: chat.AgentDocuments}
		turn := chat.Turn{ID: uuid.NewString(), Owner: owner, ThreadID: thread, ClientTurnID: word + uuid.NewString(),
			StreamRunID: word + uuid.NewString(), Content: content, ContentHash: content.Hash(), Status: chat.TurnNew, CreatedAt: time.Now()}
		_, _, _, err := s.InsertTurn(ctx, turn)
		require.NoError(t, err)
		require.NoError(t, s.MarkTurn(ctx, owner, turn.ID, chat.TurnRunning, parent))
		require.NoError(t, s.PutText(ctx, owner, turn.ID, "piece:1", word))
		require.NoError(t, s.SaveDraft(ctx, owner, db.Draft{TurnID: turn.ID, Piece: 1, Attempt: 1, Text: word}))
		return turn
	}
	settled := begin(chat.RootCheckpoint)
	event := func(n int, kind chat.EventType) chat.Event {
		return chat.Event{N: n, Type: kind, TurnID: settled.ID, ThreadID: thread, Message: word}
	}
	_, err := s.Settle(ctx, db.Settlement{
		Owner: owner, ThreadID: thread, TurnID: settled.ID, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted, Text: word,
		Metadata: map[string]any{"note": word}, Prompts: []db.Prompt{{ID: uuid.NewString(), Message: word, Answer: word, At: time.Now()}},
		Events: []chat.Event{event(1, chat.EventTurnStarted)}, Terminal: event(2, chat.EventResponse), Title: word, At: time.Now(),
	})
	require.NoError(t, err)
	require.NoError(t, s.CreateShare(ctx, db.Share{ID: word, Owner: owner, ThreadID: thread, Digest: word, Title: word, Content: []byte(`"` + word + `"`)}))
	require.NoError(t, s.PutFeedback(ctx, db.Feedback{Owner: owner, ThreadID: thread, TurnID: settled.ID, Reason: word}))
	open := begin(settled.ID)
	for _, ref := range []db.CancelRef{{TurnID: open.ID}, {ClientTurnID: open.ClientTurnID}, {ThreadID: thread, ClientTurnID: word}, {StreamRunID: open.StreamRunID}} {
		require.NoError(t, s.Cancel(ctx, owner, ref, chat.UserCancelled))
	}
	document := func(ready bool) string {
		d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: docWord, Format: "txt", CreatedAt: time.Now()}
		require.NoError(t, s.CreateDocument(ctx, d, []byte(docWord)))
		if ready {
			chunk := chat.Chunk{ID: d.ID + ".0", DocID: d.ID, Text: docWord, Heading: docWord, End: len(docWord)}
			require.NoError(t, s.StoreText(ctx, owner, d.ID, docWord, []chat.Chunk{chunk}, [][]float32{{1, 0}}))
		}
		return d.ID
	}
	ready, processing := document(true), document(false)
	require.NoError(t, s.PutScan(ctx, owner, processing, "", 1, docWord))
	require.NoError(t, s.CreateSet(ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: owner, Name: docWord, DocIDs: []string{ready}}))
	require.NoError(t, s.PutProfile(ctx, owner, chat.Profile{Industry: docWord}))
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: uuid.NewString(), Owner: owner, ThreadID: thread, MIME: "image/png"}, []byte(word)))
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: uuid.NewString(), Owner: owner, MIME: "image/png"}, []byte(docWord)))
	require.NoError(t, s.PutConnection(ctx, db.Connection{Owner: owner, Provider: "google", Account: docWord, Token: docWord}, true))
	require.NoError(t, s.CreateKey(ctx, db.Key{ID: uuid.NewString(), Owner: owner, Name: docWord, Digest: docWord, Anonymous: true}))
	require.NoError(t, s.CreateBoard(ctx, db.Board{ID: uuid.NewString(), Owner: owner, Title: docWord, Content: []byte(docWord)}))
	must.Have(s.PutRepo(ctx, owner, thread, []byte(word), "digest", nil))(t)

	must.Have(s.CreateImport(ctx, chat.Import{ID: uuid.NewString(), Owner: owner, ThreadID: thread, TurnID: open.ID, URL: word}))(t)
	must.Have(s.CreateImport(ctx, chat.Import{ID: uuid.NewString(), Owner: owner, URL: docWord}))(t)

	ofThread := []string{word, thread, settled.ID, open.ID, settled.ClientTurnID, open.ClientTurnID, settled.StreamRunID, open.StreamRunID}
	ofUser := append(slices.Clone(ofThread), owner, docWord, ready, processing)
	before := traces(t, s, ofUser...)
	for _, table := range []string{"conversations", "turns", "stream_runs", "cancels", "messages", "turn_events", "turn_texts", "drafts",
		"documents", "raw_documents", "scans", "editions", "chunks", "document_sets", "set_documents", "profiles", "attachments", "repos", "connections", "access_keys", "shares", "feedback", "imports", "boards"} {
		require.True(t, slices.ContainsFunc(before, func(cell string) bool { return strings.HasPrefix(cell, table+".") }), "%s: %v", table, before)
	}

	require.NoError(t, s.DeleteConversation(ctx, owner, thread))
	require.Equal(t, []string{"deleted_conversations.id"}, traces(t, s, ofThread...), "only its id, so that nothing is written under it again")

	must.Have(s.DeleteUser(ctx, owner))(t)
	require.Equal(t, []string{"deleted_conversations.id"}, traces(t, s, ofUser...))
	for _, table := range []string{"chunk_vectors", "chunk_index"} {
		var rows int
		require.NoError(t, s.reader.QueryRow("SELECT count(*) FROM "+table).Scan(&rows))
		require.Zero(t, rows, table)
	}
}
