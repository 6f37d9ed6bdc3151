package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// property is one row of every kind that an owner can have.
type property struct {
	settled, open chat.Turn
	doc           chat.Document
	processing    chat.Document
	set           chat.DocumentSet
	messageID     string
	used, unused  chat.Attachment
	board         string
	key           db.Key
	share         db.Share
}

func (b *fixture) property() property {
	b.t.Helper()
	p := property{
		doc:        b.document(b.owner, "Private", "apple pie"),
		processing: b.upload(b.owner, "Later", []byte("raw")),
	}
	p.used, p.unused = b.attachment(b.owner, "used"), b.attachment(b.owner, "unused")
	p.settled = b.insert(b.showing(p.used.ID))
	b.mark(p.settled.ID, chat.TurnRunning, chat.RootCheckpoint)
	p.settled.Parent = chat.RootCheckpoint
	b.NoError(b.store.PutText(b.ctx, b.owner, p.settled.ID, "piece:1", "x"))
	s := b.ending(p.settled, "answer")
	s.Registry, s.Approvals = []string{p.doc.ID}, []string{"draw"}
	b.settle(s)
	must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("repo"), "digest", nil))(b.t)
	p.open = b.running("more", p.settled.ID)
	b.NoError(b.store.PutText(b.ctx, b.owner, p.open.ID, "piece:1", "x"))
	b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: p.open.ID, Piece: 1, Attempt: 1, Text: "x"}))
	p.set = chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Set", DocIDs: []string{p.doc.ID}}
	b.NoError(b.store.CreateSet(b.ctx, p.set))
	b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "banking"}))
	must.Have(b.store.EndSessions(b.ctx, b.owner))(b.t)
	b.NoError(b.store.PutConnection(b.ctx, b.account("sealed"), false))
	p.key = db.Key{ID: uuid.NewString(), Owner: b.owner, Name: "Private", Digest: uuid.NewString()}
	b.NoError(b.store.CreateKey(b.ctx, p.key))
	p.share = b.share("Private")
	b.NoError(b.store.CreateShare(b.ctx, p.share))
	b.NoError(b.store.PutFeedback(b.ctx, db.Feedback{Owner: b.owner, ThreadID: b.thread, TurnID: p.settled.ID, Good: true, Reason: "Private", UpdatedAt: b.now()}))
	p.board = b.newBoard("Private").ID
	p.messageID = b.history("", "", 1).Messages[0].ID
	return p
}

// pictureIn returns a new picture that names another owner's conversation.
func pictureIn(thread, owner string) chat.Attachment {
	return chat.Attachment{ID: uuid.NewString(), Owner: owner, ThreadID: thread, MIME: "image/png"}
}

// notFoundFor returns calls about another owner's rows that must return ErrNotFound.
func notFoundFor(b *fixture, stranger string, p property) map[string]func() error {
	return map[string]func() error{
		"CreateConversation": func() error {
			return must.ErrOf(b.store.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: stranger}))
		},
		"Connection":       func() error { return must.ErrOf(b.store.Connection(b.ctx, stranger, "google")) },
		"DeleteConnection": func() error { return b.store.DeleteConnection(b.ctx, stranger, "google") },
		"DeleteKey":        func() error { return b.store.DeleteKey(b.ctx, stranger, p.key.ID) },
		"Board":            func() error { return must.ErrOf(b.store.Board(b.ctx, stranger, p.board)) },
		"CreateBoard": func() error {
			return b.store.CreateBoard(b.ctx, db.Board{ID: p.board, Owner: stranger, Content: []byte("{}")})
		},
		"PutBoard": func() error {
			return must.ErrOf(b.store.PutBoard(b.ctx, db.Board{ID: p.board, Owner: stranger, Revision: 1, Content: []byte("{}")}))
		},
		"DeleteBoard":  func() error { return b.store.DeleteBoard(b.ctx, stranger, p.board) },
		"RestoreBoard": func() error { return b.store.RestoreBoard(b.ctx, stranger, p.board) },
		"Conversation": func() error { return must.ErrOf(b.store.Conversation(b.ctx, stranger, b.thread)) },
		"ChangeConversation": func() error {
			return must.ErrOf(b.store.ChangeConversation(b.ctx, stranger, b.thread, db.ConversationChange{Title: new("taken"), Pinned: new(true)}))
		},
		"CreateShare": func() error {
			return b.store.CreateShare(b.ctx, db.Share{ID: uuid.NewString(), Owner: stranger, ThreadID: b.thread, Digest: uuid.NewString(), Content: []byte("[]")})
		},
		"DeleteShare": func() error { return b.store.DeleteShare(b.ctx, stranger, b.thread, p.share.ID) },
		"PutFeedback": func() error {
			return b.store.PutFeedback(b.ctx, db.Feedback{Owner: stranger, ThreadID: b.thread, TurnID: p.settled.ID, Reason: "taken"})
		},
		"DeleteFeedback":     func() error { return b.store.DeleteFeedback(b.ctx, stranger, b.thread, p.settled.ID) },
		"DeleteConversation": func() error { return b.store.DeleteConversation(b.ctx, stranger, b.thread) },
		"InsertTurn into the thread": func() error {
			t := b.newTurn("intrusion")
			t.Owner = stranger
			_, _, _, err := b.store.InsertTurn(b.ctx, t)
			return err
		},
		"InsertTurn under the turn's id": func() error {
			t := b.newTurn("intrusion")
			t.ID, t.Owner, t.ThreadID = p.open.ID, stranger, uuid.NewString()
			_, _, _, err := b.store.InsertTurn(b.ctx, t)
			return err
		},
		"DropTurn":       func() error { return b.store.DropTurn(b.ctx, stranger, p.open.ID, time.Now()) },
		"DropWaiting":    func() error { return b.store.DropWaiting(b.ctx, stranger, []string{p.open.ID}) },
		"Turn":           func() error { return must.ErrOf(b.store.Turn(b.ctx, stranger, p.open.ID)) },
		"FindTurn by id": func() error { return must.ErrOf(b.store.FindTurn(b.ctx, stranger, db.CancelRef{TurnID: p.open.ID})) },
		"FindTurn by client id": func() error {
			return must.ErrOf(b.store.FindTurn(b.ctx, stranger, db.CancelRef{ClientTurnID: p.open.ClientTurnID}))
		},
		"FindTurn by client id and thread": func() error {
			return must.ErrOf(b.store.FindTurn(b.ctx, stranger, db.CancelRef{ThreadID: b.thread, ClientTurnID: p.open.ClientTurnID}))
		},
		"FindTurn by stream run": func() error {
			return must.ErrOf(b.store.FindTurn(b.ctx, stranger, db.CancelRef{StreamRunID: p.open.StreamRunID}))
		},
		"MarkTurn":                  func() error { return b.store.MarkTurn(b.ctx, stranger, p.open.ID, chat.TurnInterrupted, "") },
		"MarkAsking":                func() error { return b.store.MarkAsking(b.ctx, stranger, p.open.ID, chat.ToolApproval, "") },
		"PutText":                   func() error { return b.store.PutText(b.ctx, stranger, p.open.ID, "piece:1", "taken") },
		"PutText of a settled turn": func() error { return b.store.PutText(b.ctx, stranger, p.settled.ID, "piece:1", "taken") },
		"Texts":                     func() error { return must.ErrOf(b.store.Texts(b.ctx, stranger, p.open.ID)) },
		"SaveDraft": func() error {
			return b.store.SaveDraft(b.ctx, stranger, db.Draft{TurnID: p.open.ID, Piece: 1, Attempt: 9, Text: "taken"})
		},
		"Draft": func() error { return must.ErrOf(b.store.Draft(b.ctx, stranger, p.open.ID, 1)) },
		"Settle": func() error {
			s := b.ending(p.open, "taken")
			s.Owner = stranger
			_, err := b.store.Settle(b.ctx, s)
			return err
		},
		"Settle of a settled turn": func() error {
			s := b.ending(p.settled, "taken")
			s.Owner = stranger
			_, err := b.store.Settle(b.ctx, s)
			return err
		},
		"Events":              func() error { return must.ErrOf(b.store.Events(b.ctx, stranger, p.settled.ID, 0)) },
		"History":             func() error { return must.ErrOf(b.store.History(b.ctx, stranger, b.thread, "", "", 10)) },
		"History from a head": func() error { return must.ErrOf(b.store.History(b.ctx, stranger, b.thread, p.settled.ID, "", 10)) },
		"Head":                func() error { return must.ErrOf(b.store.Head(b.ctx, stranger, b.thread)) },
		"TurnOfMessage":       func() error { return must.ErrOf(b.store.TurnOfMessage(b.ctx, stranger, b.thread, p.messageID)) },
		"Approvals":           func() error { return must.ErrOf(b.store.Approvals(b.ctx, stranger, b.thread, p.settled.ID)) },
		"PutAttachment under the picture's id": func() error {
			return b.store.PutAttachment(b.ctx, chat.Attachment{ID: p.used.ID, Owner: stranger, MIME: "image/png"}, []byte("taken"))
		},
		"PutAttachment into the thread": func() error { return b.store.PutAttachment(b.ctx, pictureIn(b.thread, stranger), []byte("intrusion")) },
		"Attachment": func() error {
			_, _, err := b.store.Attachment(b.ctx, stranger, p.used.ID)
			return err
		},
		"UseAttachments": func() error { return b.store.UseAttachments(b.ctx, stranger, b.thread, []string{p.unused.ID}) },
		"Repo":           func() error { return must.ErrOf(b.store.Repo(b.ctx, stranger, b.thread)) },
		"PutRepo":        func() error { return must.ErrOf(b.store.PutRepo(b.ctx, stranger, b.thread, []byte("taken"), "d", nil)) },
		"Recent":         func() error { return must.ErrOf(b.store.Recent(b.ctx, stranger, b.thread, p.settled.ID, 10)) },
		"Registry":       func() error { return must.ErrOf(b.store.Registry(b.ctx, stranger, b.thread, p.settled.ID)) },
		"OpenTurns":      func() error { return must.ErrOf(b.store.OpenTurns(b.ctx, stranger, b.thread)) },
		"CreateDocument": func() error {
			return b.store.CreateDocument(b.ctx, chat.Document{ID: p.doc.ID, Owner: stranger, Title: "taken"}, []byte("taken"))
		},
		"PutImport": func() error {
			taken := p.processing
			taken.Owner, taken.Title, taken.SourceVersion = stranger, "taken", "taken"
			_, err := b.store.PutImport(b.ctx, taken, []byte("taken"))
			return err
		},
		"ImportedDocument": func() error {
			return must.ErrOf(b.store.ImportedDocument(b.ctx, stranger, p.processing.SourceType, p.processing.ExternalID))
		},
		"RawDocument": func() error {
			_, _, err := b.store.RawDocument(b.ctx, stranger, p.processing.ID)
			return err
		},
		"Original":         func() error { return must.ErrOf(b.store.Original(b.ctx, stranger, p.doc.ID)) },
		"DocumentProgress": func() error { return b.store.DocumentProgress(b.ctx, stranger, p.processing.ID, 50) },
		"SetDocumentPages": func() error { return b.store.SetDocumentPages(b.ctx, stranger, p.processing.ID, 5, 3) },
		"StoreText": func() error {
			text, chunks := cut(p.doc.ID, "taken")
			return b.store.StoreText(b.ctx, stranger, p.doc.ID, text, chunks, nil)
		},
		"FailDocument":   func() error { return b.store.FailDocument(b.ctx, stranger, p.processing.ID, "taken") },
		"FailVersion":    func() error { return b.store.FailVersion(b.ctx, stranger, p.processing.ID, "", "taken") },
		"Document":       func() error { return must.ErrOf(b.store.Document(b.ctx, stranger, p.doc.ID)) },
		"RenameDocument": func() error { return b.store.RenameDocument(b.ctx, stranger, p.doc.ID, "taken") },
		"MoveDocument":   func() error { return b.store.MoveDocument(b.ctx, stranger, p.doc.ID, "") },
		"DeleteDocument": func() error { return b.store.DeleteDocument(b.ctx, stranger, p.doc.ID) },
		"DocumentText":   func() error { return must.ErrOf(b.store.DocumentText(b.ctx, stranger, p.doc.ID)) },
		"Chunk":          func() error { return must.ErrOf(b.store.Chunk(b.ctx, stranger, p.doc.ID, chunkID(p.doc.ID, 0))) },
		"DocumentChunks": func() error { return must.ErrOf(b.store.DocumentChunks(b.ctx, stranger, p.doc.ID, 9)) },
		"CreateSet under the set's id": func() error {
			return b.store.CreateSet(b.ctx, chat.DocumentSet{ID: p.set.ID, Owner: stranger, Name: "taken"})
		},
		"CreateSet of the documents": func() error {
			return b.store.CreateSet(b.ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: stranger, DocIDs: []string{p.doc.ID}})
		},
		"UpdateSet": func() error {
			return b.store.UpdateSet(b.ctx, chat.DocumentSet{ID: p.set.ID, Owner: stranger, Name: "taken"})
		},
		"DeleteSet": func() error { return b.store.DeleteSet(b.ctx, stranger, p.set.ID) },
	}
}

// emptyFor returns lists and searches that must be empty for a stranger.
func emptyFor(b *fixture, stranger string, p property) map[string]func() (int, error) {
	return map[string]func() (int, error){
		"ListConversations":         func() (int, error) { return items(b.store.ListConversations(b.ctx, stranger, "", "", 100)) },
		"ListConversations by text": func() (int, error) { return items(b.store.ListConversations(b.ctx, stranger, "hello", "", 100)) },
		"ArchivedConversations":     func() (int, error) { return items(b.store.ArchivedConversations(b.ctx, stranger, "", 100)) },
		"Shares":                    func() (int, error) { return length(b.store.Shares(b.ctx, stranger)) },
		"Feedback":                  func() (int, error) { return length(b.store.Feedback(b.ctx, stranger, b.thread)) },
		"RetitleConversation": func() (int, error) {
			return 0, b.store.RetitleConversation(b.ctx, stranger, b.thread, b.title(), "taken")
		},
		"ListDocuments":    func() (int, error) { return items(b.store.ListDocuments(b.ctx, stranger, "", 100)) },
		"VisibleDocuments": func() (int, error) { return length(b.store.VisibleDocuments(b.ctx, stranger)) },
		"DocumentsByID": func() (int, error) {
			return length(b.store.DocumentsByID(b.ctx, stranger, []string{p.doc.ID, p.processing.ID}))
		},
		"ChunksByID": func() (int, error) {
			return length(b.store.ChunksByID(b.ctx, stranger, []string{chunkID(p.doc.ID, 0)}))
		},
		"SearchText": func() (int, error) { return length(b.store.SearchText(b.ctx, stranger, db.Words("apple"), nil, 10)) },
		"SearchText in the document": func() (int, error) {
			return length(b.store.SearchText(b.ctx, stranger, db.Words("apple"), []string{p.doc.ID}, 10))
		},
		"WordCounts": func() (int, error) {
			counts, total, err := b.store.WordCounts(b.ctx, stranger, []string{"apple"})
			return counts["apple"] + total, err
		},
		"ListSets":   func() (int, error) { return items(b.store.ListSets(b.ctx, stranger, "", 100)) },
		"ListBoards": func() (int, error) { return items(b.store.ListBoards(b.ctx, stranger, "", 100)) },
		"SetsByID":   func() (int, error) { return length(b.store.SetsByID(b.ctx, stranger, []string{p.set.ID})) },
		"AttachmentsByID": func() (int, error) {
			return length(b.store.AttachmentsByID(b.ctx, stranger, []string{p.used.ID, p.unused.ID}))
		},
		"UnusedAttachments": func() (int, error) {
			number, bytes, err := b.store.UnusedAttachments(b.ctx, stranger)
			return number + int(bytes), err
		},
		"Logs": func() (int, error) { return length(b.store.Logs(b.ctx, stranger, []string{p.settled.ID, p.open.ID})) },
		"CountOpenTurns": func() (int, error) {
			here, busy, err := b.store.CountOpenTurns(b.ctx, stranger, p.open.ThreadID)
			return here + busy, err
		},
		"BusyThreads": func() (int, error) { return length(b.store.BusyThreads(b.ctx, stranger, 10)) },
		"Connections": func() (int, error) { return length(b.store.Connections(b.ctx, stranger)) },
		"Keys":        func() (int, error) { return length(b.store.Keys(b.ctx, stranger)) },
		"TurnsOfRun":  func() (int, error) { return length(b.store.TurnsOfRun(b.ctx, stranger, p.open.StreamRunID)) },
		"Profile": func() (int, error) {
			profile, err := b.store.Profile(b.ctx, stranger)
			return len(profile.Industry) + len(profile.Location), err
		},
		"SessionGeneration": func() (int, error) {
			generation, err := b.store.SessionGeneration(b.ctx, stranger)
			return int(generation), err
		},
	}
}

func items[T any](page db.Page[T], err error) (int, error) { return len(page.Items), err }

func length[S ~[]T, T any](list S, err error) (int, error) { return len(list), err }

var ownerTests = []test{
	{"another owner's rows are not found and not changed", func(b *fixture) {
		p := b.property()
		before := b.view(p)
		for _, stranger := range []string{uuid.NewString(), "", chat.PublicOwner, "%"} {
			for name, call := range notFoundFor(b, stranger, p) {
				b.ErrorIs(call(), db.ErrNotFound, "%s as %q", name, stranger)
			}
			for name, call := range emptyFor(b, stranger, p) {
				n, err := call()
				b.NoError(err, "%s as %q", name, stranger)
				b.Zero(n, "%s as %q", name, stranger)
			}
		}
		b.Equal(before, b.view(p))
	}},
	{"a message cannot assign another owner's picture to its thread", func(b *fixture) {
		a := b.attachment(b.owner, "x")
		t := b.showing(a.ID)
		t.Owner, t.ThreadID = uuid.NewString(), uuid.NewString()
		b.insert(t)
		b.Empty(b.stored(a.ID, "x").ThreadID)
	}},
	{"a cancel does not match another owner's turn", func(b *fixture) {
		t := b.sentAt(time.Now())
		for _, ref := range []db.CancelRef{{TurnID: t.ID}, {ClientTurnID: t.ClientTurnID}, {ThreadID: b.thread, ClientTurnID: t.ClientTurnID}, {StreamRunID: t.StreamRunID}} {
			b.NoError(b.store.Cancel(b.ctx, uuid.NewString(), ref, chat.UserCancelled))
		}
		_, _, cancelled, err := b.store.InsertTurn(b.ctx, t)
		b.NoError(err)
		b.False(cancelled)
	}},
}

// view reads everything that the owner can see of their property.
func (b *fixture) view(p property) []any {
	b.t.Helper()
	var seen []any
	see := func(v any, err error) {
		b.t.Helper()
		b.NoError(err)
		seen = append(seen, v)
	}
	see(b.store.Conversation(b.ctx, b.owner, b.thread))
	see(b.store.Turn(b.ctx, b.owner, p.open.ID))
	see(b.store.Texts(b.ctx, b.owner, p.open.ID))
	see(b.store.Draft(b.ctx, b.owner, p.open.ID, 1))
	see(b.store.Events(b.ctx, b.owner, p.settled.ID, 0))
	see(b.store.Logs(b.ctx, b.owner, []string{p.settled.ID}))
	see(b.store.History(b.ctx, b.owner, b.thread, "", "", 10))
	see(b.store.Registry(b.ctx, b.owner, b.thread, p.settled.ID))
	see(b.store.OpenTurns(b.ctx, b.owner, b.thread))
	see(b.store.ListDocuments(b.ctx, b.owner, "", 100))
	see(b.store.DocumentText(b.ctx, b.owner, p.doc.ID))
	see(b.store.DocumentChunks(b.ctx, b.owner, p.doc.ID, 9))
	see(b.store.ListSets(b.ctx, b.owner, "", 100))
	see(b.store.Board(b.ctx, b.owner, p.board))
	see(b.store.Profile(b.ctx, b.owner))
	see(b.store.SessionGeneration(b.ctx, b.owner))
	see(b.store.Connections(b.ctx, b.owner))
	see(b.store.Keys(b.ctx, b.owner))
	see(b.store.Shares(b.ctx, b.owner))
	see(b.store.Feedback(b.ctx, b.owner, b.thread))
	see(b.store.TurnsOfRun(b.ctx, b.owner, p.open.StreamRunID))
	see(b.store.Approvals(b.ctx, b.owner, b.thread, p.settled.ID))
	see(b.store.AttachmentsByID(b.ctx, b.owner, []string{p.used.ID, p.unused.ID}))
	see(b.store.Repo(b.ctx, b.owner, b.thread))
	_, raw, err := b.store.RawDocument(b.ctx, b.owner, p.processing.ID)
	see(raw, err)
	return seen
}
