package export

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// person stores one thing of every kind for an owner. word is in all of them.
func person(t *testing.T, s db.Store, owner, word string) {
	t.Helper()
	ctx := t.Context()
	thread := uuid.NewString()
	require.NoError(t, s.PutProfile(ctx, owner, chat.Profile{Industry: word, Instructions: word + " is how I like answers"}))
	settle := func(id, parent string, hidden bool) {
		_, _, _, err := s.InsertTurn(ctx, chat.Turn{ID: id, Owner: owner, ThreadID: thread, ClientTurnID: id, Content: chat.Content{Message: word + " asked in " + id, ParentRequest: parent}})
		require.NoError(t, err)
		require.NoError(t, s.MarkTurn(ctx, owner, id, chat.TurnRunning, parent))
		_, err = s.Settle(ctx, db.Settlement{Owner: owner, ThreadID: thread, TurnID: id, Parent: parent, Status: chat.TurnCompleted, Text: word, Hidden: hidden,
			Events: []chat.Event{{N: 1, Type: chat.EventText, Text: word + " answered in " + id}}, Terminal: chat.Event{N: 2, Type: chat.EventResponse}})
		require.NoError(t, err)
	}
	settle(word+"-1", chat.RootCheckpoint, false)
	require.NoError(t, s.PutSummary(ctx, owner, db.Summary{TurnID: word + "-1", Text: word + " in short"}))
	settle(word+"-2", word+"-1", false)
	settle(word+"-branch", word+"-1", false)
	settle(word+"-taken-back", word+"-branch", true)
	_, _, _, err := s.InsertTurn(ctx, chat.Turn{ID: word + "-open", Owner: owner, ThreadID: thread, ClientTurnID: "open", Content: chat.Content{Message: word + " waits"}})
	require.NoError(t, err)
	require.NoError(t, s.MarkTurn(ctx, owner, word+"-open", chat.TurnAccepted, ""))
	require.NoError(t, s.PutText(ctx, owner, word+"-open", "k", word+" is written"))

	require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: "ready-" + word, Owner: owner, Title: word, Name: "file of " + word, Format: "txt"}, []byte(word)))
	require.NoError(t, s.StoreText(ctx, owner, "ready-"+word, word+" in a text", []chat.Chunk{{Text: word, End: len(word)}}, nil))
	require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: "raw-" + word, Owner: owner, Title: word, SourceType: chat.SourceDrive, SourceURL: "https://drive.google.com/" + word, Format: "../PDF"}, []byte(word+" in a file")))
	require.NoError(t, s.CreateSet(ctx, chat.DocumentSet{ID: "set-" + word, Owner: owner, Name: word, DocIDs: []string{"ready-" + word}}))
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: "picture-" + word, Owner: owner, MIME: "image/png"}, []byte(word+" in a picture")))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	must.Have(z.Write([]byte(`{"messages":["` + word + ` in a repo"]}`)))(t)
	require.NoError(t, z.Close())
	require.NoError(t, s.CreateBoard(ctx, db.Board{ID: "board-" + word, Owner: owner, Content: []byte(`{"title":"` + word + ` on a board"}`)}))
	require.NoError(t, s.PutFeedback(ctx, db.Feedback{Owner: owner, ThreadID: thread, TurnID: word + "-1", Reason: word + " is too long"}))
	require.NoError(t, s.CreateShare(ctx, db.Share{ID: "share-" + word, Owner: owner, ThreadID: thread, Digest: "digest of " + word, Title: word, Content: []byte("[]")}))
	must.Have(s.ChangeConversation(ctx, owner, thread, db.ConversationChange{Pinned: new(true)}))(t)
	must.Have(s.PutRepo(ctx, owner, thread, packed.Bytes(), "sum", nil))(t)
}

// unpack reads an archive by file name.
func unpack(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z := must.Have(zip.NewReader(bytes.NewReader(raw), int64(len(raw))))(t)
	files := map[string]string{}
	for _, f := range z.File {
		require.True(t, filepath.IsLocal(f.Name), f.Name)
		r := must.Have(f.Open())(t)
		content := must.Have(io.ReadAll(r))(t)
		files[f.Name] = string(content)
	}
	return files
}

func TestArchiveHoldsAllOfItsOwnerAndNothingOfOthers(t *testing.T) {
	s := litetest.Store(t)
	person(t, s, "ann", "marzipan")
	person(t, s, "bob", "gherkin")
	require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: "public", Owner: chat.PublicOwner, Title: "everybody's"}, nil))
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), s, "ann", time.Now(), &out))
	files := unpack(t, out.Bytes())

	var all strings.Builder
	for name, content := range files {
		all.WriteString(name + "\n" + content + "\n")
		if strings.HasSuffix(name, ".json") {
			require.True(t, json.Valid([]byte(content)), "%s: %s", name, content)
		}
	}
	for _, part := range []string{
		"asked in marzipan-1", "answered in marzipan-1", "answered in marzipan-2", "answered in marzipan-branch", "answered in marzipan-taken-back",
		"marzipan in short", "marzipan waits", "marzipan is too long", "share-marzipan", `"pinned":true`, "marzipan is written", "marzipan in a text", "marzipan in a file", "marzipan in a picture", "marzipan in a repo",
		`"industry": "marzipan"`, `"name": "marzipan"`, `"name": "file of marzipan"`, "documents/raw-marzipan.original.pdf", "documents/ready-marzipan.original.", "attachments/picture-marzipan.png",
	} {
		require.Contains(t, all.String(), part)
	}
	require.NotContains(t, all.String(), "gherkin")
	require.NotContains(t, all.String(), "digest of")

	for id, want := range map[string]documentJSON{
		"raw-marzipan":   {SourceType: chat.SourceDrive, Format: "../PDF", SourceURL: "https://drive.google.com/marzipan"},
		"ready-marzipan": {SourceType: chat.SourceUpload, Format: "txt"},
	} {
		var got documentJSON
		require.NoError(t, json.Unmarshal([]byte(files["documents/"+id+".json"]), &got))
		require.Equal(t, want, documentJSON{SourceType: got.SourceType, Format: got.Format, SourceURL: got.SourceURL}, id)
	}
	require.NotContains(t, all.String(), "everybody's")

	var m Manifest
	require.NoError(t, json.Unmarshal([]byte(files["manifest.json"]), &m))
	m.ExportedAt = time.Time{}
	require.Equal(t, Manifest{Format: format, User: "ann", Conversations: 1, Turns: 5, Documents: 2, Sets: 1, Attachments: 1, Repos: 1, Shares: 1, Feedback: 1, Boards: 1}, m)
}

func TestArchiveOfAnUnknownUserIsEmpty(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), litetest.Store(t), "nobody", time.Now(), &out))
	files := unpack(t, out.Bytes())
	require.Len(t, files, 5)
	require.Contains(t, files, "keys.json")
	require.Contains(t, files, "manifest.json")
}

func TestArchiveHasEveryTurnOfALongConversation(t *testing.T) {
	s := litetest.Store(t)
	parent := chat.RootCheckpoint
	for i := range 2*turnsAtOnce + 1 {
		id := "t" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: id, Owner: "ann", ThreadID: "c", ClientTurnID: id, Content: chat.Content{Message: id}})
		require.NoError(t, err)
		must.Have(s.Settle(t.Context(), db.Settlement{Owner: "ann", ThreadID: "c", TurnID: id, Parent: parent, Status: chat.TurnCompleted, Terminal: chat.Event{N: 1}}))(t)
		parent = id
	}
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), s, "ann", time.Now(), &out))
	var c struct{ Turns []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(unpack(t, out.Bytes())["conversations/c.json"]), &c))
	require.Len(t, c.Turns, 2*turnsAtOnce+1)
	seen := map[string]bool{}
	for _, turn := range c.Turns {
		seen[turn.ID] = true
	}
	require.Len(t, seen, 2*turnsAtOnce+1)
}

// full accepts left bytes, then it fails.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestArchiveThatCannotBeWrittenIsAnError(t *testing.T) {
	s := litetest.Store(t)
	person(t, s, "ann", "marzipan")
	require.ErrorContains(t, Write(t.Context(), s, "ann", time.Now(), &full{100}), "full")
}

// Rule I29.
func TestArchiveSaysInWhichSpaceAKeyWorks(t *testing.T) {
	s := litetest.Store(t)
	require.NoError(t, s.CreateSpace(t.Context(), "ann", chat.Space{ID: "team", Name: "Team"}))
	for name, space := range map[string]string{"bound": "team", "free": ""} {
		require.NoError(t, s.CreateKey(t.Context(), db.Key{ID: name, Owner: "ann", Name: name, Digest: "digest of " + name, Space: space}))
	}
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), s, "ann", time.Now(), &out))
	var keys []map[string]any
	require.NoError(t, json.Unmarshal([]byte(unpack(t, out.Bytes())["keys.json"]), &keys))
	spaces := map[any]any{}
	for _, k := range keys {
		spaces[k["name"]] = k["space_id"]
	}
	require.Equal(t, map[any]any{"bound": "team", "free": nil}, spaces)
}

// Rule D21: what somebody has added to a space is the space's.
func TestArchiveOfAPersonHasNothingOfASpace(t *testing.T) {
	s := litetest.Store(t)
	person(t, s, "ann", "marzipan")
	require.NoError(t, s.CreateSpace(t.Context(), "ann", chat.Space{ID: "team", Name: "Canary", Instructions: "canary"}))
	require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: "added", Owner: chat.SpaceOwner("team"), AddedBy: "ann", Title: "canary"}, []byte("canary")))
	require.NoError(t, s.CreateSet(t.Context(), chat.DocumentSet{ID: "set", Owner: chat.SpaceOwner("team"), Name: "canary", DocIDs: []string{"added"}}))
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), s, "ann", time.Now(), &out))
	for name, content := range unpack(t, out.Bytes()) {
		require.NotContains(t, strings.ToLower(name+content), "canary", name)
	}
}
