package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

var upkeepTests = []test{
	{"old conversations are listed, but not those with an open turn, chats of boards and single turns", func(b *fixture) {
		old := b.thread
		b.exchange("hello", "hi", chat.RootCheckpoint)
		b.thread = uuid.NewString()
		open := b.thread
		b.running("a question waits", chat.RootCheckpoint)
		listed := func(before time.Time) (ids []string) {
			for after := ""; ; {
				page := must.Have(b.store.OldThreads(b.ctx, before, after, 1))(b.t)
				if len(page) == 0 {
					return ids
				}
				if after = page[0].ThreadID; page[0].Owner == b.owner {
					ids = append(ids, after)
				}
			}
		}
		b.Equal([]string{old}, listed(time.Now().Add(time.Hour)))
		b.Empty(listed(b.clock.Add(-24 * time.Hour)))
		b.NotContains(listed(time.Now().Add(time.Hour)), open)
	}},
	{"a conversation that is used after it was listed as old is not deleted", func(b *fixture) {
		later := time.Now().Add(time.Hour)
		b.exchange("hello", "hi", chat.RootCheckpoint)
		used := chat.ThreadRef{Owner: b.owner, ThreadID: b.thread}
		b.exchange("again", "hi", chat.RootCheckpoint)
		b.ErrorIs(b.store.DeleteUnusedThread(b.ctx, used, b.clock.Add(-time.Hour)), db.ErrNotFound)
		b.running("a question waits", chat.RootCheckpoint)
		b.ErrorIs(b.store.DeleteUnusedThread(b.ctx, used, later), db.ErrNotFound)
		b.thread = uuid.NewString()
		b.exchange("hello", "hi", chat.RootCheckpoint)
		of := chat.ThreadRef{Owner: b.owner, ThreadID: b.thread}
		b.ErrorIs(b.store.DeleteUnusedThread(b.ctx, chat.ThreadRef{Owner: "another", ThreadID: b.thread}, later), db.ErrNotFound)
		_, _, _, err := b.store.InsertTurn(b.ctx, b.sentAt(time.Now()))
		b.NoError(err)
		b.ErrorIs(b.store.DeleteUnusedThread(b.ctx, of, time.Now().Add(-time.Minute)), db.ErrNotFound)
		b.NoError(b.store.DeleteUnusedThread(b.ctx, of, later))
		b.ErrorIs(must.ErrOf(b.store.Conversation(b.ctx, b.owner, of.ThreadID)), db.ErrNotFound)
		b.ErrorIs(b.store.DeleteUnusedThread(b.ctx, of, later), db.ErrNotFound)
	}},
	{"imports whose document was deleted are removed when they are old", func(b *fixture) {
		kept, gone, going := b.newImport("kept"), b.newImport("gone"), b.newImport("going")
		doc, deleted := b.document(b.owner, "Rules", "capital"), b.document(b.owner, "Secret", "capital")
		for _, i := range []chat.Import{kept, gone, going} {
			b.createImport(i)
		}
		for key, id := range map[string]string{kept.Key: doc.ID, gone.Key: deleted.ID} {
			b.NoError(b.store.AdvanceImports(b.ctx, b.owner, key, chat.ImportStep{State: chat.ImportReady, Outcome: chat.Imported, DocID: id, Chunks: 1}, b.now()))
		}
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, deleted.ID))
		young := must.Have(b.store.PruneImports(b.ctx, b.clock.Add(-24*time.Hour)))(b.t)
		b.Zero(young)
		left := must.Have(b.store.LeftImports(b.ctx, time.Now().Add(time.Hour)))(b.t)
		b.Positive(left)
		removed := must.Have(b.store.PruneImports(b.ctx, time.Now().Add(time.Hour)))(b.t)
		b.Positive(removed)
		b.ErrorIs(must.ErrOf(b.store.ImportByID(b.ctx, b.owner, gone.ID)), db.ErrNotFound)
		b.readImport(kept.ID)
		b.readImport(going.ID)
	}},
	{"the data of owners is summed up, the largest first, and so is the space of tables", func(b *fixture) {
		b.exchange("hellö", "hi", chat.RootCheckpoint)
		d := b.document(b.owner, "Rules", "capital")
		stored := must.Have(b.store.Stored(b.ctx, b.owner, ""))(b.t)
		all := must.Have(b.store.UsageByOwner(b.ctx, 1<<20))(b.t)
		last := int64(1) << 62
		var mine []db.OwnerUsage
		for _, u := range all {
			b.LessOrEqual(u.Bytes+u.MessageBytes, last)
			if last = u.Bytes + u.MessageBytes; u.Owner == b.owner {
				mine = append(mine, u)
			}
		}
		b.Equal([]db.OwnerUsage{{Owner: b.owner, Threads: 1, Turns: 1, Documents: 1, MessageBytes: int64(len("hellö") + len("hi")), Bytes: stored.Bytes}}, mine)
		b.Positive(d.Bytes)
		some := must.Have(b.store.UsageByOwner(b.ctx, 1))(b.t)
		b.Equal(all[:1], some)
		tables := must.Have(b.store.UsageByTable(b.ctx))(b.t)
		bytes := map[string]int64{}
		for _, t := range tables {
			bytes[t.Table] = t.Bytes
		}
		b.Positive(bytes["messages"])
		b.Positive(bytes["chunks"])
		must.Have(b.store.Compact(b.ctx))(b.t)
	}},
	{"vectors can be indexed at any time", func(b *fixture) {
		d := b.upload(b.owner, "x", nil)
		text, chunks := cut(d.ID, "east", "north")
		b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, text, chunks, [][]float32{{1, 0}, {0, 1}}))
		b.Regexp("^(hnsw|exact): ", b.store.VectorSearch())
		for range 2 {
			b.NoError(b.store.IndexVectors(b.ctx))
			hits := must.Have(b.store.SearchVector(b.ctx, b.owner, []float32{0, 1}, nil, 1))(b.t)
			b.Equal([]string{chunkID(d.ID, 1)}, found(hits))
		}
	}},
}
