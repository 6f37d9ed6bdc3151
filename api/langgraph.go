package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/dialect/langgraph"
	"github.com/palaver-chat/palaver/chat"
)

// postLangGraph accepts a message in the LangGraph dialect and streams its turn.
func (s *server) postLangGraph(c *gin.Context) error {
	raw, err := body(c, langgraph.MaxBody)
	if err != nil {
		return err
	}
	in, err := langgraph.ParseStream(raw, s.Agents)
	if err != nil {
		return err
	}
	if in.ThreadAlias != "" {
		in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadAlias)
	}
	return withLangGraphFields(s.streamSubmit(c, in, func(to dialect.Stream) dialect.Wire {
		return langgraph.NewWire(to, in.Content.ParentRequest)
	}))
}

// postFeedback answers the pending interrupt and streams the rest of the turn.
func (s *server) postFeedback(c *gin.Context) error {
	raw, err := body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	in, err := langgraph.ParseFeedback(raw)
	if err != nil {
		return err
	}
	checkpoint := in.InterruptID
	in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadAlias)
	return withLangGraphFields(s.streamAnswer(c, in, func(to dialect.Stream) dialect.Wire {
		return langgraph.NewWire(to, checkpoint)
	}))
}

type interruptJSON struct {
	ThreadID     string  `json:"thread_id"`
	Interrupted  bool    `json:"interrupted"`
	CheckpointID *string `json:"checkpoint_id"`
	Payload      any     `json:"payload,omitempty"`
}

// getInterrupt says whether the thread waits for a person; reloaded pages call it.
// With a checkpoint_id it says whether the thread waits at this checkpoint. A thread
// that the caller has not used does not wait.
func (s *server) getInterrupt(c *gin.Context) error {
	var p dialect.Problems
	name, checkpoint := p.ThreadName("thread_id", c.Query("thread_id")), c.Query("checkpoint_id")
	p.ID("checkpoint_id", checkpoint)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), callerOf(c)
	thread := threadNamed(who.ID, name)
	out := interruptJSON{ThreadID: name, CheckpointID: optional(checkpoint)}
	open, err := s.openTurns(ctx, who.ID, thread)
	if err != nil && !notFound(err) {
		return err
	}
	if len(open) > 0 {
		asked, err := s.asked(ctx, who.ID, thread)
		if err != nil {
			return engineErr(err)
		}
		if asked != nil && (checkpoint == "" || checkpoint == asked.Interrupt.ID || checkpoint == asked.TurnID) {
			out.Interrupted, out.CheckpointID, out.Payload = true, &asked.Interrupt.ID, langgraph.Payload(*asked.Interrupt)
		}
	}
	if out.CheckpointID == nil {
		head, err := s.Store.Head(ctx, who.ID, thread)
		if err != nil && !notFound(err) {
			return err
		}
		if head != chat.RootCheckpoint {
			out.CheckpointID = optional(head)
		}
	}
	c.JSON(http.StatusOK, out)
	return nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// withLangGraphFields renames the fields of an error to those of the LangGraph dialect.
func withLangGraphFields(err error) error {
	if err == nil {
		return nil
	}
	p := *describe(err)
	p.details = slices.Clone(p.details)
	for i, d := range p.details {
		switch {
		case d.Field == "parent_checkpoint_id", d.Field == "interrupt_id":
			p.details[i].Field = "checkpoint_id"
		case d.Field == "attachments":
			p.details[i].Field = "message.content"
		case strings.HasPrefix(d.Field, "resume_value"):
			p.details[i].Field = "approval_data" + strings.TrimPrefix(d.Field, "resume_value")
		}
	}
	return &p
}
