package chat

import (
	"strings"
	"time"
)

// Space is a library that a team shares.
type Space struct {
	ID        string
	Name      string
	Everybody bool // searches use public documents, too
	Links     bool // people may share their conversations by public links
	// Instructions are told to models as the operator's, at most MaxSpaceInstructions characters.
	Instructions string
	Agent        Agent  // of new conversations; empty: the usual one
	Effort       Effort // of messages that name none; empty: that of the settings
	CreatedAt    time.Time
	DeletedAt    time.Time // zero: it is not deleted
	Role         Role      // of the person who reads it
}

// MaxSpaceInstructions limits Space.Instructions, in characters.
const MaxSpaceInstructions = 4000

// Role is what a member of a space may do. A greater one may do all that a smaller one may.
type Role int

const (
	NoMember    Role = iota
	Reader           // reads and asks
	Contributor      // adds, renames and deletes documents
	Manager          // changes the space and its members
)

var roleNames = [...]string{"", "reader", "contributor", "manager"}

// String returns the role's name in the API.
func (r Role) String() string { return roleNames[r] }

// RoleNamed returns the role with a name; NoMember for others.
func RoleNamed(name string) Role {
	for r := Reader; r <= Manager; r++ {
		if r.String() == name {
			return r
		}
	}
	return NoMember
}

// SpaceMember is a person or a group in a space.
type SpaceMember struct {
	Group   bool
	ID      string // of the person; the value of the claim of a group
	Role    Role
	AddedBy string // a person's id; empty: that person is deleted
	AddedAt time.Time
}

const spaceOwner = "space:"

// SpaceOwner returns the owner of a space's documents.
func SpaceOwner(space string) string { return spaceOwner + space }

// SpaceTrash returns the owner of the documents that were deleted in a space and can be restored.
func SpaceTrash(space string) string { return spaceOwner + space + ":deleted" }

// SpaceOf returns the space of an owner of documents; "" for a person.
func SpaceOf(owner string) string {
	space, _ := strings.CutPrefix(owner, spaceOwner)
	if !IsSpaceOwner(owner) {
		return ""
	}
	return space
}

// IsSpaceOwner reports whether an owner is a space's. No person has such an id.
func IsSpaceOwner(owner string) bool { return strings.HasPrefix(owner, spaceOwner) }
