package dbtest

import (
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// space makes a space of b.owner.
func (b *fixture) space(name string) chat.Space {
	b.t.Helper()
	s := chat.Space{ID: uuid.NewString(), Name: name, CreatedAt: b.now()}
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

// spaceReads are all calls that read documents, passages, words or sets for an owner. They
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
		"SetsByID": func(space string) (bool, error) {
			found, err := s.SetsByID(in(b.ctx, space), owner, []string{set})
			return len(found) > 0, err
		},
	}
}

// canary stores a document with the text "canary" in a space, and a set with it.
func (b *fixture) canary(space string) (d chat.Document, set string) {
	b.t.Helper()
	d = chat.Document{ID: uuid.NewString(), Owner: chat.SpaceOwner(space), Title: "Canary", AddedBy: b.owner, CreatedAt: b.now()}
	b.NoError(b.store.CreateDocument(b.ctx, d, []byte("raw")))
	b.NoError(b.store.StoreText(b.ctx, d.Owner, d.ID, "canary", []chat.Chunk{{Text: "canary", End: 6}}, [][]float32{{1, 0}}))
	set = uuid.NewString()
	b.NoError(b.store.CreateSet(b.ctx, chat.DocumentSet{ID: set, Owner: d.Owner, Name: "Set", DocIDs: []string{d.ID}}))
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
			if name != "ListSets" && name != "SetsByID" {
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
		b.Empty(must.Have(b.store.UserData(b.ctx, chat.SpaceOwner(sp.ID)))(b.t).Documents)
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
		must.Have(b.store.DeleteUser(b.ctx, b.owner))(b.t)
		b.Empty(must.Have(b.store.Document(db.InSpace(b.ctx, sp.ID), second, d.ID))(b.t).AddedBy)
		left := must.Have(b.store.SpaceMembers(b.ctx, second, sp.ID))(b.t)
		b.Len(left, 1)
		b.Empty(left[0].AddedBy)
	}},
}
