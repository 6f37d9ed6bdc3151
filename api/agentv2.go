package api

import (
	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/agentv2"
)

func agentWire(s dialect.Stream) dialect.Wire { return agentv2.NewWire(s) }

// agentStream accepts a message of the agent v2 dialect and streams its turn.
func (s *server) agentStream(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := agentv2.ParseStream(raw, s.Agents)
	if err != nil {
		return err
	}
	if in.ThreadAlias != "" {
		in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadAlias)
	}
	return s.streamSubmit(c, in, agentWire)
}

// agentResume answers a session's question and streams the rest of the turn.
func (s *server) agentResume(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := agentv2.ParseResume(raw)
	if err != nil {
		return err
	}
	in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadAlias)
	return s.streamAnswer(c, in, agentWire)
}

// agentStop stops a turn.
func (s *server) agentStop(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := agentv2.ParseStop(raw)
	if err != nil {
		return err
	}
	if in.ThreadID != "" {
		in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadID)
	}
	return s.cancel(c, in)
}
