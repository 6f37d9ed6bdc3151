package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/chat"
)

// dialects are the wire formats of the API.
var dialects = []dialect.Dialect{agentv2.Dialect, langgraph.Dialect}

// dialectServer implements dialect.Server.
type dialectServer struct{ s *server }

func (d dialectServer) ThreadNamed(owner, name string) string { return threadNamed(owner, name) }

func (d dialectServer) Submit(c *gin.Context, in dialect.Submit, wire dialect.NewWire) error {
	return d.s.streamSubmit(c, in, wire)
}

func (d dialectServer) Answer(c *gin.Context, in dialect.Answer, wire dialect.NewWire) error {
	return d.s.streamAnswer(c, in, wire)
}

func (d dialectServer) Cancel(c *gin.Context, in dialect.Cancel) error { return d.s.cancel(c, in) }

func (d dialectServer) OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error) {
	return d.s.openTurns(ctx, owner, thread)
}

func (d dialectServer) Question(ctx context.Context, owner, thread string) (*chat.Event, error) {
	return d.s.asked(ctx, owner, thread)
}

func (d dialectServer) Head(ctx context.Context, owner, thread string) (string, error) {
	return d.s.Store.Head(ctx, owner, thread)
}

func (d dialectServer) NotFound(err error) bool { return notFound(err) }
