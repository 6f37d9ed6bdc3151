package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/audit"
)

// entry returns an audit log entry about a caller.
func entry(who identity.Caller, kind string, detail map[string]any) db.AuditEntry {
	e := db.AuditEntry{Kind: kind, Owner: who.ID, Channel: string(who.Channel), RequestID: who.RequestID, Detail: detail}
	if who.Address.IsValid() {
		e.Address = who.Address.String()
	}
	return e
}

// unknownCaller returns the caller of a request that could not be identified.
func (s *server) unknownCaller(c *gin.Context) identity.Caller {
	return identity.Caller{Channel: identity.ChannelOf(c.Request), Address: s.identity.AddressOf(c.Request), RequestID: request.ID(c)}
}

// refusedSignIn counts a request whose caller could not be identified.
func (s *server) refusedSignIn(c *gin.Context, err error) {
	p := describe(err)
	if p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden {
		return
	}
	who := s.unknownCaller(c)
	s.Audit.Count(entry(who, audit.SignInRefused, map[string]any{"code": p.Code, "route": c.FullPath()}), p.Code)
}

// reachedLimit counts a request that a limit refused.
func (s *server) reachedLimit(c *gin.Context, p *problem.Problem) {
	if p.Status != http.StatusTooManyRequests {
		return
	}
	s.metrics.refusals.WithLabelValues(c.FullPath(), p.Code).Inc()
	who, known := identity.Known(c)
	if !known {
		who = s.unknownCaller(c)
	}
	s.Audit.Count(entry(who, audit.LimitHit, map[string]any{"route": c.FullPath()}), c.FullPath())
}

// describeToMCP is like describe, for callers of /mcp. It counts the refusals of limits
// itself, because MCP sends them in a response with status 200.
func (s *server) describeToMCP(err error) *problem.Problem {
	p := describe(err)
	if p.Status == http.StatusTooManyRequests {
		s.metrics.refusals.WithLabelValues("mcp", p.Code).Inc()
		s.Audit.Count(db.AuditEntry{Kind: audit.LimitHit, Channel: string(chat.ByMCP)}, "mcp")
	}
	return p
}

// decided records which tool calls a person approved or rejected, without arguments and
// reasons.
func (s *server) decided(who identity.Caller, thread string, q chat.Question, v chat.ResumeValue) {
	if q.Type != chat.ToolApproval || v.Type != chat.ToolApproval {
		return
	}
	s.Audit.Record(entry(who, audit.Decided, audit.Decision(who.ID, thread, who.Channel, q, v).Detail))
}

// deleted records a deletion.
func (s *server) deleted(who identity.Caller, what, id string) {
	s.Audit.Record(entry(who, audit.Deleted, map[string]any{what: id}))
}
