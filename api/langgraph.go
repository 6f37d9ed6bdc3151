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

// postLangGraph takes a message in S3's words and streams its turn.
func (s *server) postLangGraph(c *gin.Context) error {
	raw, err := body(c, langgraph.MaxBody)
	if err != nil {
		return err
	}
	in, err := langgraph.ParseStream(raw)
	if err != nil {
		return err
	}
	if in.ThreadAlias != "" {
		in.ThreadID = threadNamed(callerOf(c).ID, in.ThreadAlias)
	}
	return inS3Words(s.streamSubmit(c, in, func(to dialect.Stream) dialect.Wire {
		return langgraph.NewWire(to, in.Content.ParentRequest)
	}))
}

// postFeedback answers the pending interrupt and streams what remains.
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
	return inS3Words(s.streamAnswer(c, in, func(to dialect.Stream) dialect.Wire {
		return langgraph.NewWire(to, checkpoint)
	}))
}

type interruptJSON struct {
	ThreadID     string  `json:"thread_id"`
	Interrupted  bool    `json:"interrupted"`
	CheckpointID *string `json:"checkpoint_id"`
	Payload      any     `json:"payload,omitempty"`
}

// getInterrupt is what a page that is loaded anew asks: does the thread wait for
// a person? With a checkpoint_id, does it at this one? A thread that nobody, or
// somebody else, has used waits for nobody.
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

// inS3Words has an error name fields as S3 does.
func inS3Words(err error) error {
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
