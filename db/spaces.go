package db

import (
	"context"
	"errors"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

type spaceKey struct{}

// InSpace returns a context in which owner's reads of documents, passages, words and sets are
// those of the space, or, for a chat.Scope, of owner and its spaces. Each read looks up whether owner reads the space at that time:
// ErrNotFound if not. Without InSpace, nothing of a space is read.
func InSpace(ctx context.Context, space string) context.Context {
	return context.WithValue(ctx, spaceKey{}, space)
}

// SpaceOf returns the space of InSpace; "" without one.
func SpaceOf(ctx context.Context) string {
	id, _ := ctx.Value(spaceKey{}).(string)
	return id
}

type readerKey struct{}

// ReadBy returns a context in which reader's membership counts, not that of the owner of a
// conversation that is read (AuthorInSpace).
func ReadBy(ctx context.Context, reader string) context.Context {
	return context.WithValue(ctx, readerKey{}, reader)
}

// ReaderOf returns the reader of ReadBy; owner without one.
func ReaderOf(ctx context.Context, owner string) string {
	if id, _ := ctx.Value(readerKey{}).(string); id != "" {
		return id
	}
	return owner
}

// MembershipKept is how long a read of a space relies on the look-up of an earlier read. A
// change of members that this store has made takes effect at once,
// one of another process after this time.
const MembershipKept = 2 * time.Second

// Limits of spaces.
const (
	MaxSpaces       = 50  // that one person is a member of by their id
	MaxSpaceMembers = 500 // of one space
)

// SpaceKept is how long a deleted space, or a document deleted in one, can be restored.
const SpaceKept = 30 * 24 * time.Hour

// GroupsKept is how long the groups of a token count, until the next one.
const GroupsKept = 24 * time.Hour

// Reasons why a space, or its members, are not changed.
var (
	ErrLastManager = errors.New("a space needs a manager")
	ErrManySpaces  = errors.New("too many spaces")
	ErrManyMembers = errors.New("too many members")
	ErrSameName    = errors.New("the name is not that of the space")
	ErrProcessing  = errors.New("the document is still processed")
	ErrOtherSpace  = errors.New("the conversation is in another space")
	ErrSameSource  = errors.New("the space has the document of this source")
)

// Spaces keeps the libraries of teams. For somebody who does not read the space, every method
// returns ErrNotFound; for a member whose role does not suffice, ErrForbidden.
type Spaces interface {
	// CreateSpace makes owner the manager. ErrManySpaces beyond MaxSpaces.
	CreateSpace(ctx context.Context, owner string, s chat.Space) error
	// Space returns a space that owner reads, with owner's role. It needs at least a role; a
	// deleted space is ErrNotFound.
	Space(ctx context.Context, owner, id string, least chat.Role) (chat.Space, error)
	// ThisSpace returns the space of ctx, by a look-up of the last moments (MembershipKept); zero
	// without one. For a scope it has the tool servers that all its spaces allow.
	ThisSpace(ctx context.Context, owner string) (chat.Space, error)
	// Spaces lists the spaces that owner reads, oldest first, and deleted ones that owner managed.
	Spaces(ctx context.Context, owner string) ([]chat.Space, error)
	// ChangeSpace replaces what managers choose.
	ChangeSpace(ctx context.Context, owner string, s chat.Space) error
	// DeleteSpace needs the name of the space (ErrSameName). Nothing of it is read until
	// RestoreSpace, and nothing is kept after SpaceKept.
	DeleteSpace(ctx context.Context, owner, id, name string, at time.Time) error
	RestoreSpace(ctx context.Context, owner, id string) error
	// PeopleInSpace returns the names of people whom readers of a space meet there, by id.
	PeopleInSpace(ctx context.Context, owner, id string) (map[string]string, error)
	// SpaceMembers lists the members for managers.
	SpaceMembers(ctx context.Context, owner, id string) ([]chat.SpaceMember, error)
	// PutSpaceMember adds a member or changes the role. ErrLastManager when no manager would be left.
	PutSpaceMember(ctx context.Context, owner, id string, m chat.SpaceMember) error
	// RemoveSpaceMember is for managers, and for people who leave.
	RemoveSpaceMember(ctx context.Context, owner, id string, group bool, member string) error
	// PutGroups replaces the groups of a person until a time.
	PutGroups(ctx context.Context, owner string, groups []string, until time.Time) error
	// DeleteInSpace deletes a document of a space, which Inserter.RestoreInSpace brings back unless it
	// was still processing.
	DeleteInSpace(ctx context.Context, owner, space, id string, at time.Time) error
	// DeletedInSpace lists the newest 200 documents that were deleted, for contributors.
	DeletedInSpace(ctx context.Context, owner, space string) ([]chat.Document, error)
	// PruneSpaces deletes what cannot be restored any more.
	PruneSpaces(ctx context.Context, now time.Time) error
}
