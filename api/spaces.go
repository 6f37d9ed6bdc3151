package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/credential"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
	"github.com/palaver-chat/palaver/tools/mcp"
)

// spaceHeader names the space in which a request works.
const spaceHeader = "X-Space-Id"

var (
	errSpaceRole = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.SpaceRole}
	errSpaceKey  = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.SpaceKey}
	errSpaceLink = &problem.Problem{Status: http.StatusForbidden, Code: chat.CodeForbidden, Message: messages.SpaceLink}
)

// enterSpace lets a request that names a space work there, if its caller has the least role.
// Routes without one work in no space: a request that names one is refused, and nothing
// becomes private by mistake. The request of a key that is bound to a space works there, or is
// refused.
func (s *server) enterSpace(least chat.Role, sends bool) gin.HandlerFunc {
	return func(c *gin.Context) {
		id, who := c.GetHeader(spaceHeader), identity.Of(c)
		if bound := who.Space; bound != "" {
			if least == chat.NoMember || id != "" && id != bound {
				s.fail(c, s.refusedSpace(c.FullPath(), who, id, errSpaceKey))
				return
			}
			id, sends = bound, false
		}
		if id == "" {
			return
		}
		if least == chat.NoMember {
			s.fail(c, notInSpace(c.FullPath()))
			return
		}
		if sends {
			if err := s.EnterSpace(c, id); err != nil {
				s.fail(c, err)
			}
			return
		}
		_, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
			return s.Store.Space(c.Request.Context(), who.ID, id, least)
		})
		if err == nil {
			err = s.checkBound(c.Request.Context(), who, c.Param("id"), c.Param("thread_id"), c.Query("thread_id"), c.Query("conversation_id"))
		}
		if err != nil {
			s.fail(c, err)
			return
		}
		inSpace(c, id)
	}
}

// notInSpace refuses a route that works in no space. What is imported is the importer's until they
// move it.
func notInSpace(route string) error {
	if strings.HasPrefix(route, "/api/imports") || strings.HasSuffix(route, "/reimport") {
		return problem.Invalid("space_id", "is not used here: import the document outside of spaces, then move it")
	}
	return problem.Invalid("space_id", "is not used here")
}

// checkBound refuses conversations of the caller, by id or by the client's own name, that are
// not in the space to which the caller's key is bound.
func (s *server) checkBound(ctx context.Context, who identity.Caller, threads ...string) error {
	for _, name := range threads {
		if who.Space == "" || name == "" {
			continue
		}
		v, err := s.Store.Conversation(ctx, who.ID, threadNamed(who.ID, name))
		switch {
		case notFound(err): // it is somebody else's, or something else
		case err != nil:
			return err
		case v.Space != who.Space:
			return s.refusedSpace("", who, v.Space, problem.NotFound)
		}
	}
	return nil
}

func inSpace(c *gin.Context, id string) {
	request.AddValue(c, func(ctx context.Context) context.Context { return db.InSpace(ctx, id) })
}

// EnterSpace lets a request work in the space that its body names, or in none. Whoever sends a
// message or reads something there is checked then.
func (s *server) EnterSpace(c *gin.Context, id string) error {
	switch named := db.SpaceOf(c.Request.Context()); {
	case id == "" || id == named:
		return nil
	case identity.Of(c).Space != "":
		return s.refusedSpace(c.FullPath(), identity.Of(c), id, errSpaceKey)
	case named != "":
		return problem.Invalid("space_id", "must be the same as "+spaceHeader)
	case identity.Of(c).Anonymous || uuid.Validate(id) != nil:
		return s.refusedSpace(c.FullPath(), identity.Of(c), id, problem.NotFound)
	}
	inSpace(c, id)
	return nil
}

// thisSpace returns the space of a request; zero without one.
func (s *server) thisSpace(ctx context.Context, who identity.Caller) (chat.Space, error) {
	id := db.SpaceOf(ctx)
	if id == "" {
		return chat.Space{}, nil
	}
	sp, err := s.Store.Space(ctx, who.ID, id, chat.Reader)
	return sp, s.refusedSpace("", who, id, err)
}

// space calls f for a caller with an account, and counts the refusal of a space.
func (s *server) space(c *gin.Context, id string, f func(who identity.Caller) (chat.Space, error)) (sp chat.Space, err error) {
	who := identity.Of(c)
	switch {
	case who.Anonymous:
		err = problem.NotFound // they have no spaces
	case uuid.Validate(id) != nil:
		err = problem.NotFound
	default:
		sp, err = f(who)
	}
	return sp, s.refusedSpace(c.FullPath(), who, id, err)
}

// refusedSpace counts the refusal of a space, and returns it.
func (s *server) refusedSpace(route string, who identity.Caller, id string, err error) error {
	if errors.Is(err, db.ErrForbidden) {
		err = errSpaceRole
	}
	if err == nil {
		return nil
	}
	why := ""
	switch status := describe(err).Status; {
	case errors.Is(err, errSpaceKey):
		why = "key"
	case errors.Is(err, errSpaceLink):
		why = "link"
	case status == http.StatusForbidden:
		why = "role"
	case status == http.StatusNotFound:
		why = "no_member"
	default:
		return err
	}
	s.Audit.Count(entry(who, audit.SpaceRefused, map[string]any{"route": route, "space": logged(id), "why": why}), route+" "+why+" "+logged(id))
	return err
}

func logged(id string) string { return id[:min(len(id), maxLoggedID)] }

// libraryOf returns the owner of the library in which a request works.
func libraryOf(ctx context.Context, owner string) string {
	if space := db.SpaceOf(ctx); space != "" {
		return chat.SpaceOwner(space)
	}
	return owner
}

// inScope returns a context that sees, besides the caller's documents, those of the spaces that a
// message names and of its conversation's scope, as far as the caller reads them.
func (s *server) inScope(ctx context.Context, who identity.Caller, thread string, spaces []string) (context.Context, error) {
	if db.SpaceOf(ctx) != "" || who.Anonymous {
		return ctx, nil
	}
	if thread != "" {
		v, err := s.Store.Conversation(ctx, who.ID, thread)
		if err != nil && !notFound(err) {
			return nil, err
		}
		spaces = slices.Concat(spaces, v.Scope)
	}
	var read []string
	for _, id := range spaces {
		switch _, err := s.Store.Space(ctx, who.ID, id, chat.Reader); {
		case notFound(err):
		case err != nil:
			return nil, err
		case !slices.Contains(read, id):
			read = append(read, id)
		}
	}
	return db.InSpace(ctx, chat.Scope(read)), nil
}

// checkScope notes spaces for the scope of a conversation that the caller does not read.
func (s *server) checkScope(ctx context.Context, p *dialect.Problems, who identity.Caller, spaces []string) error {
	if len(spaces) > 0 && db.SpaceOf(ctx) != "" {
		return problem.Invalid("space_ids", "must be empty in a space")
	}
	for _, id := range spaces {
		err := error(problem.NotFound)
		if !who.Anonymous {
			_, err = s.Store.Space(ctx, who.ID, id, chat.Reader)
		}
		if err = s.refusedSpace("", who, id, err); notFound(err) {
			p.Add("space_ids", "names a space that does not exist")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// contributes refuses a caller who only reads the space of the request.
func (s *server) contributes(c *gin.Context) error {
	id := db.SpaceOf(c.Request.Context())
	_, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return s.Store.Space(c.Request.Context(), who.ID, id, chat.Contributor)
	})
	return err
}

// changes returns the owner of a document that a request changes: the caller, also in a space when
// it is attached to a conversation there, else the space, to which the caller contributes.
func (s *server) changes(c *gin.Context, id string) (owner string, err error) {
	ctx, who := c.Request.Context(), identity.Of(c)
	if db.SpaceOf(ctx) == "" {
		return who.ID, nil
	}
	d, err := s.Store.Document(ctx, who.ID, id)
	switch {
	case err != nil && !notFound(err):
		return "", err
	case d.Owner == who.ID:
		return who.ID, nil
	case d.ThreadID != "":
		return "", problem.NotFound
	}
	return libraryOf(ctx, who.ID), s.contributes(c)
}

// putIntoSpace moves a document of the caller's into a space to which they contribute.
func (s *server) putIntoSpace(c *gin.Context, id, space string) error {
	_, err := s.space(c, space, func(who identity.Caller) (chat.Space, error) {
		return chat.Space{}, s.limits.Insert(who).MoveToSpace(c.Request.Context(), who.ID, space, id)
	})
	if err == nil {
		s.Audit.Record(entry(identity.Of(c), audit.DocumentMoved, map[string]any{"document": id, "from": "", "to": space}))
	}
	return err
}

// moveDocument moves a document between the caller's own and a space. It returns a context in
// which the document is read from then on.
func (s *server) moveDocument(c *gin.Context, id, to string) (context.Context, error) {
	ctx, who, from := c.Request.Context(), identity.Of(c), db.SpaceOf(c.Request.Context())
	switch {
	case to == from:
		return ctx, nil
	case who.Space != "": // the key would reach elsewhere
		return ctx, s.refusedSpace(c.FullPath(), who, from, errSpaceKey)
	case to != "" && from != "":
		return ctx, problem.Invalid("space_id", "must be empty in a space: move the document to your own first")
	case to == "":
		if err := s.limits.Insert(who).LeaveSpace(ctx, who.ID, from, id); err != nil {
			if errors.Is(err, db.ErrForbidden) { // they have not added the document
				err = s.refusedSpace(c.FullPath(), who, from, err)
			}
			return ctx, err
		}
	default:
		return db.InSpace(ctx, to), s.putIntoSpace(c, id, to)
	}
	s.Audit.Record(entry(who, audit.DocumentMoved, map[string]any{"document": id, "from": from, "to": to}))
	return db.InSpace(ctx, to), nil
}

func spaceProblem(err error) error {
	if errors.Is(err, db.ErrForbidden) {
		return errSpaceRole
	}
	return err
}

// knownGroups remembers the groups that were stored for callers, so that they are stored once.
type knownGroups struct {
	mu     sync.Mutex
	stored map[string]storedGroups
}

type storedGroups struct {
	names   []string
	at      time.Time
	checked time.Time
}

const (
	maxKnownGroups = 10_000
	maxGroups      = 500 // of one person; Palaver ignores the others
	// groupsChecked is how long a process relies on what it has stored, which another process may
	// have replaced since then.
	groupsChecked = 30 * time.Second
	groupsTimeout = 5 * time.Second
)

// has reports whether this process has stored the groups, and whether that is to be checked again.
func (k *knownGroups) has(id string, names []string, now time.Time) (is, due bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.stored[id]
	if now.Sub(known.at) >= db.GroupsKept/2 || !slices.Equal(known.names, names) {
		return false, false
	}
	if due = now.Sub(known.checked) >= groupsChecked; due {
		known.checked = now
		k.stored[id] = known
	}
	return true, due
}

func (k *knownGroups) put(id string, names []string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stored == nil || len(k.stored) >= maxKnownGroups {
		k.stored = map[string]storedGroups{}
	}
	k.stored[id] = storedGroups{names, now, now}
}

// noteGroups stores the groups of a caller's token when they have changed, in this process or in
// another one. Personal keys and turns that are running have those of the newest token.
func (s *server) noteGroups(c *gin.Context) {
	who, now := identity.Of(c), time.Now()
	if who.By != credential.Token || who.Anonymous || len(s.identity.Issuers) == 0 {
		return
	}
	names := slices.Compact(slices.Sorted(slices.Values(who.Groups)))
	names = names[:min(len(names), maxGroups)]
	is, due := s.groups.has(who.ID, names, now)
	switch {
	case !is:
		s.putGroups(c.Request.Context(), who, names, now)
	case due: // the request does not wait for it
		go func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, groupsTimeout)
			defer cancel()
			s.putGroups(ctx, who, names, now)
		}(context.WithoutCancel(c.Request.Context()))
	}
}

func (s *server) putGroups(ctx context.Context, who identity.Caller, names []string, now time.Time) {
	if err := s.Store.PutGroups(ctx, who.ID, names, now.Add(db.GroupsKept)); err != nil {
		s.Log.Warn("storing a caller's groups failed; a later request tries again", "request_id", who.RequestID, "error", err)
		return
	}
	s.groups.put(who.ID, names, now)
}

type spaceJSON struct {
	ID           string      `json:"id"`
	Name         string      `json:"name"`
	Everybody    bool        `json:"public_documents"` // searches use public documents, too
	Links        bool        `json:"public_links"`     // people may share their conversations by public links
	Instructions string      `json:"instructions,omitempty"`
	Agent        chat.Agent  `json:"agent,omitempty"`
	Effort       chat.Effort `json:"effort,omitempty"`
	ToolServers  []string    `json:"tool_servers"` // MCP servers whose tools may be called; *: all
	Role         string      `json:"role"`         // of the caller
	CreatedAt    time.Time   `json:"created_at"`
	DeletedAt    *time.Time  `json:"deleted_at,omitempty"`
}

func showSpace(sp chat.Space) spaceJSON {
	return spaceJSON{sp.ID, sp.Name, sp.Everybody, sp.Links, sp.Instructions, sp.Agent, sp.Effort, sp.ToolServers, sp.Role.String(), sp.CreatedAt, optionalTime(sp.DeletedAt)}
}

type spaceBody struct {
	Name         *string `json:"name"`
	Everybody    *bool   `json:"public_documents"`
	Links        *bool   `json:"public_links"`
	Instructions *string `json:"instructions"` // told to models as the operator's
	Agent        *string `json:"agent"`
	Effort       *string `json:"effort"`
	// ToolServers are the MCP servers whose tools may be called; "*": all.
	ToolServers *[]string `json:"tool_servers"`
}

// spacePatch is a spaceBody without a field that must be there.
type spacePatch spaceBody

const (
	maxSpaceName = 100
	maxGroupName = 200
)

// apply changes what the body names.
func (s *server) apply(b spaceBody, sp *chat.Space) error {
	var p dialect.Problems
	if b.Name != nil {
		sp.Name = chat.OneLine(*b.Name)
	}
	p.Text("name", sp.Name, 1, maxSpaceName)
	if b.Everybody != nil {
		sp.Everybody = *b.Everybody
	}
	if b.Links != nil {
		sp.Links = *b.Links
	}
	if b.Instructions != nil {
		sp.Instructions = strings.TrimSpace(*b.Instructions)
		p.Text("instructions", sp.Instructions, 0, chat.MaxSpaceInstructions)
	}
	if b.Agent != nil {
		sp.Agent = chat.Agent(*b.Agent)
		if _, known := s.Agents.Chosen().Find(sp.Agent); !known && sp.Agent != "" {
			p.Add("agent", "must be "+dialect.OneOf(s.Agents.Chosen().Names())+" or empty")
		}
	}
	if b.Effort != nil {
		sp.Effort = p.Effort(*b.Effort)
	}
	if b.ToolServers != nil {
		sp.ToolServers = checkServers(&p, *b.ToolServers)
	}
	return p.Err()
}

// maxToolServers bounds the servers that a space names.
const maxToolServers = 100

// checkServers returns the names of MCP servers, each once. A server that is not set up now may
// be named, so that a change of the installation's settings loses nothing.
func checkServers(p *dialect.Problems, names []string) []string {
	if len(names) > maxToolServers {
		p.Add("tool_servers", fmt.Sprintf("must have at most %d names", maxToolServers))
		return nil
	}
	out := []string{}
	for i, name := range names {
		if name != chat.EveryServer && !mcp.ValidServer(name) {
			p.Add(fmt.Sprintf("tool_servers.%d", i), "must be the name of an MCP server, or *")
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (s *server) listSpaces(c *gin.Context) error {
	who := identity.Of(c)
	if who.Anonymous {
		return respond(c, http.StatusOK, list[spaceJSON]{Items: []spaceJSON{}})
	}
	found, err := s.Store.Spaces(c.Request.Context(), who.ID)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, list[spaceJSON]{Items: showAll(found, showSpace)})
}

func (s *server) createSpace(c *gin.Context) error {
	who := identity.Of(c)
	if who.Anonymous {
		return problem.NotFound
	}
	var b spaceBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	sp := chat.Space{ID: uuid.NewString(), CreatedAt: s.now(), Role: chat.Manager, ToolServers: []string{chat.EveryServer}}
	if err := s.apply(b, &sp); err != nil {
		return err
	}
	if err := s.limits.AdmitProfile(c.Request.Context(), who); err != nil {
		return err
	}
	if err := s.Store.CreateSpace(c.Request.Context(), who.ID, sp); err != nil {
		return err
	}
	s.spaceChanged(who, sp.ID, "created", nil)
	return respond(c, http.StatusCreated, showSpace(sp))
}

// spaceChanged records a change of a space, without names.
func (s *server) spaceChanged(who identity.Caller, id, change string, member *chat.SpaceMember) {
	detail := map[string]any{"space": id, "change": change}
	if member != nil {
		detail["group"], detail["member"], detail["role"] = member.Group, member.ID, member.Role.String()
	}
	s.Audit.Record(entry(who, audit.SpaceChanged, detail))
}

func (s *server) getSpace(c *gin.Context, id string) error {
	sp, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return s.Store.Space(c.Request.Context(), who.ID, id, chat.Reader)
	})
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, showSpace(sp))
}

func (s *server) changeSpace(c *gin.Context, id string) error {
	sp, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return s.Store.Space(c.Request.Context(), who.ID, id, chat.Manager)
	})
	if err != nil {
		return err
	}
	var b spacePatch
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	if err := s.apply(spaceBody(b), &sp); err != nil {
		return err
	}
	who := identity.Of(c)
	if err := s.Store.ChangeSpace(c.Request.Context(), who.ID, sp); err != nil {
		return spaceProblem(err)
	}
	s.spaceChanged(who, id, "changed", nil)
	return respond(c, http.StatusOK, showSpace(sp))
}

func (s *server) deleteSpace(c *gin.Context, id string) error {
	_, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return chat.Space{}, s.Store.DeleteSpace(c.Request.Context(), who.ID, id, c.Query("name"), s.now())
	})
	if err == nil {
		s.spaceChanged(identity.Of(c), id, "deleted", nil)
	}
	return respondEmpty(c, err)
}

func (s *server) restoreSpace(c *gin.Context, id string) error {
	sp, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		if err := s.Store.RestoreSpace(c.Request.Context(), who.ID, id); err != nil {
			return chat.Space{}, err
		}
		return s.Store.Space(c.Request.Context(), who.ID, id, chat.Manager)
	})
	if err != nil {
		return err
	}
	s.spaceChanged(identity.Of(c), id, "restored", nil)
	return respond(c, http.StatusOK, showSpace(sp))
}

type memberJSON struct {
	Kind    string    `json:"kind"` // person or group
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	AddedBy string    `json:"added_by,omitempty"`
	AddedAt time.Time `json:"added_at"`
}

const (
	kindPerson = "person"
	kindGroup  = "group"
)

func showMember(m chat.SpaceMember) memberJSON {
	kind := kindPerson
	if m.Group {
		kind = kindGroup
	}
	return memberJSON{kind, m.ID, m.Role.String(), m.AddedBy, m.AddedAt}
}

func (s *server) listMembers(c *gin.Context, id string) error {
	var found []chat.SpaceMember
	_, err := s.space(c, id, func(who identity.Caller) (_ chat.Space, err error) {
		found, err = s.Store.SpaceMembers(c.Request.Context(), who.ID, id)
		return chat.Space{}, err
	})
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, list[memberJSON]{Items: showAll(found, showMember)})
}

type namedJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"` // or address, as the person's token gives it
}

func (s *server) listPeople(c *gin.Context, id string) error {
	var found map[string]string
	_, err := s.space(c, id, func(who identity.Caller) (_ chat.Space, err error) {
		found, err = s.Store.PeopleInSpace(c.Request.Context(), who.ID, id)
		return chat.Space{}, err
	})
	if err != nil {
		return err
	}
	items := []namedJSON{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		items = append(items, namedJSON{id, found[id]})
	}
	return respond(c, http.StatusOK, list[namedJSON]{Items: items})
}

type memberBody struct {
	Kind string `json:"kind"` // person or group
	ID   string `json:"id"`
	Role string `json:"role"` // reader, contributor or manager
}

// member checks the kind and the id of a member.
func member(p *dialect.Problems, kind, id string) chat.SpaceMember {
	switch kind {
	case kindPerson:
		if !identity.IsUserID(id) {
			p.Add("id", "is not the id of a person")
		}
	case kindGroup:
		p.Text("id", id, 1, maxGroupName)
	default:
		p.Add("kind", "must be person or group")
	}
	return chat.SpaceMember{Group: kind == kindGroup, ID: id}
}

func (s *server) putMember(c *gin.Context, id string) error {
	var b memberBody
	if err := request.Decode(c, &b); err != nil {
		return err
	}
	var p dialect.Problems
	m := member(&p, b.Kind, b.ID)
	if m.Role = chat.RoleNamed(b.Role); m.Role == chat.NoMember {
		p.Add("role", "must be reader, contributor or manager")
	}
	if err := p.Err(); err != nil {
		return err
	}
	_, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return chat.Space{}, s.Store.PutSpaceMember(c.Request.Context(), who.ID, id, m)
	})
	if err == nil {
		s.spaceChanged(identity.Of(c), id, "member", &m)
	}
	return respondEmpty(c, err)
}

func (s *server) removeMember(c *gin.Context, id string) error {
	var p dialect.Problems
	m := member(&p, c.Query("kind"), c.Query("id"))
	if err := p.Err(); err != nil {
		return err
	}
	_, err := s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return chat.Space{}, s.Store.RemoveSpaceMember(c.Request.Context(), who.ID, id, m.Group, m.ID)
	})
	if err == nil {
		s.spaceChanged(identity.Of(c), id, "removed", &m)
	}
	return respondEmpty(c, err)
}

type deletedJSON struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	AddedBy   string    `json:"added_by,omitempty"`
	DeletedAt time.Time `json:"deleted_at"`
}

func (s *server) listDeleted(c *gin.Context, id string) error {
	var found []chat.Document
	_, err := s.space(c, id, func(who identity.Caller) (_ chat.Space, err error) {
		found, err = s.Store.DeletedInSpace(c.Request.Context(), who.ID, id)
		return chat.Space{}, err
	})
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, list[deletedJSON]{Items: showAll(found, func(d chat.Document) deletedJSON {
		return deletedJSON{d.ID, d.Title, d.AddedBy, d.DeletedAt}
	})})
}

func (s *server) restoreDeleted(c *gin.Context, id string) error {
	doc, err := request.PathID(c, "doc_id")
	if err != nil {
		return err
	}
	_, err = s.space(c, id, func(who identity.Caller) (chat.Space, error) {
		return chat.Space{}, s.limits.Insert(who).RestoreInSpace(c.Request.Context(), who.ID, id, doc)
	})
	if err == nil {
		s.Audit.Record(entry(identity.Of(c), audit.DocumentMoved, map[string]any{"document": doc, "restored": id}))
	}
	return respondEmpty(c, err)
}
