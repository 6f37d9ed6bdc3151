package dbtest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Installation is what Fill wrote: the belongings of two owners, and public documents.
type Installation struct {
	owners []belongings
}

// belongings are everything that Fill wrote for one owner.
type belongings struct {
	owner, thread, deleted string
	board, digest          string
	turns, docs, sets      []string
	pictures               []string
	pending                chat.Turn // never accepted
	deletedTurn            chat.Turn // of the deleted conversation
}

// spentAt is the time at which the turns of Fill used tokens.
var spentAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Fill writes something of every kind that a store keeps. No accepted turn is
// open.
func Fill(t *testing.T, store db.Store) Installation {
	t.Helper()
	var filled Installation
	for range 2 {
		b := newFixture(t, func(*testing.T) db.Store { return store })
		filled.owners = append(filled.owners, b.belongings())
	}
	return filled
}

func (b *fixture) belongings() belongings {
	b.t.Helper()
	all := belongings{owner: b.owner, thread: b.thread, deleted: uuid.NewString()}
	public := b.document(chat.PublicOwner, "Everybody's", "a public apple", "a public pear")
	ready := b.document(b.owner, "Größe", "apple pie\x09🌍", "pear tart")
	embedded := b.upload(b.owner, "Embedded", nil)
	text, chunks := cut(embedded.ID, "north", "east", "nowhere")
	chunks[1].Heading = "Directions"
	chunks[1].Pages = []chat.PageStart{{Page: 2, Start: chunks[1].Start}}
	b.NoError(b.store.StoreText(b.ctx, b.owner, embedded.ID, text, chunks, [][]float32{{0, 2}, {1, 0.1}, {0, 0}}))
	processing, failed := b.upload(b.owner, "Later", []byte{0, 0xff, 'x'}), b.upload(b.owner, "Broken", []byte("raw"))
	b.NoError(b.store.DocumentProgress(b.ctx, b.owner, processing.ID, 40))
	b.NoError(b.store.PutScan(b.ctx, b.owner, processing.ID, processing.SourceVersion, 2, "a scanned page"))
	b.NoError(b.store.FailDocument(b.ctx, b.owner, failed.ID, "It is encrypted."))
	all.docs = []string{public.ID, ready.ID, embedded.ID, processing.ID, failed.ID}
	anonymous := b.store.Within(db.Bounds{Anonymous: true, Address: "address of " + b.owner})
	for _, name := range []string{"One", "Two"} {
		set := chat.DocumentSet{ID: uuid.NewString(), Owner: b.owner, Name: name, DocIDs: []string{embedded.ID, public.ID}}
		b.NoError(anonymous.CreateSet(b.ctx, set))
		all.sets = append(all.sets, set.ID)
	}
	b.NoError(b.store.PutProfile(b.ctx, b.owner, chat.Profile{Industry: "banking", Location: "Köln"}))
	all.board = b.newBoard("Churn").ID
	b.canary(b.space("Team").ID)
	b.NoError(b.store.PutGroups(b.ctx, b.owner, []string{"legal"}, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
	b.NoError(b.store.PutConnection(b.ctx, db.Connection{Owner: b.owner, Provider: "google", Account: "ann@example.com", Scope: "drive", Token: "sealed"}, false))
	b.NoError(b.store.CreateKey(b.ctx, b.personalKey("Open WebUI")))
	must.Have(b.store.BeginClaim(b.ctx, b.owner, "account of "+b.owner, spentAt))(b.t)
	b.NoError(b.store.PutVectors(b.ctx, b.owner, embedded.ID, "minilm", [][]float32{{0, 2}, {1, 0.1}, {0, 0}}))
	b.NoError(b.store.SpendOnDocument(b.ctx, b.owner, ready.ID, db.Spending{Tokens: 7, CostUSD: 0.5}, spentAt))
	b.NoError(b.store.Met(b.ctx, b.owner, "ann@example.com", spentAt))
	b.NoError(b.store.AddModelUsage(b.ctx, []db.ModelUsage{{Day: spentAt, Model: "m", Calls: 1, TokensIn: 7, CostUSD: 0.5}}))

	must.Have(b.store.CreateImport(b.ctx, chat.Import{ID: uuid.NewString(), Owner: b.owner, ThreadID: "", Key: "k", Source: chat.SourceDrive, ExternalID: "e", URL: "u", Announce: true}))(b.t)
	used, unused := b.attachment(b.owner, "\x00\xff used"), b.attachment(b.owner, "unused")
	all.pictures = []string{used.ID, unused.ID}
	first := b.insert(b.showing(used.ID))
	b.mark(first.ID, chat.TurnRunning, chat.RootCheckpoint)
	first.Parent = chat.RootCheckpoint
	must.Have(b.store.PutRepo(b.ctx, b.owner, b.thread, []byte{0x1f, 0x8b, 0}, "digest", nil))(b.t)
	b.NoError(b.store.PutText(b.ctx, b.owner, first.ID, "piece:1", "x"))
	end := b.ending(first, "answer")
	end.Prompts = []db.Prompt{{ID: "q", Message: "Which?", Answer: "This.", At: b.now()}}
	end.Metadata, end.Registry, end.Title = map[string]any{"tokens_used": 7.0}, []string{ready.ID, public.ID}, "Hello"
	end.Approvals = []string{"draw"}
	b.settle(end)
	second, branch := b.exchange("more", "more of it", first.ID), b.exchange("other", "other answer", first.ID)
	rolledBack := b.running("never mind", branch)
	end = b.ending(rolledBack, "")
	end.Hidden, end.Status = true, chat.TurnCancelled
	b.settle(end)
	b.NoError(b.store.PutSummary(b.ctx, b.owner, db.Summary{TurnID: first.ID, Text: "in short", At: spentAt}))
	b.NoError(b.store.PutFeedback(b.ctx, db.Feedback{Owner: b.owner, ThreadID: b.thread, TurnID: first.ID, Reason: "Too long", Shared: true, UpdatedAt: spentAt}))
	shared := b.share("Hello")
	b.NoError(b.store.CreateShare(b.ctx, shared))
	all.digest = shared.Digest
	b.change(b.thread, db.ConversationChange{Pinned: new(true), Title: new("Mine")})
	all.turns = []string{first.ID, second, branch, rolledBack.ID}

	all.pending = b.insert(b.newTurn("not accepted"))
	b.NoError(b.store.PutText(b.ctx, b.owner, all.pending.ID, "piece:1", "x"))
	b.NoError(b.store.SaveDraft(b.ctx, b.owner, db.Draft{TurnID: all.pending.ID, Piece: 1, Attempt: 2, Text: "dra"}))
	b.NoError(b.store.Cancel(b.ctx, b.owner, db.CancelRef{StreamRunID: all.pending.StreamRunID}, chat.UserCancelled))
	b.thread = all.deleted
	all.deletedTurn = b.running("deleted", chat.RootCheckpoint)
	b.settle(b.ending(all.deletedTurn, "deleted"))
	b.NoError(b.store.DeleteConversation(b.ctx, b.owner, all.deleted))
	b.thread = all.thread
	return all
}

// Snapshot reads everything that Fill wrote, with rankings but without their scores. Equal
// stores return equal snapshots.
func (i Installation) Snapshot(t *testing.T, store db.Store) []any {
	t.Helper()
	var read []any
	for _, owner := range i.owners {
		read = append(read, owner.snapshot(t, store)...)
	}
	return read
}

func (o belongings) snapshot(t *testing.T, store db.Store) []any {
	t.Helper()
	ctx := t.Context()
	var read []any
	note := func(v any, err error) {
		t.Helper()
		require.NoError(t, err)
		read = append(read, v)
	}
	note(store.UserData(ctx, o.owner))
	note(store.Spaces(ctx, o.owner))
	note(store.Profile(ctx, o.owner))
	note(store.Claims(ctx, time.Now(), "", 100))
	note(store.DocumentsToEmbed(ctx, "minilm", "", 100))
	note(store.Stored(ctx, o.owner, ""))
	note(store.Stored(ctx, "", "address of "+o.owner))
	note(store.Spent(ctx, o.owner, "", spentAt))
	note(store.UnusedOwners(ctx, time.Now().Add(time.Hour), "", 100))
	note(store.ListConversations(ctx, o.owner, "", "", 100))
	note(store.ListConversations(ctx, o.owner, "OTHER ANSWER", "", 100))
	note(store.Conversation(ctx, o.owner, o.thread))
	note(store.Head(ctx, o.owner, o.thread))
	note(store.Texts(ctx, o.owner, o.pending.ID))
	for _, id := range o.turns {
		note(store.Turn(ctx, o.owner, id))
		note(store.Events(ctx, o.owner, id, 0))
		if id != o.turns[3] { // a rolled back turn is in no history
			note(store.History(ctx, o.owner, o.thread, id, "", 100))
			note(store.Registry(ctx, o.owner, o.thread, id))
			note(store.Summary(ctx, o.owner, o.thread, id))
			note(store.Approvals(ctx, o.owner, o.thread, id))
		}
	}
	note(store.OpenTurns(ctx, o.owner, o.thread))
	note(store.Draft(ctx, o.owner, o.pending.ID, 1))
	note(store.FindTurn(ctx, o.owner, db.CancelRef{StreamRunID: o.pending.StreamRunID}))
	note(store.Cancelled(ctx, o.pending))
	note(store.ListSets(ctx, o.owner, "", 100))
	note(store.Board(ctx, o.owner, o.board))
	note(store.Connection(ctx, o.owner, "google"))
	note(store.Keys(ctx, o.owner))
	note(store.Shares(ctx, o.owner))
	note(store.ShareByDigest(ctx, o.digest))
	note(store.Feedback(ctx, o.owner, o.thread))
	note(store.People(ctx, spentAt, "", 100))
	note(store.ModelUsage(ctx, spentAt))
	note(store.ArchivedConversations(ctx, o.owner, "", 100))
	note(store.ListDocuments(ctx, o.owner, "", 100))
	for _, id := range o.docs {
		note(store.DocumentChunks(ctx, o.owner, id, 100))
	}
	for _, id := range o.docs[:3] {
		note(store.DocumentText(ctx, o.owner, id))
	}
	for _, id := range o.pictures {
		a, data, err := store.Attachment(ctx, o.owner, id)
		note(a, err)
		note(data, err)
	}
	note(store.Repo(ctx, o.owner, o.thread))
	_, raw, err := store.RawDocument(ctx, o.owner, o.docs[3])
	note(raw, err)
	counts, total, err := store.WordCounts(ctx, o.owner, []string{"apples", "pear", "directions"})
	note(counts, err)
	note(total, err)
	for _, word := range []string{"apple", "pears", "direction"} {
		hits, err := store.SearchText(ctx, o.owner, db.Words(word), nil, 10)
		found := map[string]bool{}
		for _, h := range hits {
			found[h.ID] = true
		}
		note(found, err)
	}
	note(store.SearchVector(ctx, o.owner, []float32{1, 1}, o.docs, 10))
	_, err = store.CreateConversation(ctx, chat.Conversation{ID: o.deleted, Owner: uuid.NewString()})
	note(errors.Is(err, db.ErrNotFound), nil)
	_, _, _, err = store.InsertTurn(ctx, o.deletedTurn)
	return append(read, errors.Is(err, db.ErrNotFound))
}

// AcceptsNewRows checks that new rows are ordered after the existing ones.
func (i Installation) AcceptsNewRows(t *testing.T, store db.Store) {
	t.Helper()
	b := newFixture(t, func(*testing.T) db.Store { return store })
	o := i.owners[0]
	b.owner, b.thread = o.owner, o.thread
	turn := b.exchange("afterwards", "still there", o.turns[2])
	head := must.Have(store.Head(b.ctx, o.owner, o.thread))(b.t)
	b.Equal(turn, head)
	set := chat.DocumentSet{ID: uuid.NewString(), Owner: o.owner, Name: "Three"}
	b.NoError(store.CreateSet(b.ctx, set))
	sets := must.Have(store.ListSets(b.ctx, o.owner, "", 10))(b.t)
	b.Equal(append([]string{set.ID}, o.sets[1], o.sets[0]), ids(sets.Items, setID))
	b.thread = o.deleted
	b.Equal(2, b.insert(b.newTurn("again")).Generation)
	d := b.document(o.owner, "New", "one more apple")
	b.Contains(b.search("apple"), chunkID(d.ID, 0))
}
