package rules

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

// Library returns the owner of the documents that a call reads: in a space, if owner (or the
// reader of db.ReadBy) reads it now, the space's (db.InSpace), else owner. Of a scope, owner reads
// all spaces.
func (s *Store) Library(ctx context.Context, owner string) (string, error) {
	space := db.SpaceOf(ctx)
	for _, id := range chat.SpacesIn(space) {
		if _, err := s.reads(ctx, db.ReaderOf(ctx, owner), id); err != nil {
			return "", err
		}
	}
	if home := chat.Home(space); home != "" {
		return chat.SpaceOwner(home), nil
	}
	return owner, nil
}

// Visible says which documents a call sees: those of Owner, public ones, and those that Author
// or somebody whose messages were copied, has attached to Threads.
type Visible struct {
	Owner  string // of Library
	Author string // in a space: of the conversation; empty: nothing is attached
	Thread string // of db.InThread
	// Copied are attached documents of others that messages name which were copied into Thread.
	Copied []sqlcgen.CopiedAttachmentsRow
	// Spaces are the owners of the documents of the spaces in the scope of a conversation.
	Spaces []string
}

// Owners are those of all documents in question; the first is Owner.
func (v Visible) Owners() []string {
	return slices.Concat([]string{v.Owner, chat.PublicOwner}, v.Spaces, v.Authors())
}

// Authors are those whose documents are seen only as far as they belong to Threads.
func (v Visible) Authors() []string {
	list := []string{v.Author}
	for _, c := range v.Copied {
		list = append(list, c.Owner)
	}
	return list
}

// Threads are the conversations whose documents are seen.
func (v Visible) Threads() []string {
	list := []string{v.Thread}
	for _, c := range v.Copied {
		list = append(list, c.ThreadID)
	}
	return list
}

// Visible is what a call sees that names owner, the author of the conversation of db.InThread.
func (s *Store) Visible(ctx context.Context, owner string) (Visible, error) {
	library, err := s.Library(ctx, owner)
	see := Visible{Owner: library, Thread: db.ThreadOf(ctx)}
	if err == nil && library != owner && see.Thread != "" {
		see.Author = owner
		see.Copied, err = s.db.Read.CopiedAttachments(ctx, sqlcgen.CopiedAttachmentsParams{Owner: owner, ThreadID: see.Thread, SpaceID: db.SpaceOf(ctx)})
	}
	if space := db.SpaceOf(ctx); chat.Home(space) == "" {
		for _, id := range chat.SpacesIn(space) {
			see.Spaces = append(see.Spaces, chat.SpaceOwner(id))
		}
	}
	return see, err
}

// visibleOne is Visible for a call that names a document. In a space, outside of a conversation, it
// sees what belongs to a conversation that owner reads there.
func (s *Store) visibleOne(ctx context.Context, owner, id string) (Visible, error) {
	see, err := s.Visible(ctx, owner)
	if err != nil || see.Owner == owner || see.Thread != "" {
		return see, err
	}
	row, err := s.db.Read.AttachedInSpace(ctx, sqlcgen.AttachedInSpaceParams{ID: id, Reader: db.ReaderOf(ctx, owner), SpaceID: db.SpaceOf(ctx)})
	if errors.Is(err, sql.ErrNoRows) {
		return see, nil
	}
	see.Author, see.Thread = row.Owner, row.ThreadID
	return see, err
}

func (s *Store) ThisSpace(ctx context.Context, owner string) (_ chat.Space, err error) {
	ctx, end := s.short(ctx, "read this space")
	defer end(&err)
	space := db.SpaceOf(ctx)
	switch {
	case space == "":
		return chat.Space{}, nil
	case chat.Home(space) != "":
		return s.reads(ctx, db.ReaderOf(ctx, owner), space)
	}
	all := chat.Space{ID: space, ToolServers: []string{chat.EveryServer}}
	for _, id := range chat.SpacesIn(space) {
		sp, err := s.reads(ctx, db.ReaderOf(ctx, owner), id)
		if err != nil {
			return chat.Space{}, err
		}
		all.ToolServers = sp.Allowed(all.ToolServers)
	}
	return all, nil
}

// reads returns a space that a person reads, else ErrNotFound. It looks that up at most once
// in db.MembershipKept.
func (s *Store) reads(ctx context.Context, person, space string) (chat.Space, error) {
	if sp, known := s.members.find(membership{person, space}, time.Now()); known {
		return sp, nil
	}
	return s.lookUp(ctx, person, space, chat.Reader)
}

// lookUp is spaceFor, for later calls of reads, too.
func (s *Store) lookUp(ctx context.Context, person, space string, least chat.Role) (chat.Space, error) {
	at, changes := time.Now(), s.members.count()
	sp, err := spaceFor(ctx, s.db.Read, person, space, least)
	if err == nil {
		s.members.put(membership{person, space}, readSpace{sp, at}, changes)
	}
	return sp, err
}

// memberships are the look-ups of the last moments that have found a reader.
type memberships struct {
	mu      sync.Mutex
	changes int // of members; a look-up that began before the last one is not kept
	known   map[membership]readSpace
}

type membership struct{ person, space string }

type readSpace struct {
	chat.Space
	at time.Time
}

const maxMemberships = 10_000

func (m *memberships) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

func (m *memberships) find(key membership, now time.Time) (chat.Space, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, is := m.known[key]
	return f.Space, is && now.Sub(f.at) < db.MembershipKept
}

func (m *memberships) put(key membership, f readSpace, changes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if changes != m.changes {
		return
	}
	if m.known == nil || len(m.known) >= maxMemberships {
		m.known = map[membership]readSpace{}
	}
	m.known[key] = f
}

func (m *memberships) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes, m.known = m.changes+1, nil
}

// shows reports whether a call may show what turns in a space took from documents: owner, or the
// reader of db.ReadBy, reads the space, and the call is made in it; or reads all of a scope.
func (s *Store) shows(ctx context.Context, owner, space string) (bool, error) {
	if chat.Home(space) != "" && db.SpaceOf(ctx) != space {
		return false, nil
	}
	for _, id := range chat.SpacesIn(space) {
		if _, err := s.reads(ctx, db.ReaderOf(ctx, owner), id); errors.Is(err, db.ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// keeps reports whether a person keeps what their own turns took from a space: owner reads,
// author is that of a copied turn, and the installation says so.
func (s *Store) keeps(ctx context.Context, owner, author string) bool {
	return s.keepAnswers && db.ReaderOf(ctx, owner) == owner && (author == "" || author == owner)
}

// withheld replaces in messages what their turns took from documents, unless it may be shown.
func (s *Store) withheld(ctx context.Context, owner string, messages []chat.Message) (err error) {
	shown := map[string]bool{}
	for i, m := range messages {
		show, known := shown[m.Space]
		if !known {
			if show, err = s.shows(ctx, owner, m.Space); err != nil {
				return err
			}
			shown[m.Space] = show
		}
		if !show && !s.keeps(ctx, owner, m.Author) {
			messages[i] = m.Withhold(cmp.Or(m.Author, owner) == db.ReaderOf(ctx, owner))
		}
	}
	return nil
}

// withheldEvents is withheld for the log of one turn.
func (s *Store) withheldEvents(ctx context.Context, owner, author, space string, log []chat.Event) ([]chat.Event, error) {
	show, err := s.shows(ctx, owner, space)
	if err != nil || show || s.keeps(ctx, owner, author) {
		return log, err
	}
	return chat.WithholdEvents(log), nil
}

// withheldLog is withheldEvents, and replaces the words of somebody else whose turn was copied.
func (s *Store) withheldLog(ctx context.Context, owner string, l *db.TurnLog) error {
	show, err := s.shows(ctx, owner, l.Turn.Space)
	if err != nil || show || s.keeps(ctx, owner, l.Turn.Author) {
		return err
	}
	l.Events = chat.WithholdEvents(l.Events)
	if cmp.Or(l.Turn.Author, owner) != db.ReaderOf(ctx, owner) {
		l.Turn.Content = chat.Content{Message: chat.Withheld, Agent: l.Turn.Content.Agent}
	}
	return nil
}

// AuthorInSpace implements db.Conversations.
func (s *Store) AuthorInSpace(ctx context.Context, reader, id string) (_ string, err error) {
	ctx, end := s.short(ctx, "find the author of a shared conversation")
	defer end(&err)
	if _, err := s.Library(ctx, reader); err != nil || db.SpaceOf(ctx) == "" {
		return reader, err
	}
	author, err := s.db.Read.AuthorInSpace(ctx, sqlcgen.AuthorInSpaceParams{ID: id, SpaceID: db.SpaceOf(ctx)})
	if errors.Is(err, sql.ErrNoRows) { // it is not shared, or does not exist
		return reader, nil
	}
	return author, err
}

// spaceFor returns a space in which owner has at least a role.
func spaceFor(ctx context.Context, q Queries, owner, id string, least chat.Role) (chat.Space, error) {
	sp, err := memberOf(ctx, q, owner, id, least)
	if err == nil && !sp.DeletedAt.IsZero() {
		return chat.Space{}, db.ErrNotFound
	}
	return sp, err
}

// memberOf is spaceFor, also for a deleted space.
func memberOf(ctx context.Context, q Queries, owner, id string, least chat.Role) (chat.Space, error) {
	row, err := q.SpaceOf(ctx, sqlcgen.SpaceOfParams{ID: id, Owner: owner, Now: record.Micros(time.Now())})
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && row.Role < int64(chat.Reader):
		return chat.Space{}, db.ErrNotFound
	case err != nil:
		return chat.Space{}, err
	case row.Role < int64(least):
		return chat.Space{}, db.ErrForbidden
	}
	return space(row), nil
}

func space(r sqlcgen.SpaceOfRow) chat.Space {
	return chat.Space{ID: r.ID, Name: r.Name, Everybody: r.Everybody, Links: r.Links, Instructions: r.Instructions, Agent: chat.Agent(r.Agent), Effort: chat.Effort(r.Effort), ToolServers: toolServers(r.ToolServers),
		CreatedAt: record.Time(r.CreatedAt), DeletedAt: record.Time(r.DeletedAt), Role: chat.Role(r.Role)}
}

// toolServers reads a stored list; what is no list allows no server.
func toolServers(stored string) (list []string) {
	if json.Unmarshal([]byte(stored), &list) != nil {
		return nil
	}
	return list
}

func (s *Store) CreateSpace(ctx context.Context, owner string, sp chat.Space) (err error) {
	ctx, end := s.short(ctx, "create space")
	defer end(&err)
	at := record.OrNow(sp.CreatedAt)
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.LockQuotas(ctx, []string{"spaces:" + owner}); err != nil {
			return err
		}
		if of, err := q.SpacesOfPerson(ctx, owner); err != nil || len(of) >= db.MaxSpaces {
			return cmp.Or(err, db.ErrManySpaces)
		}
		err := q.CreateSpace(ctx, sqlcgen.CreateSpaceParams{ID: sp.ID, Name: sp.Name, Everybody: sp.Everybody, Links: sp.Links, Instructions: sp.Instructions, Agent: string(sp.Agent), Effort: string(sp.Effort), ToolServers: record.Strings(sp.ToolServers), CreatedAt: record.Micros(at)})
		if err == nil {
			err = usePublic(ctx, q, sp)
		}
		if err != nil {
			return err
		}
		return putMember(ctx, q, sp.ID, chat.SpaceMember{ID: owner, Role: chat.Manager, AddedBy: owner, AddedAt: at})
	})
}

// usePublic stores, as a person's profile does, whether public documents are left out.
func usePublic(ctx context.Context, q Queries, sp chat.Space) error {
	return q.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: chat.SpaceOwner(sp.ID), HideSamples: !sp.Everybody})
}

func putMember(ctx context.Context, q Queries, space string, m chat.SpaceMember) error {
	return q.PutSpaceMember(ctx, sqlcgen.PutSpaceMemberParams{SpaceID: space, Kind: memberKind(m.Group), Member: m.ID, Role: int64(m.Role),
		AddedBy: m.AddedBy, AddedAt: record.Micros(record.OrNow(m.AddedAt))})
}

func memberKind(group bool) string {
	if group {
		return "group"
	}
	return "person"
}

func (s *Store) Space(ctx context.Context, owner, id string, least chat.Role) (_ chat.Space, err error) {
	ctx, end := s.short(ctx, "read space")
	defer end(&err)
	return s.lookUp(ctx, owner, id, least)
}

func (s *Store) Spaces(ctx context.Context, owner string) (_ []chat.Space, err error) {
	ctx, end := s.short(ctx, "list spaces")
	defer end(&err)
	rows, err := s.db.Read.SpacesOf(ctx, sqlcgen.SpacesOfParams{Owner: owner, Now: record.Micros(time.Now())})
	list, err := rowsTo(rows, err, func(r sqlcgen.SpacesOfRow) chat.Space { return space(sqlcgen.SpaceOfRow(r)) })
	return slices.DeleteFunc(list, func(sp chat.Space) bool {
		return sp.Role < chat.Reader || !sp.DeletedAt.IsZero() && sp.Role < chat.Manager
	}), err
}

// managed runs f while no other change of the space runs, if owner manages it.
func (s *Store) managed(ctx context.Context, owner, id string, f func(Queries, chat.Space) error) error {
	return s.db.Update(ctx, func(q Queries) error {
		sp, err := lockedSpace(ctx, q, owner, id, chat.Manager)
		if err != nil {
			return err
		}
		return f(q, sp)
	})
}

// lockedSpace is spaceFor; membership does not change until the transaction ends.
func lockedSpace(ctx context.Context, q Queries, owner, id string, least chat.Role) (chat.Space, error) {
	if _, err := q.LockSpace(ctx, id); err != nil {
		return chat.Space{}, err
	}
	return spaceFor(ctx, q, owner, id, least)
}

func (s *Store) ChangeSpace(ctx context.Context, owner string, to chat.Space) (err error) {
	ctx, end := s.short(ctx, "change space")
	defer end(&err)
	defer s.members.drop()
	return s.managed(ctx, owner, to.ID, func(q Queries, _ chat.Space) error {
		err := record.Found(q.ChangeSpace(ctx, sqlcgen.ChangeSpaceParams{ID: to.ID, Name: to.Name, Everybody: to.Everybody, Links: to.Links, Instructions: to.Instructions, Agent: string(to.Agent), Effort: string(to.Effort), ToolServers: record.Strings(to.ToolServers)}))
		if err != nil {
			return err
		}
		return usePublic(ctx, q, to)
	})
}

func (s *Store) DeleteSpace(ctx context.Context, owner, id, name string, at time.Time) (err error) {
	ctx, end := s.short(ctx, "delete space")
	defer end(&err)
	defer s.members.drop()
	return s.managed(ctx, owner, id, func(q Queries, sp chat.Space) error {
		if sp.Name != name {
			return db.ErrSameName
		}
		return record.Found(q.SetSpaceDeleted(ctx, sqlcgen.SetSpaceDeletedParams{ID: id, At: record.Micros(at)}))
	})
}

func (s *Store) RestoreSpace(ctx context.Context, owner, id string) (err error) {
	ctx, end := s.short(ctx, "restore space")
	defer end(&err)
	defer s.members.drop()
	return s.db.Update(ctx, func(q Queries) error {
		if _, err := memberOf(ctx, q, owner, id, chat.Manager); err != nil {
			return err
		}
		return record.Found(q.SetSpaceDeleted(ctx, sqlcgen.SetSpaceDeletedParams{ID: id, At: 0}))
	})
}

const maxPeople = 1_000 // of one space, whose names are shown

func (s *Store) PeopleInSpace(ctx context.Context, owner, id string) (_ map[string]string, err error) {
	ctx, end := s.short(ctx, "name people of a space")
	defer end(&err)
	if _, err := spaceFor(ctx, s.db.Read, owner, id, chat.Reader); err != nil {
		return nil, err
	}
	rows, err := s.db.Read.PeopleOfSpace(ctx, sqlcgen.PeopleOfSpaceParams{SpaceID: id, Library: chat.SpaceOwner(id), MaxRows: maxPeople})
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.Owner] = r.KnownAs
	}
	return names, err
}

func (s *Store) SpaceMembers(ctx context.Context, owner, id string) (_ []chat.SpaceMember, err error) {
	ctx, end := s.short(ctx, "list members")
	defer end(&err)
	if _, err := spaceFor(ctx, s.db.Read, owner, id, chat.Manager); err != nil {
		return nil, err
	}
	return members(ctx, s.db.Read, id)
}

func members(ctx context.Context, q Queries, id string) ([]chat.SpaceMember, error) {
	rows, err := q.SpaceMembers(ctx, id)
	return rowsTo(rows, err, func(r sqlcgen.SpaceMembersRow) chat.SpaceMember {
		return chat.SpaceMember{Group: r.Kind == memberKind(true), ID: r.Member, Role: chat.Role(r.Role), AddedBy: r.AddedBy, AddedAt: record.Time(r.AddedAt)}
	})
}

func (s *Store) PutSpaceMember(ctx context.Context, owner, id string, m chat.SpaceMember) (err error) {
	ctx, end := s.short(ctx, "put member")
	defer end(&err)
	defer s.members.drop()
	return s.managed(ctx, owner, id, func(q Queries, _ chat.Space) error {
		m.AddedBy = owner
		if err := putMember(ctx, q, id, m); err != nil {
			return err
		}
		return checkMembers(ctx, q, id)
	})
}

// checkMembers refuses a space with too many members, or without a manager.
func checkMembers(ctx context.Context, q Queries, id string) error {
	all, err := members(ctx, q, id)
	switch {
	case err != nil:
		return err
	case len(all) > db.MaxSpaceMembers:
		return db.ErrManyMembers
	case !slices.ContainsFunc(all, func(m chat.SpaceMember) bool { return m.Role == chat.Manager }):
		return db.ErrLastManager
	}
	return nil
}

func (s *Store) RemoveSpaceMember(ctx context.Context, owner, id string, group bool, member string) (err error) {
	ctx, end := s.short(ctx, "remove member")
	defer end(&err)
	defer s.members.drop()
	least := chat.Manager
	if !group && member == owner { // leaves
		least = chat.Reader
	}
	return s.db.Update(ctx, func(q Queries) error {
		if _, err := lockedSpace(ctx, q, owner, id, least); err != nil {
			return err
		}
		err := record.Found(q.RemoveSpaceMember(ctx, sqlcgen.RemoveSpaceMemberParams{SpaceID: id, Kind: memberKind(group), Member: member}))
		if err != nil {
			return err
		}
		if err := revokeLeftKeys(ctx, q, id, ""); err != nil {
			return err
		}
		return checkMembers(ctx, q, id)
	})
}

func (s *Store) PutGroups(ctx context.Context, owner string, groups []string, until time.Time) (err error) {
	ctx, end := s.short(ctx, "put groups")
	defer end(&err)
	if known, err := s.db.Read.PersonGroups(ctx, owner); err != nil || sameGroups(known, groups, until) {
		return err
	}
	defer s.members.drop()
	return s.db.Update(ctx, func(q Queries) error {
		if err := q.ClearPersonGroups(ctx, owner); err != nil {
			return err
		}
		for _, name := range groups {
			if err := q.AddPersonGroup(ctx, sqlcgen.AddPersonGroupParams{Owner: owner, Name: name, Until: record.Micros(until)}); err != nil {
				return err
			}
		}
		return revokeLeftKeys(ctx, q, "", owner)
	})
}

// sameGroups reports whether groups are stored, for a time that is not much shorter.
func sameGroups(known []sqlcgen.PersonGroupsRow, groups []string, until time.Time) bool {
	return len(known) == len(groups) && !slices.ContainsFunc(known, func(g sqlcgen.PersonGroupsRow) bool {
		return !slices.Contains(groups, g.Name) || g.Until > record.Micros(until) || g.Until < record.Micros(until.Add(-db.GroupsKept/2))
	})
}

func (s *Store) DeleteInSpace(ctx context.Context, owner, space, id string, at time.Time) (err error) {
	ctx, end := s.short(ctx, "delete a space's document")
	defer end(&err)
	return s.db.Update(ctx, func(q Queries) error {
		return give(ctx, q, gift{owner: owner, space: space, id: id, from: chat.SpaceOwner(space), to: chat.SpaceTrash(space), deletedAt: at})
	})
}

func (w within) RestoreInSpace(ctx context.Context, owner, space, id string) (err error) {
	ctx, end := w.s.short(ctx, "restore a space's document")
	defer end(&err)
	return w.give(ctx, gift{owner: owner, space: space, id: id, from: chat.SpaceTrash(space), to: chat.SpaceOwner(space)})
}

func (w within) LeaveSpace(ctx context.Context, owner, space, id string) (err error) {
	ctx, end := w.s.short(ctx, "move a document out of a space")
	defer end(&err)
	return w.give(ctx, gift{owner: owner, space: space, id: id, from: chat.SpaceOwner(space), to: owner, byAdder: true})
}

func (w within) MoveToSpace(ctx context.Context, owner, space, id string) (err error) {
	ctx, end := w.s.short(ctx, "move a document into a space")
	defer end(&err)
	return w.give(ctx, gift{owner: owner, space: space, id: id, from: owner, to: chat.SpaceOwner(space)})
}

// give gives a document to another owner within that owner's bounds.
func (w within) give(ctx context.Context, g gift) error {
	return w.s.db.Update(ctx, func(q Queries) error {
		if err := give(ctx, q, g); err != nil {
			return err
		}
		return w.checkBounds(ctx, q, g.to, aDocument)
	})
}

// gift is a change of a document's owner, within or between a person and a space in which the
// person contributes.
type gift struct {
	owner, space, id string
	from, to         string
	byAdder          bool // only the person who added it, or a manager
	deletedAt        time.Time
}

func give(ctx context.Context, q Queries, g gift) error {
	sp, err := lockedSpace(ctx, q, g.owner, g.space, chat.Contributor)
	if err != nil {
		return err
	}
	row, err := q.DocumentForChange(ctx, g.from, g.id)
	if err := changeable(row, g.from, err); err != nil {
		return err
	}
	switch {
	case g.byAdder && sp.Role < chat.Manager && row.AddedBy != g.owner:
		return db.ErrForbidden
	case row.Status == string(chat.DocProcessing) && !g.deletedAt.IsZero(): // its ingest could not go on after a restore
		return record.Found(q.DeleteDocument(ctx, sqlcgen.DeleteDocumentParams{ID: g.id, Owner: g.from}))
	case row.Status == string(chat.DocProcessing):
		return db.ErrProcessing
	}
	if row.ExternalID != "" {
		same, err := q.ImportedDocument(ctx, sqlcgen.ImportedDocumentParams{Owner: g.to, SourceType: row.SourceType, ExternalID: row.ExternalID})
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err == nil && !g.deletedAt.IsZero(): // the one that was deleted last can be restored
			err = record.Found(q.DeleteDocument(ctx, sqlcgen.DeleteDocumentParams{ID: same.ID, Owner: g.to}))
			if err != nil {
				return err
			}
		default:
			return cmp.Or(err, db.ErrSameSource)
		}
	}
	by := row.AddedBy
	if g.from == g.owner {
		by = g.owner
	} else if g.to == g.owner {
		by = ""
	}
	return record.Found(q.GiveDocument(ctx, sqlcgen.GiveDocumentParams{ID: g.id, Owner: g.from, ToOwner: g.to, AddedBy: by, DeletedAt: record.Micros(g.deletedAt)}))
}

func (s *Store) DeletedInSpace(ctx context.Context, owner, space string) (_ []chat.Document, err error) {
	ctx, end := s.short(ctx, "list a space's deleted documents")
	defer end(&err)
	if _, err := spaceFor(ctx, s.db.Read, owner, space, chat.Contributor); err != nil {
		return nil, err
	}
	rows, err := s.db.Read.DeletedDocuments(ctx, chat.SpaceTrash(space))
	return rowsTo(rows, err, func(r sqlcgen.DeletedDocumentsRow) chat.Document {
		return chat.Document{ID: r.ID, Title: r.Title, AddedBy: r.AddedBy, DeletedAt: record.Time(r.DeletedAt)}
	})
}

func (s *Store) PruneSpaces(ctx context.Context, now time.Time) (err error) {
	ctx, end := s.Call(ctx, "prune spaces", Bulk)
	defer end(&err)
	before := record.Micros(now.Add(-db.SpaceKept))
	if _, err := s.db.Write.PruneDeletedDocuments(ctx, before); err != nil {
		return err
	}
	old, err := s.db.Read.OldSpaces(ctx, before)
	if err != nil {
		return err
	}
	for _, id := range old {
		if err := s.db.Update(ctx, func(q Queries) error {
			old, err := q.LockOldSpace(ctx, sqlcgen.LockOldSpaceParams{ID: id, BeforeAt: before})
			if err != nil || old == 0 { // restored meanwhile
				return err
			}
			return dropSpace(ctx, q, id)
		}); err != nil {
			return err
		}
	}
	return nil
}

// dropSpace deletes a space with all that it has.
func dropSpace(ctx context.Context, q Queries, id string) error {
	for _, owner := range []string{chat.SpaceOwner(id), chat.SpaceTrash(id)} {
		for _, remove := range []func(context.Context, string) error{q.DeleteUserDocuments, q.DeleteUserSets, q.DeleteUserBoards, q.DeleteUserProfile} {
			if err := remove(ctx, owner); err != nil {
				return err
			}
		}
	}
	if err := q.DropSpace(ctx, id); err != nil {
		return err
	}
	return revokeLeftKeys(ctx, q, id, "")
}

// dropOwnSpaces deletes the spaces that have no other member than owner, who is deleted.
func dropOwnSpaces(ctx context.Context, q Queries, owner string) error {
	of, err := q.SpacesOfPerson(ctx, owner)
	if err != nil {
		return err
	}
	for _, id := range of {
		if _, err := q.LockSpace(ctx, id); err != nil {
			return err
		}
		all, err := members(ctx, q, id)
		if err == nil && len(all) == 1 {
			err = dropSpace(ctx, q, id)
		} else if err == nil {
			err = nextManagers(ctx, q, id, slices.DeleteFunc(all, func(m chat.SpaceMember) bool { return !m.Group && m.ID == owner }))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextManagers lets the people with the greatest role manage a space, if nobody else does.
func nextManagers(ctx context.Context, q Queries, id string, left []chat.SpaceMember) error {
	greatest := chat.NoMember
	for _, m := range left {
		if m.Role == chat.Manager {
			return nil
		}
		if !m.Group {
			greatest = max(greatest, m.Role)
		}
	}
	for _, m := range left {
		if !m.Group && m.Role == greatest {
			m.Role = chat.Manager
			if err := putMember(ctx, q, id, m); err != nil {
				return err
			}
		}
	}
	return nil
}
