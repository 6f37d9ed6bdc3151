package request

import (
	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
)

// Submits returns a handler that parses a body as a message and streams its turn.
func Submits(s dialect.Server, parse func([]byte, chat.Agents) (dialect.Submit, error), wire dialect.NewWire) func(*gin.Context) error {
	return func(c *gin.Context) error {
		in, err := Parse(c, dialect.MaxBody, func(raw []byte) (dialect.Submit, error) { return parse(raw, s.Agents()) })
		if err != nil {
			return err
		}
		if err := s.EnterSpace(c, in.Space); err != nil {
			return err
		}
		return s.Submit(c, in, wire)
	}
}

// Answers returns a handler that parses a body as an answer to a question and streams the
// rest of the turn, which goes on if the client disconnects.
func Answers(s dialect.Server, parse func([]byte) (dialect.Answer, error), wire dialect.NewWire) func(*gin.Context) error {
	return func(c *gin.Context) error {
		in, err := Parse(c, dialect.MaxBody, parse)
		if err != nil {
			return err
		}
		return s.Answer(c, in, wire)
	}
}

// Cancels returns a handler that parses a body as the order to stop a turn.
func Cancels(s dialect.Server, parse func([]byte) (dialect.Cancel, error)) func(*gin.Context) error {
	return func(c *gin.Context) error {
		in, err := Parse(c, dialect.MaxBody, parse)
		if err != nil {
			return err
		}
		return s.Cancel(c, in)
	}
}
