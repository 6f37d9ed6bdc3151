package langgraph

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:    reflect.TypeFor[handlers]().PkgPath(),
	Prefix:     "LangGraph",
	Operations: operations,
	Events: []openapi.Shape{
		{Type: "meta", Value: startJSON{}},
		{Type: "meta", Value: metaJSON{}},
		{Type: "token", Value: tokenJSON{}},
		{Type: "tool_call", Value: toolCallJSON{}},
		{Type: "tool_result", Value: toolResultJSON{}},
		{Type: "interrupt", Value: interruptJSON{}, Holds: map[string]any{"payload": asked}},
		{Type: "error", Value: errorJSON{}},
		{Type: "done", Value: doneJSON{}},
	},
	Nested: []openapi.Shape{
		{Value: messageBody{}, Needs: []string{"content"}, Holds: map[string]any{"content": openapi.AnyOf{"", []partBody{}}}},
		{Value: partBody{}, Needs: []string{"type"}},
	},
	Words: map[string]openapi.Word{
		"LangGraphMeta.phase":               {Enum: openapi.Values("interrupt", "complete")},
		"LangGraphPending.checkpoint_id":    {About: "The checkpoint of the question, or the newest; null: there is none."},
		"LangGraphQuestion.type":            {Enum: openapi.Values("question")},
		"LangGraphApproval.type":            {Enum: openapi.Values("tool_approval_required")},
		"LangGraphStart.checkpoint_id":      {About: "The checkpoint to start from; null: the newest."},
		"LangGraphStart.phase":              {Enum: openapi.Values("start")},
		"LangGraphStreamBody.checkpoint_id": {About: "The checkpoint that the turn follows; null: the newest."},
		"LangGraphStreamBody.messages":      {About: "Messages instead of message. Only the last one is used."},
		"LangGraphStreamBody.thread_id":     {About: "The client's name of the conversation: 1 to 128 characters of A-Z a-z 0-9 _ . : -. Default: a new conversation.", Max: dialect.MaxID},
	},
}

const (
	group  = "LangGraph dialect"
	events = "LangGraphEvent"
)

// asked is what an interrupt asks, as Payload returns it.
var asked = openapi.AnyOf{approvalJSON{}, questionJSON{}}

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{
		{Route: "POST /api/v1/chat/stream", InSpace: chat.Reader, Sends: true, Handle: h.stream, Stream: true, Group: group, About: "Sends a message and streams its turn.",
			Body:    openapi.Shape{Value: streamBody{}, Holds: map[string]any{"message": messageBody{}, "messages": []messageBody{}}},
			Answers: openapi.Streams(events), Errors: openapi.TakesTurn},
		{Route: "POST /api/v1/chat/feedback", InSpace: chat.Reader, Handle: h.feedback, Stream: true, Group: group, About: "Answers the pending interrupt and streams the rest of the turn.",
			Body: openapi.Shape{Value: feedbackBody{}, Needs: []string{"thread_id", "approval_data"}}, Answers: openapi.Streams(events), Errors: openapi.AnswersTurn},
		{Route: "GET /api/v1/chat/interrupt", InSpace: chat.Reader, Handle: h.interrupt, Group: group, About: "Reports whether a thread waits for an answer, or waits for one at this checkpoint.",
			Query:   []openapi.Param{{Name: "thread_id", Required: true}, {Name: "checkpoint_id"}},
			Answers: openapi.OK(openapi.Shape{Value: pendingJSON{}, Holds: map[string]any{"payload": asked}})},
	}
}

// stream takes a message and streams its turn.
func (h handlers) stream(c *gin.Context) error {
	in, err := request.Parse(c, MaxBody, func(raw []byte) (dialect.Submit, error) { return ParseStream(raw, h.Agents()) })
	if err != nil {
		return err
	}
	if err := h.EnterSpace(c, in.Space); err != nil {
		return renamed(err)
	}
	return renamed(h.Submit(c, in, func(to dialect.Stream) dialect.Wire {
		return NewWire(to, in.Content.ParentRequest)
	}))
}

// feedback answers the pending interrupt and streams the rest of the turn.
func (h handlers) feedback(c *gin.Context) error {
	in, err := request.Parse(c, dialect.MaxBody, ParseFeedback)
	if err != nil {
		return err
	}
	return renamed(h.Answer(c, in, func(to dialect.Stream) dialect.Wire {
		return NewWire(to, in.InterruptID)
	}))
}

type pendingJSON struct {
	ThreadID     string  `json:"thread_id"`
	Interrupted  bool    `json:"interrupted"`
	CheckpointID *string `json:"checkpoint_id"`
	Payload      any     `json:"payload,omitempty"`
}

// interrupt says whether the thread waits for a person; reloaded pages call it.
// With a checkpoint_id it says whether the thread waits at this checkpoint. A thread
// that the caller has not used does not wait.
func (h handlers) interrupt(c *gin.Context) error {
	var p dialect.Problems
	name, checkpoint := p.ThreadName("thread_id", c.Query("thread_id")), c.Query("checkpoint_id")
	p.ID("checkpoint_id", checkpoint)
	if err := p.Err(); err != nil {
		return err
	}
	ctx, who := c.Request.Context(), identity.Of(c)
	thread := h.ThreadNamed(who.ID, name)
	out := pendingJSON{ThreadID: name, CheckpointID: optional(checkpoint)}
	open, err := h.OpenTurns(ctx, who.ID, thread)
	if err != nil && !h.NotFound(err) {
		return err
	}
	if len(open) > 0 {
		asked, err := h.Question(ctx, who.ID, thread)
		if err != nil {
			return problem.Engine(err)
		}
		if asked != nil && (checkpoint == "" || checkpoint == asked.Interrupt.ID || checkpoint == asked.TurnID) {
			out.Interrupted, out.CheckpointID, out.Payload = true, &asked.Interrupt.ID, Payload(*asked.Interrupt)
		}
	}
	if out.CheckpointID == nil {
		head, err := h.Head(ctx, who.ID, thread)
		if err != nil && !h.NotFound(err) {
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

// renamed gives the fields of an error their names in this dialect.
func renamed(err error) error {
	if err == nil {
		return nil
	}
	return dialect.RenamedFields{Err: err, Name: fieldName}
}

func fieldName(field string) string {
	switch {
	case field == "parent_checkpoint_id", field == "interrupt_id":
		return "checkpoint_id"
	case field == "attachments":
		return "message.content"
	}
	if rest, is := strings.CutPrefix(field, "resume_value"); is {
		return "approval_data" + rest
	}
	return field
}
