package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
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
	_, err := b.store.PutRepo(b.ctx, b.owner, b.thread, []byte("repo"), "digest", nil)
	b.NoError(err)
	p.open = b.running("more", p.settled.ID)
	b.NoError(b.store.PutText(b.ctx, b.owner, p.open.ID, "piece:1", "x"))
	b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: p.open.ID, Piece: 1, Attempt: 1, Text: "x"}))
	p.set = chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: "Set", DocIDs: []string{p.doc.ID}}
	b.NoError(b.store.CreateSet(b.ctx, p.set))
	b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "banking"}))
	_, err = b.store.EndSessions(b.ctx, b.owner)
	b.NoError(err)
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

// notFoundFor are calls about another owner's rows that must return ErrNotFound.
var notFoundFor = map[string]func(b *fixture, stranger string, p property) error{
	"CreateConversation": func(b *fixture, stranger string, p property) error {
		_, err := b.store.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: stranger})
		return err
	},
	"Connection": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Connection(b.ctx, stranger, "google")
		return err
	},
	"DeleteConnection": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteConnection(b.ctx, stranger, "google")
	},
	"DeleteKey": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteKey(b.ctx, stranger, p.key.ID)
	},
	"Board": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Board(b.ctx, stranger, p.board)
		return err
	},
	"CreateBoard": func(b *fixture, stranger string, p property) error {
		return b.store.CreateBoard(b.ctx, db.Board{ID: p.board, Owner: stranger, Content: []byte("{}")})
	},
	"PutBoard": func(b *fixture, stranger string, p property) error {
		_, err := b.store.PutBoard(b.ctx, db.Board{ID: p.board, Owner: stranger, Revision: 1, Content: []byte("{}")})
		return err
	},
	"DeleteBoard": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteBoard(b.ctx, stranger, p.board)
	},
	"RestoreBoard": func(b *fixture, stranger string, p property) error {
		return b.store.RestoreBoard(b.ctx, stranger, p.board)
	},
	"Conversation": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Conversation(b.ctx, stranger, b.thread)
		return err
	},
	"ChangeConversation": func(b *fixture, stranger string, p property) error {
		_, err := b.store.ChangeConversation(b.ctx, stranger, b.thread, db.ConversationChange{Title: new("taken"), Pinned: new(true)})
		return err
	},
	"CreateShare": func(b *fixture, stranger string, p property) error {
		return b.store.CreateShare(b.ctx, db.Share{ID: uuid.NewString(), Owner: stranger, ThreadID: b.thread, Digest: uuid.NewString(), Content: []byte("[]")})
	},
	"DeleteShare": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteShare(b.ctx, stranger, b.thread, p.share.ID)
	},
	"PutFeedback": func(b *fixture, stranger string, p property) error {
		return b.store.PutFeedback(b.ctx, db.Feedback{Owner: stranger, ThreadID: b.thread, TurnID: p.settled.ID, Reason: "taken"})
	},
	"DeleteFeedback": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteFeedback(b.ctx, stranger, b.thread, p.settled.ID)
	},
	"DeleteConversation": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteConversation(b.ctx, stranger, b.thread)
	},
	"InsertTurn into the thread": func(b *fixture, stranger string, p property) error {
		t := b.newTurn("intrusion")
		t.Owner = stranger
		_, _, _, err := b.store.InsertTurn(b.ctx, t)
		return err
	},
	"InsertTurn under the turn's id": func(b *fixture, stranger string, p property) error {
		t := b.newTurn("intrusion")
		t.ID, t.Owner, t.ThreadID = p.open.ID, stranger, uuid.NewString()
		_, _, _, err := b.store.InsertTurn(b.ctx, t)
		return err
	},
	"DropTurn": func(b *fixture, stranger string, p property) error {
		return b.store.DropTurn(b.ctx, stranger, p.open.ID, time.Now())
	},
	"Turn": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Turn(b.ctx, stranger, p.open.ID)
		return err
	},
	"FindTurn by id": func(b *fixture, stranger string, p property) error {
		_, err := b.store.FindTurn(b.ctx, stranger, db.CancelRef{TurnID: p.open.ID})
		return err
	},
	"FindTurn by client id": func(b *fixture, stranger string, p property) error {
		_, err := b.store.FindTurn(b.ctx, stranger, db.CancelRef{ClientTurnID: p.open.ClientTurnID})
		return err
	},
	"FindTurn by client id and thread": func(b *fixture, stranger string, p property) error {
		_, err := b.store.FindTurn(b.ctx, stranger, db.CancelRef{ThreadID: b.thread, ClientTurnID: p.open.ClientTurnID})
		return err
	},
	"FindTurn by stream run": func(b *fixture, stranger string, p property) error {
		_, err := b.store.FindTurn(b.ctx, stranger, db.CancelRef{StreamRunID: p.open.StreamRunID})
		return err
	},
	"MarkTurn": func(b *fixture, stranger string, p property) error {
		return b.store.MarkTurn(b.ctx, stranger, p.open.ID, chat.TurnInterrupted, "")
	},
	"PutText": func(b *fixture, stranger string, p property) error {
		return b.store.PutText(b.ctx, stranger, p.open.ID, "piece:1", "taken")
	},
	"PutText of a settled turn": func(b *fixture, stranger string, p property) error {
		return b.store.PutText(b.ctx, stranger, p.settled.ID, "piece:1", "taken")
	},
	"Texts": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Texts(b.ctx, stranger, p.open.ID)
		return err
	},
	"SaveDraft": func(b *fixture, stranger string, p property) error {
		return b.store.SaveDraft(b.ctx, stranger, db.Draft{TurnID: p.open.ID, Piece: 1, Attempt: 9, Text: "taken"})
	},
	"Draft": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Draft(b.ctx, stranger, p.open.ID, 1)
		return err
	},
	"Settle": func(b *fixture, stranger string, p property) error {
		s := b.ending(p.open, "taken")
		s.Owner = stranger
		_, err := b.store.Settle(b.ctx, s)
		return err
	},
	"Settle of a settled turn": func(b *fixture, stranger string, p property) error {
		s := b.ending(p.settled, "taken")
		s.Owner = stranger
		_, err := b.store.Settle(b.ctx, s)
		return err
	},
	"Events": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Events(b.ctx, stranger, p.settled.ID, 0)
		return err
	},
	"History": func(b *fixture, stranger string, p property) error {
		_, err := b.store.History(b.ctx, stranger, b.thread, "", "", 10)
		return err
	},
	"History from a head": func(b *fixture, stranger string, p property) error {
		_, err := b.store.History(b.ctx, stranger, b.thread, p.settled.ID, "", 10)
		return err
	},
	"Head": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Head(b.ctx, stranger, b.thread)
		return err
	},
	"TurnOfMessage": func(b *fixture, stranger string, p property) error {
		_, err := b.store.TurnOfMessage(b.ctx, stranger, b.thread, p.messageID)
		return err
	},
	"Approvals": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Approvals(b.ctx, stranger, b.thread, p.settled.ID)
		return err
	},
	"PutAttachment under the picture's id": func(b *fixture, stranger string, p property) error {
		return b.store.PutAttachment(b.ctx, chat.Attachment{ID: p.used.ID, Owner: stranger, MIME: "image/png"}, []byte("taken"))
	},
	"PutAttachment into the thread": func(b *fixture, stranger string, p property) error {
		return b.store.PutAttachment(b.ctx, pictureIn(b.thread, stranger), []byte("intrusion"))
	},
	"Attachment": func(b *fixture, stranger string, p property) error {
		_, _, err := b.store.Attachment(b.ctx, stranger, p.used.ID)
		return err
	},
	"UseAttachments": func(b *fixture, stranger string, p property) error {
		return b.store.UseAttachments(b.ctx, stranger, b.thread, []string{p.unused.ID})
	},
	"Repo": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Repo(b.ctx, stranger, b.thread)
		return err
	},
	"PutRepo": func(b *fixture, stranger string, p property) error {
		_, err := b.store.PutRepo(b.ctx, stranger, b.thread, []byte("taken"), "d", nil)
		return err
	},
	"Recent": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Recent(b.ctx, stranger, b.thread, p.settled.ID, 10)
		return err
	},
	"Registry": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Registry(b.ctx, stranger, b.thread, p.settled.ID)
		return err
	},
	"OpenTurns": func(b *fixture, stranger string, p property) error {
		_, err := b.store.OpenTurns(b.ctx, stranger, b.thread)
		return err
	},
	"CreateDocument": func(b *fixture, stranger string, p property) error {
		return b.store.CreateDocument(b.ctx, chat.Document{ID: p.doc.ID, Owner: stranger, Title: "taken"}, []byte("taken"))
	},
	"PutImport": func(b *fixture, stranger string, p property) error {
		taken := p.processing
		taken.Owner, taken.Title, taken.SourceVersion = stranger, "taken", "taken"
		_, err := b.store.PutImport(b.ctx, taken, []byte("taken"))
		return err
	},
	"ImportedDocument": func(b *fixture, stranger string, p property) error {
		_, err := b.store.ImportedDocument(b.ctx, stranger, p.processing.SourceType, p.processing.ExternalID)
		return err
	},
	"RawDocument": func(b *fixture, stranger string, p property) error {
		_, _, err := b.store.RawDocument(b.ctx, stranger, p.processing.ID)
		return err
	},
	"Original": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Original(b.ctx, stranger, p.doc.ID)
		return err
	},
	"DocumentProgress": func(b *fixture, stranger string, p property) error {
		return b.store.DocumentProgress(b.ctx, stranger, p.processing.ID, 50)
	},
	"SetDocumentPages": func(b *fixture, stranger string, p property) error {
		return b.store.SetDocumentPages(b.ctx, stranger, p.processing.ID, 5, 3)
	},
	"StoreText": func(b *fixture, stranger string, p property) error {
		text, chunks := cut(p.doc.ID, "taken")
		return b.store.StoreText(b.ctx, stranger, p.doc.ID, text, chunks, nil)
	},
	"FailDocument": func(b *fixture, stranger string, p property) error {
		return b.store.FailDocument(b.ctx, stranger, p.processing.ID, "taken")
	},
	"FailVersion": func(b *fixture, stranger string, p property) error {
		return b.store.FailVersion(b.ctx, stranger, p.processing.ID, "", "taken")
	},
	"Document": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Document(b.ctx, stranger, p.doc.ID)
		return err
	},
	"RenameDocument": func(b *fixture, stranger string, p property) error {
		return b.store.RenameDocument(b.ctx, stranger, p.doc.ID, "taken")
	},
	"DeleteDocument": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteDocument(b.ctx, stranger, p.doc.ID)
	},
	"DocumentText": func(b *fixture, stranger string, p property) error {
		_, err := b.store.DocumentText(b.ctx, stranger, p.doc.ID)
		return err
	},
	"Chunk": func(b *fixture, stranger string, p property) error {
		_, err := b.store.Chunk(b.ctx, stranger, p.doc.ID, chunkID(p.doc.ID, 0))
		return err
	},
	"DocumentChunks": func(b *fixture, stranger string, p property) error {
		_, err := b.store.DocumentChunks(b.ctx, stranger, p.doc.ID, 9)
		return err
	},
	"CreateSet under the set's id": func(b *fixture, stranger string, p property) error {
		return b.store.CreateSet(b.ctx, chat.DocumentSet{ID: p.set.ID, Owner: stranger, Name: "taken"})
	},
	"CreateSet of the documents": func(b *fixture, stranger string, p property) error {
		return b.store.CreateSet(b.ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: stranger, DocIDs: []string{p.doc.ID}})
	},
	"UpdateSet": func(b *fixture, stranger string, p property) error {
		return b.store.UpdateSet(b.ctx, chat.DocumentSet{ID: p.set.ID, Owner: stranger, Name: "taken"})
	},
	"DeleteSet": func(b *fixture, stranger string, p property) error {
		return b.store.DeleteSet(b.ctx, stranger, p.set.ID)
	},
}

// emptyFor are lists and searches that must be empty for a stranger.
var emptyFor = map[string]func(b *fixture, stranger string, p property) (int, error){
	"ListConversations": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ListConversations(b.ctx, stranger, "", "", 100)
		return len(page.Items), err
	},
	"ListConversations by text": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ListConversations(b.ctx, stranger, "hello", "", 100)
		return len(page.Items), err
	},
	"ArchivedConversations": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ArchivedConversations(b.ctx, stranger, "", 100)
		return len(page.Items), err
	},
	"Shares": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.Shares(b.ctx, stranger)
		return len(list), err
	},
	"Feedback": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.Feedback(b.ctx, stranger, b.thread)
		return len(list), err
	},
	"RetitleConversation": func(b *fixture, stranger string, p property) (int, error) {
		return 0, b.store.RetitleConversation(b.ctx, stranger, b.thread, b.title(), "taken")
	},
	"ListDocuments": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ListDocuments(b.ctx, stranger, "", 100)
		return len(page.Items), err
	},
	"VisibleDocuments": func(b *fixture, stranger string, p property) (int, error) {
		docs, err := b.store.VisibleDocuments(b.ctx, stranger)
		return len(docs), err
	},
	"DocumentsByID": func(b *fixture, stranger string, p property) (int, error) {
		docs, err := b.store.DocumentsByID(b.ctx, stranger, []string{p.doc.ID, p.processing.ID})
		return len(docs), err
	},
	"ChunksByID": func(b *fixture, stranger string, p property) (int, error) {
		hits, err := b.store.ChunksByID(b.ctx, stranger, []string{chunkID(p.doc.ID, 0)})
		return len(hits), err
	},
	"SearchText": func(b *fixture, stranger string, p property) (int, error) {
		hits, err := b.store.SearchText(b.ctx, stranger, db.Words("apple"), nil, 10)
		return len(hits), err
	},
	"SearchText in the document": func(b *fixture, stranger string, p property) (int, error) {
		hits, err := b.store.SearchText(b.ctx, stranger, db.Words("apple"), []string{p.doc.ID}, 10)
		return len(hits), err
	},
	"WordCounts": func(b *fixture, stranger string, p property) (int, error) {
		counts, total, err := b.store.WordCounts(b.ctx, stranger, []string{"apple"})
		return counts["apple"] + total, err
	},
	"ListSets": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ListSets(b.ctx, stranger, "", 100)
		return len(page.Items), err
	},
	"ListBoards": func(b *fixture, stranger string, p property) (int, error) {
		page, err := b.store.ListBoards(b.ctx, stranger, "", 100)
		return len(page.Items), err
	},
	"SetsByID": func(b *fixture, stranger string, p property) (int, error) {
		sets, err := b.store.SetsByID(b.ctx, stranger, []string{p.set.ID})
		return len(sets), err
	},
	"AttachmentsByID": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.AttachmentsByID(b.ctx, stranger, []string{p.used.ID, p.unused.ID})
		return len(list), err
	},
	"UnusedAttachments": func(b *fixture, stranger string, p property) (int, error) {
		number, bytes, err := b.store.UnusedAttachments(b.ctx, stranger)
		return number + int(bytes), err
	},
	"Logs": func(b *fixture, stranger string, p property) (int, error) {
		logs, err := b.store.Logs(b.ctx, stranger, []string{p.settled.ID, p.open.ID})
		return len(logs), err
	},
	"CountOpenTurns": func(b *fixture, stranger string, p property) (int, error) {
		here, busy, err := b.store.CountOpenTurns(b.ctx, stranger, p.open.ThreadID)
		return here + busy, err
	},
	"HasOpenTurns": func(b *fixture, stranger string, p property) (int, error) {
		open, err := b.store.HasOpenTurns(b.ctx, stranger, p.open.ThreadID)
		if open {
			return 1, err
		}
		return 0, err
	},
	"BusyThreads": func(b *fixture, stranger string, p property) (int, error) {
		threads, err := b.store.BusyThreads(b.ctx, stranger, 10)
		return len(threads), err
	},
	"Connections": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.Connections(b.ctx, stranger)
		return len(list), err
	},
	"Keys": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.Keys(b.ctx, stranger)
		return len(list), err
	},
	"TurnsOfRun": func(b *fixture, stranger string, p property) (int, error) {
		list, err := b.store.TurnsOfRun(b.ctx, stranger, p.open.StreamRunID)
		return len(list), err
	},
	"Profile": func(b *fixture, stranger string, p property) (int, error) {
		profile, err := b.store.Profile(b.ctx, stranger)
		return len(profile.Industry) + len(profile.Location), err
	},
	"SessionGeneration": func(b *fixture, stranger string, p property) (int, error) {
		generation, err := b.store.SessionGeneration(b.ctx, stranger)
		return int(generation), err
	},
}

var ownerTests = []test{
	{"another owner's rows are not found and not changed", func(b *fixture) {
		p := b.property()
		before := b.view(p)
		for _, stranger := range []string{uuid.NewString(), "", chat.PublicOwner, "%"} {
			for name, call := range notFoundFor {
				b.ErrorIs(call(b, stranger, p), db.ErrNotFound, "%s as %q", name, stranger)
			}
			for name, call := range emptyFor {
				n, err := call(b, stranger, p)
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
