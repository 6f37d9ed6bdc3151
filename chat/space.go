package chat

import (
	"slices"
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
	// ToolServers are the MCP servers whose tools its turns may call; EveryServer: all.
	ToolServers []string
	CreatedAt   time.Time
	DeletedAt   time.Time // zero: it is not deleted
	Role        Role      // of the person who reads it
}

// MaxSpaceInstructions limits Space.Instructions, in characters.
const MaxSpaceInstructions = 4000

// EveryServer stands in Space.ToolServers for all MCP servers. No server has this name.
const EveryServer = "*"

// MayUse reports whether turns in the space may call the tools of an MCP server. Outside of
// spaces they may call those of all.
func (s Space) MayUse(server string) bool {
	return s.ID == "" || slices.Contains(s.ToolServers, EveryServer) || slices.Contains(s.ToolServers, server)
}

// Allowed returns those of servers whose tools turns in the space may call, too.
func (s Space) Allowed(servers []string) []string {
	if slices.Contains(servers, EveryServer) {
		return s.ToolServers
	}
	return slices.DeleteFunc(slices.Clone(servers), func(server string) bool { return !s.MayUse(server) })
}

const (
	inScope = "+"
	leftOut = "~"
)

// Scope names the spaces whose documents a conversation in no space reads besides its owner's, in
// the place of the space of a conversation. It is empty for none.
func Scope(spaces []string) string {
	if len(spaces) == 0 {
		return ""
	}
	return inScope + strings.Join(spaces, inScope)
}

// ScopeWithout is the scope that a conversation keeps: left are the spaces that it had, and that its
// owner did not read when they wrote last. They return when their owner does.
func ScopeWithout(spaces, left []string) string {
	if len(left) == 0 {
		return Scope(spaces)
	}
	return Scope(spaces) + leftOut + strings.Join(left, leftOut)
}

// LeftIn lists the left spaces of ScopeWithout.
func LeftIn(scope string) []string { return strings.Split(scope, leftOut)[1:] }

// SpacesIn lists the spaces of a scope, without those that were left, or the one space that is named.
func SpacesIn(space string) []string {
	if space, _, _ = strings.Cut(space, leftOut); space == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(space, inScope), inScope)
}

// Home returns the space that a conversation belongs to; "" for a scope.
func Home(space string) string {
	if strings.HasPrefix(space, inScope) || strings.HasPrefix(space, leftOut) {
		return ""
	}
	return space
}

// MaxScope limits the spaces that a conversation reads, besides its owner's documents.
const MaxScope = 20

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
