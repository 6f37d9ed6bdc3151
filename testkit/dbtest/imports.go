package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func (b *fixture) newImport(key string) chat.Import {
	return chat.Import{
		ID: uuid.NewString(), Owner: b.owner, Key: b.owner + key, Source: chat.SourceDrive, ExternalID: key,
		ResourceKey: "0-k", URL: "https://drive.google.com/file/d/" + key + "/view", State: chat.ImportLooking,
		CreatedAt: b.now(), UpdatedAt: b.now(),
	}
}

func (b *fixture) createImport(i chat.Import) chat.Import {
	b.t.Helper()
	got := must.Have(b.store.CreateImport(b.ctx, i))(b.t)
	return got
}

func (b *fixture) readImport(id string) chat.Import {
	b.t.Helper()
	got := must.Have(b.store.ImportByID(b.ctx, b.owner, id))(b.t)
	return got
}

var importTests = []test{
	{"an import is created once and read as it was written", func(b *fixture) {
		turn := b.insert(b.newTurn("import this"))
		i := b.newImport("a")
		i.ThreadID, i.TurnID, i.Announce = b.thread, turn.ID, true
		got := b.createImport(i)
		b.True(got.CreatedAt.Equal(i.CreatedAt))
		got.CreatedAt, got.UpdatedAt, i.CreatedAt, i.UpdatedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		b.Equal(i, got)
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, i.Key, chat.ImportStep{State: chat.ImportDownloading, Name: "Rules.pdf", Remote: "{}"}, b.now()))
		again := b.createImport(i)
		b.Equal(chat.ImportDownloading, again.State)
		b.Equal("Rules.pdf", again.Name)
	}},
	{"all open imports of a document advance together, and only the oldest has imported it", func(b *fixture) {
		first, second, other := b.newImport("a"), b.newImport("a"), b.newImport("b")
		second.CreatedAt = second.CreatedAt.Add(time.Second)
		for _, i := range []chat.Import{second, first, other} {
			b.createImport(i)
		}
		open := must.Have(b.store.OpenImports(b.ctx, b.owner, first.Key))(b.t)
		b.Equal([]string{first.ID, second.ID}, []string{open[0].ID, open[1].ID})
		d := b.document(b.owner, "Rules", "capital")
		step := chat.ImportStep{State: chat.ImportReady, Outcome: chat.Imported, DocID: d.ID, Chunks: 1}
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, first.Key, step, b.now()))
		b.Equal(chat.Imported, b.readImport(first.ID).Outcome)
		b.Equal(chat.ImportIsKnown, b.readImport(second.ID).Outcome)
		b.Equal(d.ID, b.readImport(second.ID).DocID)
		b.Equal("Rules", b.readImport(second.ID).Title, "its title")
		b.Equal(chat.ImportLooking, b.readImport(other.ID).State)

		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, first.Key, chat.ImportStep{State: chat.ImportFailed, Code: "late"}, b.now()))
		b.Equal(chat.ImportReady, b.readImport(first.ID).State, "an import that has ended does not change")
	}},
	{"imports are listed newest first, of a conversation or a turn, without deleted documents", func(b *fixture) {
		turn := b.insert(b.newTurn("import this"))
		here, elsewhere := b.newImport("a"), b.newImport("b")
		here.ThreadID, here.TurnID = b.thread, turn.ID
		elsewhere.CreatedAt = elsewhere.CreatedAt.Add(time.Second)
		b.createImport(here)
		b.createImport(elsewhere)
		list := func(thread, turn string) (ids []string) {
			found := must.Have(b.store.ListImports(b.ctx, b.owner, thread, turn, 10))(b.t)
			for _, i := range found {
				ids = append(ids, i.ID)
			}
			return ids
		}
		b.Equal([]string{elsewhere.ID, here.ID}, list("", ""))
		b.Equal([]string{here.ID}, list(b.thread, ""))
		b.Equal([]string{here.ID}, list("", turn.ID))
		b.Empty(list(uuid.NewString(), ""))
		d := b.document(b.owner, "Rules", "capital")
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, here.Key, chat.ImportStep{State: chat.ImportReady, Outcome: chat.Imported, DocID: d.ID}, b.now()))
		b.Equal([]string{here.ID}, list(b.thread, ""))
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, d.ID))
		b.Empty(list(b.thread, ""))
	}},
	{"a conversation knows that imports are open or are to be announced", func(b *fixture) {
		turn := b.insert(b.newTurn("import this"))
		knows := func() bool {
			now := must.Have(b.store.BeginTurn(b.ctx, b.owner, turn.ID, onlyRead))(b.t)
			return now.Imports
		}
		b.False(knows())
		i := b.newImport("a")
		i.ThreadID = b.thread
		b.createImport(i)
		b.True(knows())
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, i.Key, chat.ImportStep{State: chat.ImportFailed, Code: "timeout", Message: "No."}, b.now()))
		b.False(knows())
		b.NoError(b.store.AnnounceImport(b.ctx, b.owner, i.ID, true))
		b.True(knows())
		b.NoError(b.store.AnnounceImport(b.ctx, b.owner, i.ID, false))
		b.False(knows())
	}},
	{"open imports are deleted with their conversation", func(b *fixture) {
		b.insert(b.newTurn("import this"))
		i := b.newImport("a")
		i.ThreadID = b.thread
		b.createImport(i)
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.ErrorIs(must.ErrOf(b.store.ImportByID(b.ctx, b.owner, i.ID)), db.ErrNotFound)
	}},
	{"the number of an owner's open imports is limited", func(b *fixture) {
		for range db.MaxOpenImports {
			b.createImport(b.newImport("a"))
		}
		var exceeded *db.Exceeded
		_, err := b.store.CreateImport(b.ctx, b.newImport("b"))
		b.ErrorAs(err, &exceeded)
		b.Equal(db.BoundOpenImports, exceeded.Bound)
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, b.newImport("a").Key, chat.ImportStep{State: chat.ImportFailed, Code: "x"}, b.now()))
		b.createImport(b.newImport("b"))
	}},
	{"of imports that begin at once, no more are open than the bound", func(b *fixture) {
		began := b.admitted(db.MaxOpenImports+10, func() error {
			_, err := b.store.CreateImport(b.ctx, b.newImport(uuid.NewString()))
			return err
		})
		b.Equal(db.MaxOpenImports, began)
	}},
	{"somebody else's import is not found and does not advance", func(b *fixture) {
		i := b.createImport(b.newImport("a"))
		b.ErrorIs(must.ErrOf(b.store.ImportByID(b.ctx, "stranger", i.ID)), db.ErrNotFound)
		b.NoError(b.store.AdvanceImports(b.ctx, "stranger", i.Key, chat.ImportStep{State: chat.ImportFailed, Code: "x"}, b.now()))
		b.NoError(b.store.AnnounceImport(b.ctx, "stranger", i.ID, true))
		b.Equal(chat.ImportLooking, b.readImport(i.ID).State)
		b.False(b.readImport(i.ID).Announce)
		taken := b.newImport("b")
		taken.ID, taken.Owner = i.ID, "stranger"
		b.ErrorIs(must.ErrOf(b.store.CreateImport(b.ctx, taken)), db.ErrNotFound)
	}},
	{"a document is stored only while its import is open, so never for a deleted user", func(b *fixture) {
		i := b.createImport(b.newImport("a"))
		store := b.store.Within(db.Bounds{Import: i.Key})
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Rules", Format: "txt", SourceType: chat.SourceDrive, ExternalID: "a", SourceVersion: "1"}
		id := must.Have(store.PutImport(b.ctx, d, []byte("old")))(b.t)
		b.Equal(d.ID, id)
		strangers := d
		strangers.ID, strangers.Owner = uuid.NewString(), uuid.NewString()
		_, err := store.PutImport(b.ctx, strangers, []byte("x"))
		b.ErrorIs(err, db.ErrNotFound, "an import of somebody else")

		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.ErrorIs(must.ErrOf(store.PutImport(b.ctx, d, []byte("late"))), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(b.store.ImportedDocument(b.ctx, b.owner, d.SourceType, d.ExternalID)), db.ErrNotFound)
	}},
	{"a document of a failed import is not stored", func(b *fixture) {
		i := b.createImport(b.newImport("a"))
		b.NoError(b.store.AdvanceImports(b.ctx, b.owner, i.Key, chat.ImportStep{State: chat.ImportFailed, Code: "internal"}, b.now()))
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Rules", Format: "txt", SourceType: chat.SourceDrive, ExternalID: "a", SourceVersion: "1"}
		b.ErrorIs(must.ErrOf(b.store.Within(db.Bounds{Import: i.Key}).PutImport(b.ctx, d, []byte("late"))), db.ErrNotFound)
	}},
	{"the text of a version that was replaced is refused", func(b *fixture) {
		d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Rules", Format: "txt", SourceType: chat.SourceDrive, ExternalID: "a", SourceVersion: "1"}
		must.Have(b.store.PutImport(b.ctx, d, []byte("old")))(b.t)
		d.SourceVersion = "2"
		must.Have(b.store.PutImport(b.ctx, d, []byte("new")))(b.t)
		text, chunks := cut(d.ID, "old")
		b.ErrorIs(b.store.StoreVersion(b.ctx, b.owner, d.ID, "1", db.OwnNames{}, text, chunks, "", nil), db.ErrOutdated)
		b.ErrorIs(b.store.FailVersion(b.ctx, b.owner, d.ID, "1", "The old one is encrypted."), db.ErrOutdated)
		_, raw, err := b.store.RawDocument(b.ctx, b.owner, d.ID)
		b.NoError(err)
		b.Equal("new", string(raw))
		text, chunks = cut(d.ID, "new")
		b.NoError(b.store.StoreVersion(b.ctx, b.owner, d.ID, "2", db.OwnNames{}, text, chunks, "", nil))
		got := must.Have(b.store.DocumentText(b.ctx, b.owner, d.ID))(b.t)
		b.Equal(text, got)
	}},
}
