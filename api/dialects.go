package api

import (
	"context"
	"crypto/sha256"
	"log/slog"
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

// dialects are the wire formats of the API.
var dialects = []dialect.Dialect{
	native.Dialect,
	aisdk.Dialect,
	langgraph.Dialect,
	agentv2.Dialect,
	discovery.Dialect,
	openai.Dialect,
	agui.Dialect,
}

// dialectBelow returns the dialect that owns a path (Dialect.Below); nil if there is none.
func dialectBelow(path string) *dialect.Dialect {
	for i, d := range dialects {
		if path == d.Below || strings.HasSuffix(d.Below, "/") && strings.HasPrefix(path, d.Below) {
			return &dialects[i]
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
	return h.Messages, h.Branches, err
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

func (d dialectServer) Operator(c *gin.Context) bool { return d.operator(c) }

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
	id := uuid.NewSHA1(threadNamespace, []byte(name)).String()
	return id, d.keepPicture(c.Request.Context(), who, chat.Attachment{ID: id, Owner: who.ID}, data)
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
func (d dialectServer) Log() *slog.Logger            { return d.server.Log }
