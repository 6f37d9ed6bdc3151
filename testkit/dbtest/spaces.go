package dbtest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// space makes a space of b.owner.
func (b *fixture) space(name string) chat.Space {
	b.t.Helper()
	s := chat.Space{ID: uuid.NewString(), Name: name, CreatedAt: b.now(), ToolServers: []string{chat.EveryServer}}
	b.NoError(b.store.CreateSpace(b.ctx, b.owner, s))
	s.Role = chat.Manager
	return s
}

// join adds a person to a space of b.owner.
func (b *fixture) join(space string, role chat.Role) string {
	b.t.Helper()
	id := uuid.NewString()
	b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, space, chat.SpaceMember{ID: id, Role: role}))
	return id
}

// spaceReads are all calls that read documents, passages, words, sets or boards for an owner. They
// return what they have found of a document with the text "canary".
func spaceReads(b *fixture, owner string, d chat.Document, set string) map[string]func(space string) (bool, error) {
	s := b.store
	in := db.InSpace
	return map[string]func(string) (bool, error){
		"Document": func(space string) (bool, error) {
			found, err := s.Document(in(b.ctx, space), owner, d.ID)
			return found.ID != "", err
		},
		"DocumentsByID": func(space string) (bool, error) {
			found, err := s.DocumentsByID(in(b.ctx, space), owner, []string{d.ID})
			return len(found) > 0, err
		},
		"ListDocuments": func(space string) (bool, error) {
			page, err := s.ListDocuments(in(b.ctx, space), owner, "", 10)
			return len(page.Items) > 0, err
		},
		"VisibleDocuments": func(space string) (bool, error) {
			found, err := s.VisibleDocuments(in(b.ctx, space), owner)
			return len(found) > 0, err
		},
		"DocumentText": func(space string) (bool, error) {
			text, err := s.DocumentText(in(b.ctx, space), owner, d.ID)
			return text != "", err
		},
		"Original": func(space string) (bool, error) {
			raw, err := s.Original(in(b.ctx, space), owner, d.ID)
			return len(raw) > 0, err
		},
		"Chunk": func(space string) (bool, error) {
			c, err := s.Chunk(in(b.ctx, space), owner, d.ID, d.ID+".0")
			return c.Text != "", err
		},
		"ChunksByID": func(space string) (bool, error) {
			found, err := s.ChunksByID(in(b.ctx, space), owner, []string{d.ID + ".0"})
			return len(found) > 0, err
		},
		"DocumentChunks": func(space string) (bool, error) {
			found, err := s.DocumentChunks(in(b.ctx, space), owner, d.ID, 10)
			return len(found) > 0, err
		},
		"SearchText": func(space string) (bool, error) {
			found, err := s.SearchText(in(b.ctx, space), owner, db.Words("canary"), nil, 10)
			return len(found) > 0, err
		},
		"SearchText in the document": func(space string) (bool, error) {
			found, err := s.SearchText(in(b.ctx, space), owner, db.Words("canary"), []string{d.ID}, 10)
			return len(found) > 0, err
		},
		"SearchVector": func(space string) (bool, error) {
			found, err := s.SearchVector(in(b.ctx, space), owner, []float32{1, 0}, nil, 10)
			return len(found) > 0, err
		},
		"WordCounts": func(space string) (bool, error) {
			counts, total, err := s.WordCounts(in(b.ctx, space), owner, []string{"canary"})
			return counts["canary"]+total > 0, err
		},
		"EmbeddingProgress": func(space string) (bool, error) {
			_, total, err := s.EmbeddingProgress(in(b.ctx, space), owner, "none")
			return total > 0, err
		},
		"ListSets": func(space string) (bool, error) {
			page, err := s.ListSets(in(b.ctx, space), owner, "", 10)
			return len(page.Items) > 0, err
		},
		"Board": func(space string) (bool, error) {
			found, err := s.Board(in(b.ctx, space), owner, set)
			return found.ID != "", err
		},
		"ListBoards": func(space string) (bool, error) {
			page, err := s.ListBoards(in(b.ctx, space), owner, "", 10)
			return len(page.Items) > 0, err
		},
		"SetsByID": func(space string) (bool, error) {
			found, err := s.SetsByID(in(b.ctx, space), owner, []string{set})
			return len(found) > 0, err
		},
	}
}

// canary stores a document with the text "canary" in a space, and a set with it. A board has the
// set's id.
func (b *fixture) canary(space string) (d chat.Document, set string) {
	b.t.Helper()
	d = chat.Document{ID: uuid.NewString(), Owner: chat.SpaceOwner(space), Title: "Canary", AddedBy: b.owner, CreatedAt: b.now()}
	b.NoError(b.store.CreateDocument(b.ctx, d, []byte("raw")))
	b.NoError(b.store.StoreText(b.ctx, d.Owner, d.ID, "canary", []chat.Chunk{{Text: "canary", End: 6}}, [][]float32{{1, 0}}))
	set = uuid.NewString()
	b.NoError(b.store.CreateSet(b.ctx, chat.DocumentSet{ID: set, Owner: d.Owner, Name: "Set", DocIDs: []string{d.ID}}))
	b.NoError(b.store.CreateBoard(b.ctx, db.Board{ID: set, Owner: d.Owner, Title: "Board", Content: []byte("{}")}))
	return d, set
}

var spaceTests = []test{
	{"only who reads a space reads its documents, and only in it", func(b *fixture) {
		sp := b.space("Team")
		other := b.space("Other")
		d, set := b.canary(sp.ID)
		reader, stranger := b.join(sp.ID, chat.Reader), uuid.NewString()
		for name, read := range spaceReads(b, reader, d, set) {
			b.True(must.Have(read(sp.ID))(b.t), name)
			found, _ := read("") // without a space
			b.False(found, name)
			found, err := read(other.ID)
			b.ErrorIs(err, db.ErrNotFound, name)
			b.False(found, name)
		}
		for name, read := range spaceReads(b, b.owner, d, set) {
			found, _ := read(other.ID) // reads both
			b.False(found, name)
		}
		for _, owner := range []string{stranger, "", chat.PublicOwner, "%", chat.SpaceOwner(sp.ID)} {
			for name, read := range spaceReads(b, owner, d, set) {
				found, err := read(sp.ID)
				b.ErrorIs(err, db.ErrNotFound, name)
				b.False(found, name)
			}
		}
	}},
	{"what is attached to a conversation in a space is read by who reads the conversation, until it is put into the space", func(b *fixture) {
		sp, thread := b.space("Team"), uuid.NewString()
		author, reader := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Reader)
		attach := func(owner, thread string) chat.Document {
			d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: "Canary", CreatedAt: b.now(), ThreadID: thread}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte("raw")))
			b.NoError(b.store.StoreText(b.ctx, owner, d.ID, "canary", []chat.Chunk{{Text: "canary", End: 6}}, [][]float32{{1, 0}}))
			return d
		}
		there, elsewhere := db.InThread(b.ctx, thread), b.ctx
		one := []string{"Document", "DocumentText", "Original", "Chunk", "DocumentChunks"}
		// check compares which calls read a document in the space.
		check := func(from context.Context, who string, d chat.Document, want ...string) {
			b.t.Helper()
			b.ctx = from
			defer func() { b.ctx = elsewhere }()
			got := []string{}
			for name, read := range spaceReads(b, who, d, uuid.NewString()) {
				if found, _ := read(sp.ID); found && name != "EmbeddingProgress" {
					got = append(got, name)
				}
			}
			b.ElementsMatch(want, got)
		}
		private, foreign := attach(author, ""), attach(reader, thread)
		check(there, author, private)
		check(there, author, foreign)
		b.NoError(b.store.DeleteDocument(b.ctx, reader, foreign.ID))
		d := attach(author, thread)
		all := append([]string{"DocumentsByID", "ListDocuments", "VisibleDocuments", "ChunksByID", "SearchText", "SearchText in the document", "SearchVector", "WordCounts"}, one...)
		check(there, author, d, all...)
		check(elsewhere, author, d, one...)
		t := b.answered(author, sp.ID, thread)
		check(there, author, d, all...)
		check(elsewhere, author, d, one...)
		for _, other := range []string{reader, b.owner, uuid.NewString(), chat.SpaceOwner(sp.ID)} {
			check(there, other, d)
			check(elsewhere, other, d)
		}
		second := must.Have(b.store.Spaces(b.ctx, b.owner))(b.t)[0]
		second.ID = uuid.NewString()
		b.NoError(b.store.CreateSpace(b.ctx, author, second))
		b.ErrorIs(must.ErrOf(b.store.Document(db.InSpace(b.ctx, second.ID), author, d.ID)), db.ErrNotFound, "in another space")

		share := func(yes bool) {
			must.Have(b.store.ChangeConversation(db.InSpace(b.ctx, sp.ID), author, t.ThreadID, db.ConversationChange{Shared: &yes}))(b.t)
		}
		share(true)
		check(there, reader, d, "ListDocuments") // their search there is not the author's
		check(elsewhere, reader, d, one...)
		share(false)
		check(there, reader, d)
		share(true)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		check(there, reader, d)
		b.Empty(must.Have(b.store.UserData(b.ctx, chat.SpaceOwner(sp.ID)))(b.t).Documents, "it counts for its author's quota")

		b.ErrorIs(b.store.MoveToSpace(b.ctx, author, sp.ID, d.ID), db.ErrForbidden)
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: author, Role: chat.Contributor}))
		b.NoError(b.store.MoveToSpace(b.ctx, author, sp.ID, d.ID))
		must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), b.owner, d.ID))(b.t)
		b.NoError(b.store.DeleteConversation(b.ctx, author, thread))
		must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), b.owner, d.ID))(b.t)
	}},
	{"a removed member reads nothing from the next call on", func(b *fixture) {
		sp := b.space("Team")
		d, set := b.canary(sp.ID)
		reader, leaver := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Contributor)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, leaver, sp.ID, false, leaver))
		for _, owner := range []string{reader, leaver} {
			for name, read := range spaceReads(b, owner, d, set) {
				found, err := read(sp.ID)
				b.ErrorIs(err, db.ErrNotFound, name)
				b.False(found, name)
			}
		}
	}},
	{"a group reads a space until the person leaves it, or its time is over", func(b *fixture) {
		sp := b.space("Team")
		d, set := b.canary(sp.ID)
		person := uuid.NewString()
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{Group: true, ID: "legal", Role: chat.Contributor}))
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: person, Role: chat.Reader}))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, person))
		later := time.Now().Add(time.Hour)
		b.NoError(b.store.PutGroups(b.ctx, person, []string{"legal", "sales"}, later))
		b.Equal(chat.Contributor, must.Have(b.store.Space(b.ctx, person, sp.ID, chat.Reader))(b.t).Role)
		for name, read := range spaceReads(b, person, d, set) {
			b.True(must.Have(read(sp.ID))(b.t), name)
		}
		for _, left := range []func() error{
			func() error { return b.store.PutGroups(b.ctx, person, []string{"sales"}, later) },
			func() error { return b.store.PutGroups(b.ctx, person, []string{"legal"}, time.Now().Add(-time.Second)) },
			func() error { return b.store.PutGroups(b.ctx, person, nil, later) },
		} {
			b.NoError(left())
			b.Empty(must.Have(b.store.Spaces(b.ctx, person))(b.t))
			for name, read := range spaceReads(b, person, d, set) {
				found, err := read(sp.ID)
				b.ErrorIs(err, db.ErrNotFound, name)
				b.False(found, name)
			}
		}
		b.ErrorIs(must.ErrOf(b.store.Space(b.ctx, "legal", sp.ID, chat.Reader)), db.ErrNotFound, "a person called like the group")
	}},
	{"roles say who changes a space", func(b *fixture) {
		sp := b.space("Team")
		reader, contributor, stranger := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Contributor), uuid.NewString()
		mine := b.document(contributor, "Mine", "text")
		d, _ := b.canary(sp.ID)
		for name, change := range map[string]func(owner string) error{
			"ChangeSpace":  func(owner string) error { return b.store.ChangeSpace(b.ctx, owner, sp) },
			"DeleteSpace":  func(owner string) error { return b.store.DeleteSpace(b.ctx, owner, sp.ID, sp.Name, b.now()) },
			"RestoreSpace": func(owner string) error { return b.store.RestoreSpace(b.ctx, owner, sp.ID) },
			"SpaceMembers": func(owner string) error { return must.ErrOf(b.store.SpaceMembers(b.ctx, owner, sp.ID)) },
			"PutSpaceMember": func(owner string) error {
				return b.store.PutSpaceMember(b.ctx, owner, sp.ID, chat.SpaceMember{ID: owner, Role: chat.Manager})
			},
			"RemoveSpaceMember": func(owner string) error {
				return b.store.RemoveSpaceMember(b.ctx, owner, sp.ID, false, b.owner)
			},
		} {
			b.ErrorIs(change(contributor), db.ErrForbidden, name)
			b.ErrorIs(change(reader), db.ErrForbidden, name)
			b.ErrorIs(change(stranger), db.ErrNotFound, name)
		}
		for name, change := range map[string]func(owner string) error{
			"DeleteInSpace":  func(owner string) error { return b.store.DeleteInSpace(b.ctx, owner, sp.ID, d.ID, b.now()) },
			"RestoreInSpace": func(owner string) error { return b.store.RestoreInSpace(b.ctx, owner, sp.ID, d.ID) },
			"DeletedInSpace": func(owner string) error { return must.ErrOf(b.store.DeletedInSpace(b.ctx, owner, sp.ID)) },
			"MoveToSpace":    func(owner string) error { return b.store.MoveToSpace(b.ctx, owner, sp.ID, mine.ID) },
			"LeaveSpace":     func(owner string) error { return b.store.LeaveSpace(b.ctx, owner, sp.ID, d.ID) },
		} {
			b.ErrorIs(change(reader), db.ErrForbidden, name)
			b.ErrorIs(change(stranger), db.ErrNotFound, name)
		}
		b.ErrorIs(b.store.LeaveSpace(b.ctx, contributor, sp.ID, d.ID), db.ErrForbidden, "somebody else added it")
		b.ErrorIs(b.store.MoveToSpace(b.ctx, b.owner, sp.ID, mine.ID), db.ErrNotFound, "it is not the manager's")
		b.NoError(b.store.MoveToSpace(b.ctx, contributor, sp.ID, mine.ID))
		moved := must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), reader, mine.ID))(b.t)
		b.Equal(contributor, moved.AddedBy)
		b.ErrorIs(must.ErrOf(b.store.Document(b.ctx, contributor, mine.ID)), db.ErrNotFound, "it is in the space")
		b.NoError(b.store.LeaveSpace(b.ctx, contributor, sp.ID, mine.ID))
		b.Empty(must.Have(b.store.Document(b.ctx, contributor, mine.ID))(b.t).AddedBy)
	}},
	{"a space keeps which MCP servers it allows", func(b *fixture) {
		sp := b.space("Team")
		b.True(sp.MayUse("files"))
		for _, servers := range [][]string{{"files", "search"}, {}} {
			sp.ToolServers = servers
			b.NoError(b.store.ChangeSpace(b.ctx, b.owner, sp))
			got := must.Have(b.store.ThisSpace(db.InSpace(b.ctx, sp.ID), b.owner))(b.t)
			b.Equal(servers, got.ToolServers)
			b.Equal(len(servers) > 0, got.MayUse("files"))
			b.False(got.MayUse("mail"))
		}
	}},
	{"what comes into a space counts for its quota, and what leaves it for the person's", func(b *fixture) {
		sp := b.space("Team")
		d, _ := b.canary(sp.ID)
		in := b.store.Within(db.Bounds{Owner: db.Quota{Documents: 1}})
		mine := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Mine"}
		b.NoError(in.CreateDocument(b.ctx, mine, nil))
		b.NoError(b.store.StoreText(b.ctx, b.owner, mine.ID, "mine", []chat.Chunk{{Text: "mine", End: 4}}, nil))
		b.Equal(1, b.refusedBy([]error{in.MoveToSpace(b.ctx, b.owner, sp.ID, mine.ID)}, db.BoundDocuments, db.OfSpace))
		b.Equal(1, b.refusedBy([]error{in.LeaveSpace(b.ctx, b.owner, sp.ID, d.ID)}, db.BoundDocuments, db.OfOwner))
		b.NoError(b.store.DeleteInSpace(b.ctx, b.owner, sp.ID, d.ID, b.now()))
		b.NoError(in.MoveToSpace(b.ctx, b.owner, sp.ID, mine.ID))
		b.Equal(1, b.refusedBy([]error{in.RestoreInSpace(b.ctx, b.owner, sp.ID, d.ID)}, db.BoundDocuments, db.OfSpace))
		b.NoError(in.LeaveSpace(b.ctx, b.owner, sp.ID, mine.ID))
		b.NoError(in.RestoreInSpace(b.ctx, b.owner, sp.ID, d.ID))
	}},
	{"what the ingest of a space's document uses counts for who added it", func(b *fixture) {
		sp := b.space("Team")
		d, _ := b.canary(sp.ID)
		before := must.Have(b.store.Spent(b.ctx, b.owner, "", b.now()))(b.t)
		b.NoError(b.store.SpendOnDocument(b.ctx, d.Owner, d.ID, db.Spending{Tokens: 7}, b.now()))
		b.Equal(before.Tokens+7, must.Have(b.store.Spent(b.ctx, b.owner, "", b.now()))(b.t).Tokens)
	}},
	{"a space keeps a manager", func(b *fixture) {
		sp := b.space("Team")
		b.ErrorIs(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, b.owner), db.ErrLastManager)
		b.ErrorIs(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: b.owner, Role: chat.Reader}), db.ErrLastManager)
		b.Equal([]chat.Space{sp}, must.Have(b.store.Spaces(b.ctx, b.owner))(b.t))
		b.join(sp.ID, chat.Manager)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, b.owner))
		b.Empty(must.Have(b.store.Spaces(b.ctx, b.owner))(b.t))
	}},
	{"what is deleted in a space is read by nobody, and can be restored for 30 days", func(b *fixture) {
		sp := b.space("Team")
		d, set := b.canary(sp.ID)
		reader := b.join(sp.ID, chat.Reader)
		at := b.now()
		b.NoError(b.store.DeleteInSpace(b.ctx, b.owner, sp.ID, d.ID, at))
		for name, read := range spaceReads(b, reader, d, set) {
			if !strings.Contains(name, "Set") && !strings.Contains(name, "Board") {
				found, _ := read(sp.ID)
				b.False(found, name)
			}
		}
		deleted := must.Have(b.store.DeletedInSpace(b.ctx, b.owner, sp.ID))(b.t)
		b.Len(deleted, 1)
		b.Equal(at.UnixMicro(), deleted[0].DeletedAt.UnixMicro())
		b.NoError(b.store.PruneSpaces(b.ctx, at.Add(db.SpaceKept)))
		b.NoError(b.store.RestoreInSpace(b.ctx, b.owner, sp.ID, d.ID))

		b.ErrorIs(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "team", at), db.ErrSameName)
		b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", at))
		for _, owner := range []string{reader, b.owner} {
			for name, read := range spaceReads(b, owner, d, set) {
				found, err := read(sp.ID)
				b.ErrorIs(err, db.ErrNotFound, name)
				b.False(found, name)
			}
		}
		b.Empty(must.Have(b.store.Spaces(b.ctx, reader))(b.t))
		b.NoError(b.store.PruneSpaces(b.ctx, at.Add(db.SpaceKept)))
		b.NoError(b.store.RestoreSpace(b.ctx, b.owner, sp.ID))
		for name, read := range spaceReads(b, reader, d, set) {
			b.True(must.Have(read(sp.ID))(b.t), name)
		}
		b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", at))
		b.NoError(b.store.PruneSpaces(b.ctx, at.Add(db.SpaceKept+time.Second)))
		b.ErrorIs(b.store.RestoreSpace(b.ctx, b.owner, sp.ID), db.ErrNotFound)
		left := must.Have(b.store.UserData(b.ctx, chat.SpaceOwner(sp.ID)))(b.t)
		b.Empty(left.Documents)
		b.Zero(left.Boards)
	}},
	{"a space uses public documents if it says so", func(b *fixture) {
		public := b.document(chat.PublicOwner, "Everybody's", "canary")
		defer func() { b.NoError(b.store.DeleteDocument(b.ctx, chat.PublicOwner, public.ID)) }()
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		b.Empty(must.Have(b.store.SearchText(in, b.owner, db.Words("canary"), nil, 10))(b.t))
		sp.Everybody = true
		b.NoError(b.store.ChangeSpace(b.ctx, b.owner, sp))
		b.Len(must.Have(b.store.SearchText(in, b.owner, db.Words("canary"), nil, 10))(b.t), 1)
	}},
	{"a space that is restored while spaces are pruned keeps its documents", func(b *fixture) {
		sp := b.space("Team")
		d, _ := b.canary(sp.ID)
		at := b.now()
		for range 20 {
			b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", at))
			var restored error
			together(2, func(who int) {
				if who == 0 {
					restored = b.store.RestoreSpace(b.ctx, b.owner, sp.ID)
				} else {
					b.NoError(b.store.PruneSpaces(b.ctx, at.Add(db.SpaceKept+time.Second)))
				}
			})
			if restored != nil {
				b.ErrorIs(restored, db.ErrNotFound)
				sp = b.space("Team")
				d, _ = b.canary(sp.ID)
				continue
			}
			must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), b.owner, d.ID))(b.t)
		}
	}},
	{"a document of a source is deleted again after it was moved into the space again", func(b *fixture) {
		sp := b.space("Team")
		var last string
		for range 2 {
			d := chat.Document{ID: uuid.NewString(), Owner: b.owner, Title: "Page", SourceType: chat.SourceLink, ExternalID: "https://example.com", CreatedAt: b.now()}
			b.NoError(b.store.CreateDocument(b.ctx, d, nil))
			b.NoError(b.store.StoreText(b.ctx, b.owner, d.ID, "page", []chat.Chunk{{Text: "page", End: 4}}, nil))
			b.NoError(b.store.MoveToSpace(b.ctx, b.owner, sp.ID, d.ID))
			b.NoError(b.store.DeleteInSpace(b.ctx, b.owner, sp.ID, d.ID, b.now()))
			last = d.ID
		}
		deleted := must.Have(b.store.DeletedInSpace(b.ctx, b.owner, sp.ID))(b.t)
		b.Len(deleted, 1)
		b.Equal(last, deleted[0].ID)
		b.NoError(b.store.RestoreInSpace(b.ctx, b.owner, sp.ID, last))
	}},
	{"a space whose last manager is deleted is managed by those who have the next role", func(b *fixture) {
		for _, next := range []chat.Role{chat.Contributor, chat.Reader} {
			manager := uuid.NewString()
			sp := chat.Space{ID: uuid.NewString(), Name: "Team", CreatedAt: b.now()}
			b.NoError(b.store.CreateSpace(b.ctx, manager, sp))
			heir, group := uuid.NewString(), uuid.NewString()
			b.NoError(b.store.PutSpaceMember(b.ctx, manager, sp.ID, chat.SpaceMember{ID: heir, Role: next}))
			b.NoError(b.store.PutSpaceMember(b.ctx, manager, sp.ID, chat.SpaceMember{ID: group, Group: true, Role: chat.Reader}))
			must.Have(b.store.DeleteUser(b.ctx, manager))(b.t)
			roles := map[string]chat.Role{}
			for _, m := range must.Have(b.store.SpaceMembers(b.ctx, heir, sp.ID))(b.t) {
				roles[m.ID] = m.Role
			}
			b.Equal(map[string]chat.Role{heir: chat.Manager, group: chat.Reader}, roles)
		}
	}},
	{"a space without another member is deleted with its last one", func(b *fixture) {
		sp := b.space("Alone")
		b.canary(sp.ID)
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Empty(must.Have(b.store.UserData(b.ctx, chat.SpaceOwner(sp.ID)))(b.t).Documents)
	}},
	{"who is deleted leaves no trace in a space, whose documents stay", func(b *fixture) {
		sp := b.space("Team")
		d, _ := b.canary(sp.ID)
		second := b.join(sp.ID, chat.Manager)
		b.NoError(b.store.PutGroups(b.ctx, b.owner, []string{"legal"}, time.Now().Add(time.Hour)))
		signed := db.Board{ID: uuid.NewString(), Owner: chat.SpaceOwner(sp.ID), Title: "Signed", Content: []byte(`{"changes":[{"who":"` + b.owner + `"},{"who":"` + second + `"}]}`)}
		b.NoError(b.store.CreateBoard(b.ctx, signed))
		revision := must.Have(b.store.Board(b.ctx, signed.Owner, signed.ID))(b.t).Revision
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Less(revision, must.Have(b.store.Board(b.ctx, signed.Owner, signed.ID))(b.t).Revision, "a change of the board as it was before is refused")
		b.Equal(`{"changes":[{"who":"-"},{"who":"`+second+`"}]}`, string(must.Have(b.store.Board(db.InSpace(b.ctx, sp.ID), second, signed.ID))(b.t).Content))
		b.Empty(must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), second, d.ID))(b.t).AddedBy)
		left := must.Have(b.store.SpaceMembers(b.ctx, second, sp.ID))(b.t)
		b.Len(left, 1)
		b.Empty(left[0].AddedBy)
	}},
}

// answered stores a settled turn in a conversation of a space, or with spaces in its scope, whose
// answer quotes a document.
func (b *fixture) answered(owner, space, thread string, scope ...string) chat.Turn {
	b.t.Helper()
	return b.answeredContent(owner, space, thread, chat.Content{Message: "What does it say?", Agent: chat.AgentDocuments, Spaces: scope})
}

func (b *fixture) answeredContent(owner, space, thread string, content chat.Content) chat.Turn {
	b.t.Helper()
	ctx := db.InSpace(b.ctx, space)
	t := chat.Turn{ID: uuid.NewString(), ThreadID: thread, Owner: owner, Space: space, ClientTurnID: uuid.NewString(), CreatedAt: b.now(), Content: content}
	_, _, _, err := b.store.InsertTurn(ctx, t)
	b.NoError(err)
	b.NoError(b.store.MarkTurn(ctx, owner, t.ID, chat.TurnRunning, chat.RootCheckpoint))
	quoted := []chat.Citation{{N: 1, Source: "document", Title: "Canary", Quote: "the canary sings in its cage"}}
	said := "It sings.\n\n“the canary sings in its cage” [1]"
	b.NoError(must.ErrOf(b.store.Settle(ctx, db.Settlement{Owner: owner, ThreadID: thread, TurnID: t.ID, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted,
		Text: said, Metadata: map[string]any{"citations": quoted, "finished_reason": "stop"}, Title: "Canary", At: b.now(),
		Events:   []chat.Event{{Type: chat.EventText, N: 1, TurnID: t.ID, ThreadID: thread, Text: said}},
		Terminal: chat.Event{Type: chat.EventResponse, N: 2, TurnID: t.ID, ThreadID: thread, Response: &chat.Response{Text: said, Citations: quoted}}})))
	b.NoError(b.store.PutSummary(ctx, owner, db.Summary{TurnID: t.ID, Text: "About the canary."}))
	return t
}

func insertErr(_ chat.Turn, _, _ bool, err error) error { return err }

// conversationReads are all calls that read what a turn in a space has said, as JSON.
func conversationReads(b *fixture, owner string, t chat.Turn) map[string]func(ctx context.Context) (any, error) {
	s := b.store
	return map[string]func(context.Context) (any, error){
		"Conversation": func(ctx context.Context) (any, error) { return s.Conversation(ctx, owner, t.ThreadID) },
		"ListConversations": func(ctx context.Context) (any, error) {
			return s.ListConversations(ctx, owner, "", "", 10)
		},
		"search": func(ctx context.Context) (any, error) { return s.ListConversations(ctx, owner, "canary", "", 10) },
		"History": func(ctx context.Context) (any, error) {
			h, err := s.History(ctx, owner, t.ThreadID, "", "", 10)
			return h.Messages, err
		},
		"Recent":    func(ctx context.Context) (any, error) { return s.Recent(ctx, owner, t.ThreadID, t.ID, 10) },
		"Events":    func(ctx context.Context) (any, error) { return s.Events(ctx, owner, t.ID, 0) },
		"Logs":      func(ctx context.Context) (any, error) { return s.Logs(ctx, owner, []string{t.ID}) },
		"Summary":   func(ctx context.Context) (any, error) { return s.Summary(ctx, owner, t.ThreadID, t.ID) },
		"Summaries": func(ctx context.Context) (any, error) { return s.Summaries(ctx, owner, t.ThreadID) },
	}
}

func tells(v any) bool {
	out, _ := json.Marshal(v)
	return strings.Contains(strings.ToLower(string(out)), "canary")
}

var spaceConversationTests = []test{
	{"what a turn took from a space is read in the space only, and only by who reads it", func(b *fixture) {
		sp := b.space("Team")
		author := b.join(sp.ID, chat.Reader)
		t := b.answered(author, sp.ID, uuid.NewString())
		for name, read := range conversationReads(b, author, t) {
			b.True(tells(must.Have(read(db.InSpace(b.ctx, sp.ID)))(b.t)), name)
			out, _ := read(b.ctx)
			b.False(tells(out), name)
		}
		b.Equal("It sings.\n\n"+chat.Withheld, must.Have(b.store.Recent(b.ctx, author, t.ThreadID, t.ID, 1))(b.t)[0].Content)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, author))
		for name, read := range conversationReads(b, author, t) {
			if name == "Conversation" { // the API has checked the space
				continue
			}
			out, _ := read(db.InSpace(b.ctx, sp.ID))
			b.False(tells(out), name)
		}
		_, _, _, err := b.store.InsertTurn(b.ctx, chat.Turn{ID: uuid.NewString(), ThreadID: t.ThreadID, Owner: author, Space: sp.ID, Content: chat.Content{Message: "More?"}})
		b.ErrorIs(err, db.ErrNotFound)
		_, err = b.store.CreateConversation(b.ctx, chat.Conversation{ID: uuid.NewString(), Owner: author, Space: sp.ID})
		b.ErrorIs(err, db.ErrNotFound)
	}},
	{"administrators do not read a shared answer of a space", func(b *fixture) {
		sp := b.space("Team")
		t := b.answered(b.owner, sp.ID, uuid.NewString())
		b.NoError(b.store.PutFeedback(b.ctx, db.Feedback{Owner: b.owner, ThreadID: t.ThreadID, TurnID: t.ID, Reason: "Good", Shared: true, UpdatedAt: b.now()}))
		rated := must.Have(b.store.FeedbackPage(b.ctx, "", 50))(b.t).Items
		at := slices.IndexFunc(rated, func(r db.RatedTurn) bool { return r.TurnID == t.ID })
		b.NotEqual(-1, at)
		b.Equal([]string{"Good", "", ""}, []string{rated[at].Reason, rated[at].Question, rated[at].Answer})
	}},
	{"readers of a space learn the names of people whom they meet there, and nobody else's", func(b *fixture) {
		sp, other := b.space("Team"), b.space("Other")
		reader, contributor, stranger := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Contributor), b.join(other.ID, chat.Reader)
		for _, id := range []string{reader, contributor, stranger} {
			b.NoError(b.store.Met(b.ctx, id, id+"@example.com", b.now()))
		}
		t := b.answered(contributor, sp.ID, uuid.NewString())
		b.Equal(map[string]string{reader: reader + "@example.com", contributor: contributor + "@example.com"}, must.Have(b.store.PeopleInSpace(b.ctx, reader, sp.ID))(b.t))
		b.ErrorIs(must.ErrOf(b.store.PeopleInSpace(b.ctx, stranger, sp.ID)), db.ErrNotFound)

		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, contributor))
		b.Len(must.Have(b.store.PeopleInSpace(b.ctx, reader, sp.ID))(b.t), 1)
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: contributor, Role: chat.Contributor}))
		shared := true
		must.Have(b.store.ChangeConversation(db.InSpace(b.ctx, sp.ID), contributor, t.ThreadID, db.ConversationChange{Shared: &shared}))(b.t)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, contributor))
		b.Len(must.Have(b.store.PeopleInSpace(b.ctx, reader, sp.ID))(b.t), 2, "what they share stays")
	}},
	{"the name of a document in an answer to a question is replaced once its person has left the space", func(b *fixture) {
		sp := b.space("Team")
		person := b.join(sp.ID, chat.Reader)
		for space, scope := range map[string][]string{sp.ID: nil, "": {sp.ID}} {
			t := chat.Turn{ID: uuid.NewString(), ThreadID: uuid.NewString(), Owner: person, Space: space, Content: chat.Content{Message: "What sings?", Spaces: scope}}
			b.NoError(insertErr(b.store.InsertTurn(b.ctx, t)))
			b.NoError(b.store.MarkTurn(b.ctx, person, t.ID, chat.TurnRunning, chat.RootCheckpoint))
			b.NoError(must.ErrOf(b.store.Settle(b.ctx, db.Settlement{Owner: person, ThreadID: t.ThreadID, TurnID: t.ID, Parent: chat.RootCheckpoint, Status: chat.TurnCompleted, Text: "It sings.", At: b.now(),
				Prompts: []db.Prompt{
					{ID: "1", Type: chat.DocChoice, Message: "Which one?", Outcome: chat.OutcomeAnswered, Answer: "Canary", Names: true, At: b.now()},
					{ID: "2", Type: chat.TextInput, Message: "What?", Outcome: chat.OutcomeAnswered, Answer: "My own words", At: b.now()},
				}, Terminal: chat.Event{Type: chat.EventResponse, N: 1, TurnID: t.ID, ThreadID: t.ThreadID}})))
			answers := func(in string) (all []string) {
				for _, m := range must.Have(b.store.History(db.InSpace(b.ctx, in), person, t.ThreadID, "", "", 10))(b.t).Messages {
					if m.Role == "user" {
						all = append(all, m.Content)
					}
				}
				return all
			}
			b.Equal([]string{"What sings?", "Canary", "My own words"}, answers(space))
			b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, person))
			b.Equal([]string{"What sings?", chat.Withheld, "My own words"}, answers(""))
			b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: person, Role: chat.Reader}))
		}
	}},
	{"a conversation stays in its space", func(b *fixture) {
		sp, other := b.space("Team"), b.space("Other")
		t := b.answered(b.owner, sp.ID, uuid.NewString())
		for _, space := range []string{"", other.ID} {
			_, _, _, err := b.store.InsertTurn(b.ctx, chat.Turn{ID: uuid.NewString(), ThreadID: t.ThreadID, Owner: b.owner, Space: space, Content: chat.Content{Message: "More?"}})
			b.ErrorIs(err, db.ErrOtherSpace)
		}
	}},
	{"who reads a space reads what others share there, and continues in a copy", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		reader := b.join(sp.ID, chat.Reader)
		t := b.answered(b.owner, sp.ID, uuid.NewString())
		b.Equal(reader, must.Have(b.store.AuthorInSpace(in, reader, t.ThreadID))(b.t), "it is not shared")
		copyOf := func() (chat.Conversation, error) {
			return b.store.CopyBranch(in, t.ThreadID, "", chat.Conversation{ID: uuid.NewString(), Owner: reader, Space: sp.ID, CreatedAt: b.now()})
		}
		b.ErrorIs(must.ErrOf(copyOf()), db.ErrNotFound)
		b.Empty(must.Have(b.store.ListConversations(in, reader, "", "", 10))(b.t).Items)
		shared, yes := true, true
		_, err := b.store.ChangeConversation(in, reader, t.ThreadID, db.ConversationChange{Shared: &yes})
		b.ErrorIs(err, db.ErrNotFound, "it is not theirs")
		must.Have(b.store.ChangeConversation(in, b.owner, t.ThreadID, db.ConversationChange{Shared: &shared}))(b.t)
		b.Len(must.Have(b.store.ListConversations(in, reader, "", "", 10))(b.t).Items, 1)
		b.Empty(must.Have(b.store.ListConversations(b.ctx, reader, "", "", 10))(b.t).Items)
		b.Equal(b.owner, must.Have(b.store.AuthorInSpace(in, reader, t.ThreadID))(b.t))
		b.True(tells(must.Have(b.store.History(db.ReadBy(in, reader), b.owner, t.ThreadID, "", "", 10))(b.t).Messages))

		made := must.Have(copyOf())(b.t)
		copied := must.Have(b.store.History(in, reader, made.ID, "", "", 10))(b.t).Messages
		b.Len(copied, 2)
		b.Equal(b.owner, copied[0].Metadata["author"])
		b.True(tells(copied))
		b.True(tells(must.Have(b.store.Events(in, reader, copied[0].TurnID, 0))(b.t)))

		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		b.ErrorIs(must.ErrOf(b.store.AuthorInSpace(in, reader, t.ThreadID)), db.ErrNotFound)
		b.ErrorIs(must.ErrOf(copyOf()), db.ErrNotFound)
		b.False(tells(must.Have(b.store.History(db.ReadBy(in, reader), b.owner, t.ThreadID, "", "", 10))(b.t).Messages))
		left := must.Have(b.store.History(in, reader, made.ID, "", "", 10))(b.t).Messages
		b.False(tells(left))
		b.Equal(chat.Withheld, left[0].Content, "words of the author in somebody else's copy")
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Equal("-", must.Have(b.store.History(in, reader, made.ID, "", "", 10))(b.t).Messages[0].Metadata["author"])
	}},
	{"a conversation in no space reads the spaces of its scope besides its owner's documents, as long as its owner reads them", func(b *fixture) {
		sp, other := b.space("Team"), b.space("Other")
		d, _ := b.canary(sp.ID)
		person := b.join(sp.ID, chat.Reader)
		own := b.document(person, "Own", "canary too")
		thread := uuid.NewString()
		insert := func(spaces ...string) (chat.Turn, error) {
			t := chat.Turn{ID: uuid.NewString(), ThreadID: thread, Owner: person, ClientTurnID: uuid.NewString(), CreatedAt: b.now(), Content: chat.Content{Message: "What sings?", Agent: chat.AgentDocuments, Spaces: spaces}}
			t, _, _, err := b.store.InsertTurn(b.ctx, t)
			return t, err
		}
		b.ErrorIs(must.ErrOf(insert(other.ID)), db.ErrNotFound, "a space that the person does not read")
		named := must.Have(insert(sp.ID))(b.t)
		b.Equal(chat.Scope([]string{sp.ID}), named.Space)
		b.Equal(named.Space, must.Have(insert())(b.t).Space, "a later message")
		b.Equal([]string{sp.ID}, must.Have(b.store.Conversation(b.ctx, person, thread))(b.t).Scope)

		in := db.InThread(db.InSpace(b.ctx, named.Space), thread)
		reads := map[string]func(owner string) (any, error){
			"SearchText": func(owner string) (any, error) { return b.store.SearchText(in, owner, db.Words("canary"), nil, 10) },
			"SearchText in the document": func(owner string) (any, error) {
				return b.store.SearchText(in, owner, db.Words("canary"), []string{d.ID}, 10)
			},
			"SearchVector":     func(owner string) (any, error) { return b.store.SearchVector(in, owner, []float32{1, 0}, nil, 10) },
			"VisibleDocuments": func(owner string) (any, error) { return b.store.VisibleDocuments(in, owner) },
			"DocumentsByID":    func(owner string) (any, error) { return b.store.DocumentsByID(in, owner, []string{d.ID}) },
			"ChunksByID":       func(owner string) (any, error) { return b.store.ChunksByID(in, owner, []string{d.ID + ".0"}) },
			"DocumentChunks":   func(owner string) (any, error) { return b.store.DocumentChunks(in, owner, d.ID, 10) },
			"DocumentText":     func(owner string) (any, error) { return b.store.DocumentText(in, owner, d.ID) },
			"Document":         func(owner string) (any, error) { return b.store.Document(in, owner, d.ID) },
		}
		for name, read := range reads {
			b.True(tells(must.Have(read(person))(b.t)), name)
			b.ErrorIs(must.ErrOf(read(uuid.NewString())), db.ErrNotFound, name)
		}
		found := must.Have(b.store.SearchText(in, person, db.Words("canary"), nil, 10))(b.t)
		b.Len(found, 2, "one of the space, one of the person's own")
		counts, total, err := b.store.WordCounts(in, person, []string{"canary"})
		b.NoError(err)
		b.Equal([]int{2, 2}, []int{counts["canary"], total})
		must.Have(b.store.Document(in, person, own.ID))(b.t)
		sp.ToolServers = []string{"wiki"}
		b.NoError(b.store.ChangeSpace(b.ctx, b.owner, sp))
		b.False(must.Have(b.store.ThisSpace(in, person))(b.t).MayUse("mail"))

		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, person))
		for name, read := range reads {
			b.ErrorIs(must.ErrOf(read(person)), db.ErrNotFound, name)
		}
		b.Empty(must.Have(insert())(b.t).Space, "the next message goes on without the space")
		b.Empty(must.Have(b.store.Conversation(b.ctx, person, thread))(b.t).Scope)
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: person, Role: chat.Reader}))
		b.Equal(named.Space, must.Have(insert())(b.t).Space, "once they read it again, with what they read of it before, so does each answer")
	}},
	{"what a conversation took from a space of its scope is replaced for an owner who does not read it any more", func(b *fixture) {
		sp := b.space("Team")
		person := b.join(sp.ID, chat.Reader)
		t := b.answered(person, "", uuid.NewString(), sp.ID)
		putRepo := func() { must.Have(b.store.PutRepo(b.ctx, person, t.ThreadID, []byte("canary"), "d", nil))(b.t) }
		putRepo()
		reads := conversationReads(b, person, t)
		reads["Repo"] = func(ctx context.Context) (any, error) {
			repo, err := b.store.Repo(ctx, person, t.ThreadID)
			return string(repo.Gzipped), err
		}
		titles := []string{"Conversation", "ListConversations", "search"}
		for _, name := range titles { // activities give it no title of a document
			delete(reads, name)
		}
		for name, read := range reads {
			b.True(tells(must.Have(read(b.ctx))(b.t)), name)
		}
		b.Empty(must.Have(b.store.ListConversations(b.ctx, person, "sings in its cage", "", 10))(b.t).Items, "answers are not searched")
		b.Len(must.Have(b.store.ListConversations(b.ctx, person, "what does it say", "", 10))(b.t).Items, 1)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, person))
		for name, read := range reads {
			out, err := read(b.ctx)
			if err != nil {
				b.ErrorIs(err, db.ErrNotFound, name)
			}
			b.False(tells(out), name)
		}
		said := must.Have(b.store.History(b.ctx, person, t.ThreadID, "", "", 10))(b.t).Messages
		b.Equal([]string{"What does it say?", "It sings.\n\n" + chat.Withheld}, []string{said[0].Content, said[1].Content})
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: person, Role: chat.Reader}))
		for name, read := range reads {
			b.True(tells(must.Have(read(b.ctx))(b.t)), "%s, once they read it again", name)
		}
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, person))
		next := chat.Turn{ID: uuid.NewString(), ThreadID: t.ThreadID, Owner: person, ClientTurnID: uuid.NewString(), CreatedAt: b.now(), Content: chat.Content{Message: "And now?"}}
		b.NoError(insertErr(b.store.InsertTurn(b.ctx, next)))
		b.ErrorIs(must.ErrOf(b.store.Repo(b.ctx, person, t.ThreadID)), db.ErrNotFound, "its conversation goes on without the space")
		putRepo()
		b.NoError(must.ErrOf(b.store.Repo(b.ctx, person, t.ThreadID)))
	}},
	{"who has left a space finds their own conversations of it again, and a remark in place of what documents said", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		author, reader := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Reader)
		t := b.answered(author, sp.ID, uuid.NewString())
		yes := true
		must.Have(b.store.ChangeConversation(in, author, t.ThreadID, db.ConversationChange{Shared: &yes}))(b.t)
		listed := func(owner string) []chat.Conversation {
			return must.Have(b.store.ListConversations(b.ctx, owner, "", "", 10))(b.t).Items
		}
		b.Empty(listed(author), "while they read the space it is listed there")
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, author))
		own := listed(author)
		b.Len(own, 1)
		b.Equal([]string{t.ThreadID, sp.ID, ""}, []string{own[0].ID, own[0].Space, own[0].Title})
		b.False(tells(must.Have(b.store.ListConversations(b.ctx, author, "canary", "", 10))(b.t)))
		said := must.Have(b.store.History(b.ctx, author, t.ThreadID, "", "", 10))(b.t).Messages
		b.Equal([]string{"What does it say?", "It sings.\n\n" + chat.Withheld}, []string{said[0].Content, said[1].Content})
		b.Empty(listed(reader), "what somebody else shares is not theirs")

		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{ID: author, Role: chat.Reader}))
		b.Empty(listed(author))
		b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", b.now()))
		b.Len(listed(author), 1)
		b.NoError(b.store.RestoreSpace(b.ctx, b.owner, sp.ID))
		b.Empty(listed(author))
		b.NoError(b.store.PutSpaceMember(b.ctx, b.owner, sp.ID, chat.SpaceMember{Group: true, ID: "legal", Role: chat.Reader}))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, author))
		b.Len(listed(author), 1)
		b.NoError(b.store.PutGroups(b.ctx, author, []string{"legal"}, time.Now().Add(time.Hour)))
		b.Empty(listed(author), "a member by a group")
	}},
	{"pictures of messages that a reader has copied are read in the space until the reader is removed, also when their conversation is shared no more", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		reader, other := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Reader)
		shown, unshown := b.attachment(b.owner, "shown"), b.attachment(b.owner, "unshown")
		t := b.answeredContent(b.owner, sp.ID, uuid.NewString(), chat.Content{Message: "What is this?", Agent: chat.AgentDocuments, Attachments: []string{shown.ID}})
		share := func(yes bool) {
			must.Have(b.store.ChangeConversation(in, b.owner, t.ThreadID, db.ConversationChange{Shared: &yes}))(b.t)
		}
		share(true)
		must.Have(b.store.CopyBranch(in, t.ThreadID, "", chat.Conversation{ID: uuid.NewString(), Owner: reader, Space: sp.ID, CreatedAt: b.now()}))(b.t)
		share(false)
		b.Equal(b.owner, must.Have(b.store.AttachmentInSpace(in, reader, shown.ID))(b.t))
		for what, err := range map[string]error{
			"of another message":  must.ErrOf(b.store.AttachmentInSpace(in, reader, unshown.ID)),
			"who has copied none": must.ErrOf(b.store.AttachmentInSpace(in, other, shown.ID)),
			"elsewhere":           must.ErrOf(b.store.AttachmentInSpace(b.ctx, reader, shown.ID)),
			"in another space":    must.ErrOf(b.store.AttachmentInSpace(db.InSpace(b.ctx, b.space("Other").ID), b.owner, shown.ID)),
		} {
			b.ErrorIs(err, db.ErrNotFound, what)
		}
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		b.ErrorIs(must.ErrOf(b.store.AttachmentInSpace(in, reader, shown.ID)), db.ErrNotFound)
	}},
	{"a copy of a conversation reads the attached documents that its messages name, as long as their conversation is shared", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		reader, next := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Reader)
		attach := func(owner, thread string) chat.Document {
			d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: "Canary", ThreadID: thread, CreatedAt: b.now()}
			b.NoError(b.store.CreateDocument(b.ctx, d, []byte("raw")))
			b.NoError(b.store.StoreText(b.ctx, owner, d.ID, "canary", []chat.Chunk{{Text: "canary", End: 6}}, [][]float32{{1, 0}}))
			return d
		}
		thread := uuid.NewString()
		d := attach(b.owner, thread)
		b.answeredContent(b.owner, sp.ID, thread, chat.Content{Message: "What does it say?", Agent: chat.AgentDocuments, TaggedDocs: []string{d.ID}})
		attach(b.owner, b.answered(b.owner, sp.ID, uuid.NewString()).ThreadID)
		attach(b.owner, "")
		share := func(owner, thread string, yes bool) {
			must.Have(b.store.ChangeConversation(in, owner, thread, db.ConversationChange{Shared: &yes}))(b.t)
		}
		copyOf := func(thread, owner string) string {
			return must.Have(b.store.CopyBranch(in, thread, "", chat.Conversation{ID: uuid.NewString(), Owner: owner, Space: sp.ID, CreatedAt: b.now()}))(b.t).ID
		}
		others := []string{"Original", "ListDocuments", "EmbeddingProgress", "ListSets", "Board", "ListBoards", "SetsByID"}
		reads := func(owner, thread string) (found []string) {
			outside := b.ctx
			defer func() { b.ctx = outside }()
			b.ctx = db.InThread(outside, thread)
			for name, read := range spaceReads(b, owner, d, "") {
				if yes, _ := read(sp.ID); yes && !slices.Contains(others, name) {
					found = append(found, name)
				}
			}
			return found
		}
		share(b.owner, thread, true)
		copied := copyOf(thread, reader)
		share(reader, copied, true)
		again := copyOf(copied, next)
		for owner, thread := range map[string]string{reader: copied, next: again} {
			b.Len(reads(owner, thread), 11)
			seen := must.Have(b.store.VisibleDocuments(db.InThread(in, thread), owner))(b.t)
			b.Len(seen, 1, "what belongs to no conversation, or to another one, is the author's")
			b.Equal(d.ID, seen[0].ID)
			b.Len(must.Have(b.store.SearchText(db.InThread(in, thread), owner, db.Words("canary"), nil, 10))(b.t), 1)
			b.Empty(reads(owner, uuid.NewString()))
		}
		share(b.owner, thread, false)
		b.Empty(reads(reader, copied))
		b.Empty(reads(next, again))
		share(b.owner, thread, true)
		b.Len(reads(reader, copied), 11)
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		b.Empty(reads(reader, copied))
		b.Len(reads(next, again), 11)
	}},
	{"words of somebody else in a copy are in no read once the reader is removed", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		reader := b.join(sp.ID, chat.Reader)
		t := b.answered(b.owner, sp.ID, uuid.NewString())
		yes := true
		must.Have(b.store.ChangeConversation(in, b.owner, t.ThreadID, db.ConversationChange{Shared: &yes}))(b.t)
		made := must.Have(b.store.CopyBranch(in, t.ThreadID, "", chat.Conversation{ID: uuid.NewString(), Owner: reader, Space: sp.ID, CreatedAt: b.now()}))(b.t)
		turn := must.Have(b.store.History(in, reader, made.ID, "", "", 10))(b.t).Messages[0].TurnID
		words := func(ctx context.Context) string {
			return must.Have(b.store.Logs(ctx, reader, []string{turn}))(b.t)[0].Turn.Content.Message
		}
		b.Equal("What does it say?", words(in))
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, reader))
		b.Equal(chat.Withheld, words(in))
		b.Equal(chat.Withheld, words(b.ctx))
	}},
	{"a public link to a conversation of a space works while the space permits links and its owner reads it", func(b *fixture) {
		sp := b.space("Team")
		in := db.InSpace(b.ctx, sp.ID)
		author := b.join(sp.ID, chat.Reader)
		t := b.answered(author, sp.ID, uuid.NewString())
		share := db.Share{ID: uuid.NewString(), Owner: author, ThreadID: t.ThreadID, Digest: uuid.NewString(), Title: "Canary", Content: []byte(`[]`), CreatedAt: b.now()}
		b.NoError(b.store.CreateShare(in, share))
		works := func() bool {
			_, err := b.store.ShareByDigest(b.ctx, share.Digest)
			if err != nil {
				b.ErrorIs(err, db.ErrNotFound)
			}
			return err == nil
		}
		permit := func(links bool) {
			sp.Links = links
			b.NoError(b.store.ChangeSpace(b.ctx, b.owner, sp))
		}
		b.False(works())
		permit(true)
		b.True(works())
		b.True(must.Have(b.store.Space(b.ctx, author, sp.ID, chat.Reader))(b.t).Links)
		permit(false)
		b.False(works())
		permit(true)
		b.NoError(b.store.DeleteSpace(b.ctx, b.owner, sp.ID, "Team", b.now()))
		b.False(works())
		b.NoError(b.store.RestoreSpace(b.ctx, b.owner, sp.ID))
		b.True(works())
		b.True(tells(must.Have(b.store.Shares(in, author))(b.t)))
		b.False(tells(must.Have(b.store.Shares(b.ctx, author))(b.t)), "outside of the space")
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, author))
		b.False(works())
	}},
}

// RunKeeping checks a store with db.OpenOptions.KeepAnswers.
func RunKeeping(t *testing.T, store db.Store) {
	b := newFixture(t, func(*testing.T) db.Store { return store })
	sp := b.space("Team")
	in := db.InSpace(b.ctx, sp.ID)
	author, copier := b.join(sp.ID, chat.Reader), b.join(sp.ID, chat.Reader)
	turn := b.answered(author, sp.ID, uuid.NewString())
	yes := true
	must.Have(b.store.ChangeConversation(in, author, turn.ThreadID, db.ConversationChange{Shared: &yes}))(b.t)
	made := must.Have(b.store.CopyBranch(in, turn.ThreadID, "", chat.Conversation{ID: uuid.NewString(), Owner: copier, Space: sp.ID, CreatedAt: b.now()}))(b.t)
	copied := turn
	copied.ThreadID, copied.ID = made.ID, must.Have(b.store.History(in, copier, made.ID, "", "", 10))(b.t).Messages[0].TurnID
	for _, id := range []string{author, copier} {
		b.NoError(b.store.RemoveSpaceMember(b.ctx, b.owner, sp.ID, false, id))
	}
	for _, name := range []string{"Conversation", "ListConversations", "History", "Recent", "Events", "Logs"} {
		b.True(tells(must.Have(conversationReads(b, author, turn)[name](b.ctx))(b.t)), name)
		if name != "Conversation" && name != "ListConversations" { // the title is that of the copy
			b.False(tells(must.Have(conversationReads(b, copier, copied)[name](b.ctx))(b.t)), name)
		}
	}
	b.False(tells(must.Have(b.store.History(db.ReadBy(in, copier), author, turn.ThreadID, "", "", 10))(b.t).Messages), "another reader")
	b.ErrorIs(must.ErrOf(b.store.ListDocuments(in, author, "", 10)), db.ErrNotFound)
}
