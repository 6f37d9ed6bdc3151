package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/agui"
	"github.com/palaver-chat/palaver/api/dialect/aisdk"
	"github.com/palaver-chat/palaver/api/dialect/discovery"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/api/dialect/openai"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm/provider"
)

// builtInDialects are Palaver's own wire formats.
var builtInDialects = []dialect.Dialect{
	native.Dialect,
	aisdk.Dialect,
	langgraph.Dialect,
	agentv2.Dialect,
	discovery.Dialect,
	openai.Dialect,
	agui.Dialect,
}

// dialects are the built-in and the added wire formats.
func (s *server) dialects() []dialect.Dialect { return slices.Concat(builtInDialects, s.Dialects) }

// dialectBelow returns the dialect that owns a path (Dialect.Below); nil if there is none.
func (s *server) dialectBelow(path string) *dialect.Dialect {
	for _, d := range s.dialects() {
		if owns(d.Below, path) {
			return &d
		}
	}
	return nil
}

// owns reports whether a path is below, or starts with below if that ends in a slash.
func owns(below, path string) bool {
	return path == below || strings.HasSuffix(below, "/") && strings.HasPrefix(path, below)
}

// reservedPaths belong to the page and the server.
var reservedPaths = []string{"/.well-known/", "/admin/", "/api/", "/assets/", "/chat/", "/codec/", "/discovery/", "/mcp/", "/print/", "/s/"}

// AcceptDialects returns an error for the first dialect that cannot be added: it is declared
// wrongly, or its prefix or one of its paths is taken.
func AcceptDialects(added []dialect.Dialect) error {
	for i, d := range added {
		if err := acceptDialect(d, added[:i]); err != nil {
			return fmt.Errorf("dialect %q: %w", d.Prefix, err)
		}
	}
	return nil
}

var schemaPrefix = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,39}$`)

func acceptDialect(d dialect.Dialect, before []dialect.Dialect) (err error) {
	switch {
	case !schemaPrefix.MatchString(d.Prefix):
		return errors.New("the prefix needs 1 to 40 letters and digits, and begins with a capital letter")
	case d.Package == "" || d.Operations == nil:
		return errors.New("it needs a package and operations")
	}
	defer func() { // the router panics on conflicting routes, and the schema generator on types that it cannot describe
		if p := recover(); p != nil {
			err = fmt.Errorf("its routes or types cannot be used: %v", p)
		}
	}()
	s := serverWithoutParts(before)
	s.routes()
	if err := acceptRoutes(d, s); err != nil {
		return err
	}
	if err := acceptSchemas(d, s); err != nil {
		return err
	}
	s = serverWithoutParts(append(slices.Clip(before), d))
	s.routes()
	_, err = s.newDocument(identity.Anonymous)
	return err
}

// acceptRoutes checks a dialect's paths against the routes of s.
func acceptRoutes(d dialect.Dialect, s *server) error {
	if d.Below != "" {
		if !strings.HasPrefix(d.Below, "/") || d.Below == "/" {
			return fmt.Errorf("the path %q must begin with a slash and name something", d.Below)
		}
		taken := slices.Clone(reservedPaths)
		for route := range s.routeTimes {
			_, path, _ := strings.Cut(route, " ")
			taken = append(taken, path)
		}
		for _, x := range s.dialects() {
			taken = append(taken, cmp.Or(x.Below, "/api/"))
		}
		for _, path := range taken {
			if owns(path, d.Below) || owns(d.Below, path) || d.Below == path+"/" {
				return fmt.Errorf("the path %q is taken by %s", d.Below, path)
			}
		}
	}
	for _, o := range d.Operations(nil) {
		method, path, _ := strings.Cut(o.Route, " ")
		switch {
		case !slices.Contains([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method):
			return fmt.Errorf("the route %q needs a method and a path, as in \"POST /api/desk\"", o.Route)
		case !owns(cmp.Or(d.Below, "/api/"), path):
			return fmt.Errorf("the route %q must be below %s", o.Route, cmp.Or(d.Below, "/api/"))
		case o.Handle == nil || o.Group == "" || o.About == "" || len(o.Answers) == 0:
			return fmt.Errorf("the route %q needs a handler, a group, a description and answers", o.Route)
		}
		if _, taken := s.routeTimes[o.Route]; taken {
			return fmt.Errorf("the route %q is taken", o.Route)
		}
	}
	return nil
}

// acceptSchemas checks that the names of a dialect's schemas differ from those of s.
func acceptSchemas(d dialect.Dialect, s *server) error {
	taken, err := s.newDocument(identity.Anonymous)
	if err != nil {
		return err
	}
	for _, name := range taken.Schemas {
		if strings.HasPrefix(name, d.Prefix) {
			return fmt.Errorf("the prefix is taken by the schema %s", name)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(d.Words)), slices.Collect(maps.Values(d.Renamed))) {
		if !strings.HasPrefix(name, d.Prefix) {
			return fmt.Errorf("%q must begin with the prefix", name)
		}
	}
	return nil
}

// dialectServer implements dialect.Server.
type dialectServer struct {
	dialect.Rows
	*server
}

func (d dialectServer) History(ctx context.Context, owner, thread, head, before string, limit int) ([]chat.Message, map[string][]string, error) {
	h, err := d.Store.History(ctx, owner, thread, head, before, limit)
	if space := db.SpaceOf(ctx); space != "" && len(h.Messages) > 0 && h.Messages[0].Space != space {
		return nil, nil, db.ErrNotFound
	}
	if db.ReaderOf(ctx, owner) != owner {
		for _, m := range h.Messages {
			if _, copied := m.Metadata["author"]; !copied && m.Role == "user" && m.Metadata != nil {
				m.Metadata["author"] = owner
			}
		}
	}
	return h.Messages, h.Branches, err
}

func (d dialectServer) Author(ctx context.Context, owner, thread string) (context.Context, string, error) {
	return d.author(ctx, owner, thread)
}

func (d dialectServer) NeverUsed(ctx context.Context, owner, thread string, err error) bool {
	if !errors.Is(err, db.ErrNotFound) {
		return false
	}
	unused, err := d.Store.NeverUsed(ctx, owner, thread)
	return err == nil && unused
}

func (d dialectServer) Logs(ctx context.Context, owner string, turnIDs []string) (map[string]dialect.TurnLog, error) {
	list, err := d.Store.Logs(ctx, owner, turnIDs)
	if err != nil {
		return nil, err
	}
	ask, done := threadDeadline(ctx)
	defer done()
	logs := make(map[string]dialect.TurnLog, len(list))
	for _, l := range list {
		events, err := d.eventsOf(ctx, ask, l)
		if err != nil {
			return nil, err
		}
		logs[l.Turn.ID] = dialect.TurnLog{Turn: l.Turn, Events: events}
	}
	return logs, nil
}

// TurnsOfRun finds turns where the request works only, so that a client's messages do not
// lead from a space to a conversation elsewhere.
func (d dialectServer) TurnsOfRun(ctx context.Context, owner, run string) ([]chat.Turn, error) {
	turns, err := d.Store.TurnsOfRun(ctx, owner, run)
	return slices.DeleteFunc(turns, func(t chat.Turn) bool { return chat.Home(t.Space) != db.SpaceOf(ctx) }), err
}

func (d dialectServer) ViewOf(v dialect.View) dialect.View { return d.view(v) }

func (d dialectServer) TurnOfClient(ctx context.Context, owner, thread, clientTurnID string) (chat.Turn, error) {
	return d.Store.FindTurn(ctx, owner, db.CancelRef{ThreadID: thread, ClientTurnID: clientTurnID})
}

// KeepPicture makes the id from the content, so that a repeated message has the same
// content hash.
func (d dialectServer) KeepPicture(c *gin.Context, thread string, data []byte) (string, error) {
	who := identity.Of(c)
	sum := sha256.Sum256(data)
	name := strings.Join([]string{who.ID, thread, "picture", string(sum[:])}, "\x00")
	if space := db.SpaceOf(c.Request.Context()); space != "" { // a key that is bound to it uses no picture of elsewhere
		name += "\x00" + space
	}
	id := uuid.NewSHA1(threadNamespace, []byte(name)).String()
	return id, d.keepPicture(c.Request.Context(), who, chat.Attachment{ID: id, Owner: who.ID}, data)
}

func (d dialectServer) KeepDocument(c *gin.Context, thread string, f dialect.File) (string, error) {
	return d.keepDocument(c, thread, f)
}

func (d dialectServer) ThreadNamed(owner, name string) string { return threadNamed(owner, name) }

func (d dialectServer) IsEventID(id string) bool {
	_, err := follow.ParsePosition(id)
	return err == nil
}

func (d dialectServer) Origin(c *gin.Context) string { return d.origin(c.Request) }
func (d dialectServer) NotFound(err error) bool      { return notFound(err) }
func (d dialectServer) Unavailable(err error) bool   { return db.Unavailable(err) }
func (d dialectServer) HasModel() bool               { return d.Model.Provider != provider.None }
func (d dialectServer) Agents() chat.Agents          { return d.server.Agents }
func (d dialectServer) Models() []string             { return d.Model.Choices }
func (d dialectServer) Log() *slog.Logger            { return d.server.Log }
