package dbtest

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// inserts are the ways to add something of each kind for an owner.
var inserts = map[db.Bound][]func(b *fixture, in db.Inserter, owner string) error{
	db.BoundThreads: {
		func(b *fixture, in db.Inserter, owner string) error {
			_, err := in.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: owner})
			return err
		},
		func(b *fixture, in db.Inserter, owner string) error {
			_, _, _, err := in.InsertTurn(b.ctx, turnOf(owner, uuid.NewString()))
			return err
		},
		func(b *fixture, in db.Inserter, owner string) error {
			_, err := in.PutRepo(b.ctx, owner, uuid.NewString(), []byte("x"), "d", nil)
			return err
		},
	},
	db.BoundDocuments: {func(b *fixture, in db.Inserter, owner string) error {
		return in.CreateDocument(b.ctx, chat.Document{ID: uuid.NewString(), Owner: owner, Title: "x", Format: "txt", Bytes: 3}, []byte("raw"))
	}},
	db.BoundPictures: {func(b *fixture, in db.Inserter, owner string) error {
		return in.PutAttachment(b.ctx, chat.Attachment{ID: uuid.NewString(), Owner: owner, MIME: "image/png"}, []byte("png"))
	}},
	db.BoundBoards: {func(b *fixture, in db.Inserter, owner string) error {
		return in.CreateBoard(b.ctx, db.Board{ID: uuid.NewString(), Owner: owner, Content: []byte("{}")})
	}},
	db.BoundSets: {func(b *fixture, in db.Inserter, owner string) error {
		return in.CreateSet(b.ctx, chat.DocumentSet{ID: uuid.NewString(), Owner: owner, Name: "x"})
	}},
}

func turnOf(owner, thread string) chat.Turn {
	content := chat.Content{Message: "hello", Agent: chat.AgentDocuments}
	return chat.Turn{ID: uuid.NewString(), ThreadID: thread, Owner: owner, ClientTurnID: uuid.NewString(), Content: content,
		ContentHash: content.Hash(), CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}
}

// quota returns a quota of n of each kind, without a bound for bytes.
func quota(n int64) db.Quota {
	return db.Quota{Threads: n, Sets: n, Documents: n, Pictures: n, Boards: n}
}

// visitor returns b for an anonymous caller at an address.
func visitor(address string, b db.Bounds) db.Bounds {
	b.Anonymous, b.Address = true, address
	return b
}

// refusedBy counts the calls that a bound of a scope refused. Any other error fails the test.
func (b *fixture) refusedBy(errs []error, bound db.Bound, scope db.Scope) (n int) {
	b.t.Helper()
	for _, err := range errs {
		var e *db.Exceeded
		if errors.As(err, &e) {
			b.Equal(bound, e.Bound)
			b.Equal(scope, e.Scope)
			n++
			continue
		}
		b.NoError(err)
	}
	return n
}

const atOnce = 30

var quotaTests = []test{
	{"of 30 concurrent inserts by one owner as many succeed as the quota allows", func(b *fixture) {
		for bound, ways := range inserts {
			owner, errs := uuid.NewString(), make([]error, atOnce)
			in := b.store.Within(db.Bounds{Owner: quota(4)})
			together(atOnce, func(i int) { errs[i] = ways[i%len(ways)](b, in, owner) })
			b.Equal(atOnce-4, b.refusedBy(errs, bound, db.OfOwner), bound)
		}
	}},
	{"of 30 concurrent inserts by fresh owners at one address as many succeed as the quota allows", func(b *fixture) {
		for bound, ways := range inserts {
			errs := make([]error, atOnce)
			in := b.store.Within(visitor("here", db.Bounds{Owner: quota(4), PerAddress: quota(7)}))
			together(atOnce, func(i int) { errs[i] = ways[i%len(ways)](b, in, uuid.NewString()) })
			b.Equal(atOnce-7, b.refusedBy(errs, bound, db.OfAddress), bound)
			elsewhere := b.store.Within(visitor("elsewhere", db.Bounds{PerAddress: quota(7)}))
			b.NoError(ways[0](b, elsewhere, uuid.NewString()), bound)
		}
	}},
	{"of 30 concurrent inserts from 30 addresses as many succeed as all may store", func(b *fixture) {
		for bound, ways := range inserts {
			errs := make([]error, atOnce)
			limits := db.Bounds{PerAddress: quota(7), Everybody: quota(5)}
			together(atOnce, func(i int) {
				errs[i] = ways[i%len(ways)](b, b.store.Within(visitor(uuid.NewString(), limits)), uuid.NewString())
			})
			b.Equal(atOnce-5, b.refusedBy(errs, bound, db.OfEverybody), bound)
			b.NoError(ways[0](b, b.store.Within(limits), uuid.NewString()), "an owner with an account is not counted")
		}
	}},
	{"bytes of documents, pictures and repos count together", func(b *fixture) {
		in := b.store.Within(db.Bounds{Owner: db.Quota{Bytes: 9}})
		b.NoError(inserts[db.BoundDocuments][0](b, in, b.owner))
		b.NoError(inserts[db.BoundPictures][0](b, in, b.owner))
		must.Have(in.PutRepo(b.ctx, b.owner, b.thread, []byte("gz"), "d", nil))(b.t)
		stored := must.Have(b.store.Stored(b.ctx, b.owner, ""))(b.t)
		b.Equal(db.Stored{Threads: 1, Documents: 1, Pictures: 1, Bytes: 8}, stored)
		for name, err := range map[string]error{
			"document": inserts[db.BoundDocuments][0](b, in, b.owner),
			"picture":  inserts[db.BoundPictures][0](b, in, b.owner),
			"repo": func() error {
				_, err := in.PutRepo(b.ctx, b.owner, b.thread, []byte("gzip"), "d", nil)
				return err
			}(),
		} {
			b.Equal(1, b.refusedBy([]error{err}, db.BoundBytes, db.OfOwner), name)
		}
		repo, err := in.PutRepo(b.ctx, b.owner, b.thread, []byte("gzi"), "d", nil)
		b.NoError(err, "the stored version does not count beside the one that replaces it")
		b.Equal(2, repo.Version, "what was refused has left nothing")
	}},
	{"deleting things frees their quota", func(b *fixture) {
		in := b.store.Within(visitor("here", db.Bounds{Owner: quota(1), PerAddress: quota(1), Everybody: quota(1)}))
		doc := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "x", Format: "txt", Bytes: 3}
		b.NoError(in.CreateDocument(b.ctx, doc, []byte("raw")))
		b.NoError(in.CreateDocument(b.ctx, doc, []byte("raw")), "a repeated call adds nothing")
		b.Equal(1, b.refusedBy([]error{inserts[db.BoundDocuments][0](b, in, b.owner)}, db.BoundDocuments, db.OfOwner))
		b.NoError(b.store.DeleteDocument(b.ctx, b.owner, doc.ID))
		b.NoError(inserts[db.BoundDocuments][0](b, in, b.owner))
		must.Have(in.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: b.owner}))(b.t)
		b.Equal(1, b.refusedBy([]error{inserts[db.BoundThreads][1](b, in, b.owner)}, db.BoundThreads, db.OfOwner))
		b.NoError(b.store.DeleteConversation(b.ctx, b.owner, b.thread))
		b.NoError(inserts[db.BoundThreads][1](b, in, b.owner))
	}},
	{"a conversation that exists takes turns and repos at the quota", func(b *fixture) {
		in := b.store.Within(visitor("here", db.Bounds{Owner: quota(1), PerAddress: quota(1)}))
		must.Have(in.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: b.owner}))(b.t)
		must.Have(in.CreateConversation(b.ctx, chat.Conversation{ID: b.thread, Owner: b.owner}))(b.t)
		_, _, _, err := in.InsertTurn(b.ctx, turnOf(b.owner, b.thread))
		b.NoError(err)
		must.Have(in.PutRepo(b.ctx, b.owner, b.thread, []byte("x"), "d", nil))(b.t)
	}},
	{"pictures that no message uses have their own bound", func(b *fixture) {
		in := b.store.Within(db.Bounds{Unused: db.Quota{Pictures: 4}})
		errs := make([]error, atOnce)
		together(atOnce, func(i int) { errs[i] = inserts[db.BoundPictures][0](b, in, b.owner) })
		b.Equal(atOnce-4, b.refusedBy(errs, db.BoundUnused, db.OfOwner))
		b.insert(b.newTurn("hello"))
		b.NoError(in.PutAttachment(b.ctx, chat.Attachment{ID: uuid.NewString(), Owner: b.owner, ThreadID: b.thread}, []byte("x")), "a picture of a conversation")
	}},
	{"of 30 concurrent turns in 30 threads, as many begin as the owner may run", func(b *fixture) {
		in := b.store.Within(db.Bounds{BusyThreads: 4, QueuedTurns: 2})
		errs := make([]error, atOnce)
		turns := make([]chat.Turn, atOnce)
		for i := range turns {
			turns[i] = turnOf(b.owner, uuid.NewString())
		}
		together(atOnce, func(i int) { _, _, _, errs[i] = in.InsertTurn(b.ctx, turns[i]) })
		b.Equal(atOnce-4, b.refusedBy(errs, db.BoundBusy, db.OfOwner))
		for i, err := range errs {
			again := turns[i]
			again.ID = uuid.NewString()
			_, created, _, repeated := in.InsertTurn(b.ctx, again)
			if err == nil {
				b.NoError(repeated, "a repeated message is not counted")
				b.False(created)
				continue
			}
			b.Equal(1, b.refusedBy([]error{repeated}, db.BoundBusy, db.OfOwner))
			_, missing := b.store.Conversation(b.ctx, b.owner, again.ThreadID)
			b.ErrorIs(missing, db.ErrNotFound, "what was refused has left nothing")
		}
	}},
	{"of 30 concurrent turns in one thread, as many wait as the bound allows", func(b *fixture) {
		in := b.store.Within(db.Bounds{BusyThreads: 4, QueuedTurns: 5})
		errs := make([]error, atOnce)
		together(atOnce, func(i int) { _, _, _, errs[i] = in.InsertTurn(b.ctx, turnOf(b.owner, b.thread)) })
		b.Equal(atOnce-5, b.refusedBy(errs, db.BoundQueued, db.OfOwner))
	}},
	{"a settled turn counts against the budgets of its owner and address, that day", func(b *fixture) {
		spend := func(t chat.Turn, tokens int, cost float64) {
			b.mark(t.ID, chat.TurnRunning, chat.RootCheckpoint)
			t.Parent = chat.RootCheckpoint
			end := b.ending(t, "answer")
			end.At = time.Now()
			end.Terminal.Response.Usage = chat.Usage{TokensIn: tokens - 1, TokensOut: 1, CostUSD: cost}
			b.settle(end)
			b.settle(end) // once
		}
		in := b.store.Within(visitor("here", db.Bounds{Daily: db.Spending{Tokens: 100, CostUSD: 2}}))
		first := turnOf(b.owner, b.thread)
		_, _, _, err := in.InsertTurn(b.ctx, first)
		b.NoError(err)
		spend(first, 60, 0.5)
		second := turnOf(b.owner, uuid.NewString())
		_, _, _, err = in.InsertTurn(b.ctx, second)
		b.NoError(err)
		spend(second, 40, 0.25)
		for _, who := range [][2]string{{b.owner, ""}, {"", "here"}} {
			spent := must.Have(b.store.Spent(b.ctx, who[0], who[1], time.Now()))(b.t)
			b.Equal(db.Spending{Tokens: 100, CostUSD: 0.75}, spent)
		}
		_, _, _, err = in.InsertTurn(b.ctx, turnOf(b.owner, b.thread))
		b.Equal(1, b.refusedBy([]error{err}, db.BoundTokens, db.OfOwner))
		_, _, _, err = in.InsertTurn(b.ctx, turnOf(uuid.NewString(), uuid.NewString()))
		b.Equal(1, b.refusedBy([]error{err}, db.BoundTokens, db.OfAddress))
		again := first
		_, created, _, err := in.InsertTurn(b.ctx, again)
		b.NoError(err, "a repeated message is answered")
		b.False(created)
		elsewhere := b.store.Within(visitor("elsewhere", db.Bounds{Daily: db.Spending{Tokens: 100}}))
		_, _, _, err = elsewhere.InsertTurn(b.ctx, turnOf(uuid.NewString(), uuid.NewString()))
		b.NoError(err)
		spent := must.Have(b.store.Spent(b.ctx, b.owner, "", time.Now().Add(24*time.Hour)))(b.t)
		b.Zero(spent, "a new day")
		dear := b.store.Within(db.Bounds{Daily: db.Spending{CostUSD: 0.75}})
		_, _, _, err = dear.InsertTurn(b.ctx, turnOf(b.owner, b.thread))
		b.Equal(1, b.refusedBy([]error{err}, db.BoundCost, db.OfOwner))
		b.NoError(b.store.PruneSpending(b.ctx, time.Now()))
		_, _, _, err = dear.InsertTurn(b.ctx, turnOf(b.owner, b.thread))
		b.Equal(1, b.refusedBy([]error{err}, db.BoundCost, db.OfOwner), "only earlier days are deleted")
		b.NoError(b.store.PruneSpending(b.ctx, time.Now().Add(24*time.Hour)))
		_, _, _, err = dear.InsertTurn(b.ctx, turnOf(b.owner, b.thread))
		b.NoError(err)
	}},
	{"what the ingest of a document costs counts for its owner and address", func(b *fixture) {
		doc := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "x", Format: "txt", Bytes: 3}
		b.NoError(b.store.Within(visitor("here", db.Bounds{})).CreateDocument(b.ctx, doc, []byte("raw")))
		for range 2 {
			b.NoError(b.store.SpendOnDocument(b.ctx, b.owner, doc.ID, db.Spending{Tokens: 5, CostUSD: 0.5}, time.Now()))
		}
		for _, who := range [][2]string{{b.owner, ""}, {"", "here"}} {
			spent := must.Have(b.store.Spent(b.ctx, who[0], who[1], time.Now()))(b.t)
			b.Equal(db.Spending{Tokens: 10, CostUSD: 1}, spent)
		}
	}},
	{"what a search costs counts for its owner and address", func(b *fixture) {
		here := "address of " + b.owner
		b.NoError(b.store.Spend(b.ctx, b.owner, here, db.Spending{Tokens: 5, CostUSD: 0.5}, time.Now()))
		b.NoError(b.store.Spend(b.ctx, b.owner, "", db.Spending{Tokens: 5, CostUSD: 0.5}, time.Now()))
		for who, tokens := range map[[2]string]int64{{b.owner, ""}: 10, {"", here}: 5, {"", ""}: 0} {
			spent := must.Have(b.store.Spent(b.ctx, who[0], who[1], time.Now()))(b.t)
			b.Equal(tokens, spent.Tokens)
		}
	}},
}

// visitors inserts something for anonymous owners and returns their sorted ids.
func (b *fixture) visitors(ids ...string) []string {
	b.t.Helper()
	in := b.store.Within(visitor("here", db.Bounds{}))
	for _, id := range ids {
		must.Have(in.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: id}))(b.t)
	}
	return ids
}

func (b *fixture) unusedOwners(before time.Time, after string, limit int) string {
	b.t.Helper()
	owners := must.Have(b.store.UnusedOwners(b.ctx, before, after, limit))(b.t)
	return strings.Join(owners, " ")
}

var visitorTests = []test{
	{"anonymous owners who were not seen since a time are listed, by page", func(b *fixture) {
		b.visitors("c", "a", "b")
		b.NoError(inserts[db.BoundThreads][0](b, b.store, "signed in"))
		later := time.Now().Add(time.Hour)
		b.Equal("", b.unusedOwners(time.Now().Add(-time.Hour), "", 10))
		b.Equal("a b", b.unusedOwners(later, "", 2))
		b.Equal("c", b.unusedOwners(later, "b", 2))
	}},
	{"a request keeps its owner's data from being listed as unused, and does not add unknown owners", func(b *fixture) {
		b.visitors("a", "b")
		now := time.Now()
		b.NoError(b.store.Seen(b.ctx, "a", false, now.Add(48*time.Hour)))
		b.NoError(b.store.Seen(b.ctx, "b", false, now.Add(time.Hour)), "a second request within a day writes nothing")
		b.NoError(b.store.Seen(b.ctx, "unknown", false, now))
		b.Equal("b", b.unusedOwners(now.Add(30*time.Minute), "", 10))
		b.Equal("a b", b.unusedOwners(now.Add(72*time.Hour), "", 10))
	}},
	{"an owner who is seen again is not retired, and one who is retired has neither cookie nor key", func(b *fixture) {
		b.visitors("a", "b")
		at := time.Now().Add(48 * time.Hour)
		for _, owner := range []string{"a", "b"} {
			b.NoError(b.store.CreateKey(b.ctx, db.Key{ID: uuid.NewString(), Owner: owner, Name: "k", Digest: owner, Anonymous: true}))
		}
		b.Equal("a b", b.unusedOwners(at, "", 10))
		b.NoError(b.store.Seen(b.ctx, "b", false, at), "they come back after they were listed")
		b.NoError(b.store.Retire(b.ctx, "a", at))
		b.ErrorIs(b.store.Retire(b.ctx, "b", at), db.ErrNotFound)
		b.ErrorIs(b.store.Retire(b.ctx, "unknown", at), db.ErrNotFound)
		for owner, left := range map[string]int{"a": 0, "b": 1} {
			b.Len(must.Have(b.store.Keys(b.ctx, owner))(b.t), left)
			b.EqualValues(1-left, must.Have(b.store.SessionGeneration(b.ctx, owner))(b.t))
		}
	}},
	{"an owner who comes back while they are deleted keeps what they have then", func(b *fixture) {
		b.visitors("a", "b")
		at := time.Now().Add(48 * time.Hour)
		for _, owner := range []string{"a", "b"} {
			b.NoError(b.store.CreateDocument(b.ctx, chat.Document{ID: uuid.NewString(), Owner: owner, Title: "x", Format: "txt", Bytes: 3}, []byte("raw")))
			b.NoError(b.store.Retire(b.ctx, owner, at))
		}
		b.NoError(b.store.Seen(b.ctx, "a", false, at), "by a token of a provider, which lives on")
		had := b.userData("a")
		b.ErrorIs(must.ErrOf(b.store.DeleteUnused(b.ctx, "a", at)), db.ErrNotFound)
		b.Equal(had, b.userData("a"))
		b.Len(had.Documents, 1)
		must.Have(b.store.DeleteUnused(b.ctx, "b", at))(b.t)
		b.True(b.userData("b").Empty())
		b.ErrorIs(must.ErrOf(b.store.DeleteUnused(b.ctx, "unknown", at)), db.ErrNotFound)
	}},
	{"a visit comes before or after a deletion of the unused, never during it", func(b *fixture) {
		at := time.Now().Add(48 * time.Hour)
		for i := range 20 {
			owner := "visitor " + strconv.Itoa(i)
			b.visitors(owner)
			profile := chat.Profile{Industry: "x"}
			var deleted error
			together(2, func(who int) {
				if who == 0 {
					b.NoError(b.store.Seen(b.ctx, owner, false, at))
					b.NoError(b.store.PutProfile(b.ctx, owner, profile))
				} else {
					deleted = must.ErrOf(b.store.DeleteUnused(b.ctx, owner, at))
				}
			})
			if deleted != nil {
				b.ErrorIs(deleted, db.ErrNotFound)
				b.Equal(1, b.userData(owner).Profiles)
			}
			b.Equal("", b.unusedOwners(at, "", 10))
		}
	}},
	{"a visit comes before or after a retirement, never during it", func(b *fixture) {
		at := time.Now().Add(48 * time.Hour)
		for i := range 20 {
			owner := "visitor " + strconv.Itoa(i)
			b.visitors(owner)
			var retired error
			together(2, func(who int) {
				if who == 0 {
					b.NoError(b.store.Seen(b.ctx, owner, false, at))
				} else {
					retired = b.store.Retire(b.ctx, owner, at)
				}
			})
			generation := must.Have(b.store.SessionGeneration(b.ctx, owner))(b.t)
			if retired == nil {
				b.EqualValues(1, generation)
			} else {
				b.ErrorIs(retired, db.ErrNotFound)
				b.Zero(generation)
			}
			b.Equal("", b.unusedOwners(at, "", 10))
		}
	}},
	{"an owner who has an account now is not listed, and their data counts for no address", func(b *fixture) {
		b.visitors("a")
		in := b.store.Within(visitor("here", db.Bounds{}))
		for _, ways := range inserts {
			b.NoError(ways[0](b, in, "a"))
		}
		b.NoError(inserts[db.BoundThreads][2](b, in, "a"))
		stored := must.Have(b.store.Stored(b.ctx, "", "here"))(b.t)
		b.Equal(db.Stored{Threads: 3, Sets: 1, Documents: 1, Pictures: 1, Boards: 1, Bytes: 9}, stored)
		b.NoError(b.store.Seen(b.ctx, "a", true, time.Now()))
		b.Equal("", b.unusedOwners(time.Now().Add(time.Hour), "", 10))
		stored = must.Have(b.store.Stored(b.ctx, "", "here"))(b.t)
		b.Zero(stored)
		stored = must.Have(b.store.Stored(b.ctx, "a", ""))(b.t)
		b.Equal(db.Stored{Threads: 3, Sets: 1, Documents: 1, Pictures: 1, Boards: 1, Bytes: 9}, stored)
	}},
	{"a deleted user is not listed, and their spending is forgotten", func(b *fixture) {
		b.visitors("a")
		doc := chat.Document{ID: uuid.NewString(), Owner: "a", Title: "x", Format: "txt", Bytes: 3}
		b.NoError(b.store.CreateDocument(b.ctx, doc, []byte("raw")))
		b.NoError(b.store.SpendOnDocument(b.ctx, "a", doc.ID, db.Spending{Tokens: 5}, time.Now()))
		must.Have(b.store.DeleteUser(b.ctx, "a"))(b.t)
		b.Equal("", b.unusedOwners(time.Now().Add(time.Hour), "", 10))
		spent := must.Have(b.store.Spent(b.ctx, "a", "", time.Now()))(b.t)
		b.Zero(spent)
	}},
}
