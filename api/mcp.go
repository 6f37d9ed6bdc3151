package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// mcpBackend implements mcpserver.Backend.
type mcpBackend struct{ s *server }

func (b mcpBackend) EnterSpace(ctx context.Context, who identity.Caller, space string) (context.Context, error) {
	named := db.SpaceOf(ctx)
	switch {
	case space == "" || space == named:
		return ctx, nil
	case who.Space != "":
		return ctx, b.s.refusedSpace(mcpPath, who, space, errSpaceKey)
	case named != "":
		return ctx, problem.Invalid("space_id", "must be the same as "+spaceHeader)
	case who.Anonymous:
		return ctx, b.s.refusedSpace(mcpPath, who, space, problem.NotFound)
	}
	ctx = db.InSpace(ctx, space)
	_, err := b.s.thisSpace(ctx, who)
	return ctx, err
}

func (b mcpBackend) Documents(ctx context.Context, owner, cursor string, limit int) (db.Page[chat.Document], any, error) {
	page, err := b.s.Store.ListDocuments(ctx, owner, cursor, limit)
	return page, listOf(page, showDocument), err
}

func (b mcpBackend) Search(ctx context.Context, who identity.Caller, query string, docIDs []string, limit int) ([]chat.Hit, any, error) {
	found, err := b.s.paidSearch(ctx, who, query, docIDs, limit)
	return found, searchJSON{Hits: showHits(found)}, err
}

func (b mcpBackend) Import(ctx context.Context, who identity.Caller, link string, report func(chat.Import)) (chat.Import, any, error) {
	i, err := b.s.beginImport(ctx, who, chat.Import{URL: link})
	if err == nil {
		i, err = b.s.imports().Follow(ctx, who.ID, i.ID, report)
	}
	return i, showImport(i), err
}

func (b mcpBackend) Imports(ctx context.Context, owner string) ([]chat.Import, any, error) {
	list, err := b.s.Store.ListImports(ctx, owner, "", "", listedImports)
	return list, importsJSON{showAll(list, showImport)}, err
}

func (b mcpBackend) CheckVisible(ctx context.Context, who identity.Caller, field string, ids []string) error {
	return b.s.checkVisible(ctx, who.ID, field, ids)
}

func (b mcpBackend) InScope(ctx context.Context, who identity.Caller, thread string, spaces []string) (context.Context, error) {
	var p dialect.Problems
	err := b.s.checkScope(ctx, &p, who, spaces)
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		return nil, err
	}
	return b.s.inScope(db.InThread(ctx, thread), who, thread, spaces)
}

func (b mcpBackend) Ask(ctx context.Context, who identity.Caller, in dialect.Submit) (chat.Turn, *follow.Viewer, error) {
	who.Channel = chat.ByMCP
	made, err := b.s.submit(ctx, who, in)
	if err != nil {
		return chat.Turn{}, nil, err
	}
	defer made.early.Close()
	v, err := b.s.viewer(ctx, made.Turn, follow.Position{}, made.early, made.log...)
	return made.Turn, v, err
}

func (b mcpBackend) Question(ctx context.Context, owner, threadID string) (*chat.Question, error) {
	if err := b.s.checkOwner(ctx, owner, threadID); err != nil {
		return nil, err
	}
	state, err := b.s.Threads.State(ctx, threadID)
	return state.Pending, problem.Engine(err)
}

func (b mcpBackend) Answer(ctx context.Context, who identity.Caller, r chat.Resume) (chat.Turn, *follow.Viewer, error) {
	who.Channel = chat.ByMCP
	turn, _, err := b.s.answer(ctx, who, r)
	if err != nil {
		return chat.Turn{}, nil, err
	}
	v, err := b.s.viewer(ctx, turn, follow.Position{}, nil)
	return turn, v, err
}

// mcpResource is the resource that MCP clients get tokens for (RFC 9728).
type mcpResource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported,omitempty"`
	BearerMethods        []string `json:"bearer_methods_supported"`
}

const (
	mcpPath         = "/mcp"
	mcpMetadataPath = "/.well-known/oauth-protected-resource" + mcpPath
)

// mcpMetadata says where MCP clients get a token for their person.
func (s *server) mcpMetadata(c *gin.Context) error {
	if len(s.identity.Issuers) == 0 {
		return problem.NotFound
	}
	out := mcpResource{Resource: s.origin(c.Request) + mcpPath, Scopes: strings.Fields(s.Config.OIDC.Scopes), BearerMethods: []string{"header"}}
	for _, i := range s.identity.Issuers {
		out.AuthorizationServers = append(out.AuthorizationServers, i.URL)
	}
	return respond(c, http.StatusOK, out)
}

// wantsToken reports whether a request for MCP without credentials is refused, so that the
// client asks its person to sign in.
func (s *server) wantsToken(c *gin.Context) bool {
	path := c.FullPath()
	return len(s.identity.Issuers) > 0 && (path == mcpPath || strings.HasPrefix(path, mcpPath+"/"))
}

// challenge is the WWW-Authenticate of a 401.
func (s *server) challenge(c *gin.Context) string {
	if !s.wantsToken(c) {
		return "Bearer"
	}
	return `Bearer resource_metadata="` + s.origin(c.Request) + mcpMetadataPath + `"`
}
