// Package agui is the AG-UI dialect, /api/agui (docs/contract.md): a run sends a message,
// answers a question or opens a thread; turn events become AG-UI's, version 1.0.
package agui

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:    reflect.TypeFor[handlers]().PkgPath(),
	Prefix:     "AGUI",
	Operations: operations,
	Events: []openapi.Shape{
		eventOf(runStarted, "threadId", "runId", "protocolVersion"),
		eventOf(stepStarted, "stepName", "metadata?"),
		eventOf(stepFinished, "stepName"),
		eventOf(textStart, "messageId", "role"),
		eventOf(textContent, "messageId", "delta"),
		eventOf(textEnd, "messageId"),
		eventOf(thinkStart, "messageId"),
		eventOf(thinkTextStart, "messageId", "role"),
		eventOf(thinkContent, "messageId", "delta"),
		eventOf(thinkTextEnd, "messageId"),
		eventOf(thinkEnd, "messageId"),
		eventOf(toolStart, "toolCallId", "toolCallName"),
		eventOf(toolArgs, "toolCallId", "delta"),
		eventOf(toolEnd, "toolCallId"),
		eventOf(toolResult, "messageId", "toolCallId", "content", "role", "metadata?"),
		{Type: messagesSnapshot, Value: snapshotJSON{}, Holds: map[string]any{"messages": openapi.List{Of: openapi.Shape{
			Value: messageJSON{}, Holds: map[string]any{"content": openapi.AnyOf{"", []partJSON{}}}}}}},
		eventOf(stateSnapshot, "snapshot"),
		eventOf(custom, "name", "value"),
		eventOf(runFinished, "threadId", "runId", "result?", "outcome", "usage?"),
		eventOf(runError, "message", "code?", "usage?", "metadata?"),
	},
	Nested: []openapi.Shape{
		{Value: messageBody{}, Needs: []string{"id", "role"}, Holds: map[string]any{"content": openapi.AnyOf{"", []partBody{}, nil}}},
		{Value: partBody{}, Needs: []string{"type"}},
		{Value: sourceBody{}, Needs: []string{"type", "value"}},
		{Value: resumeBody{}, Needs: []string{"interruptId", "status"}},
	},
	Words: map[string]openapi.Word{
		"AGUIRunBody.threadId":       {About: "The client's name of the conversation: 1 to 128 characters of A-Z a-z 0-9 _ . : -", Max: dialect.MaxID},
		"AGUIRunBody.messages":       {About: "The client's copy of the conversation. If the last message is a user's, it is sent, unless the run answers an interrupt or cancels one about that message. Otherwise the run opens the thread."},
		"AGUIRunBody.forwardedProps": {About: "The object palaver may hold fields of POST /api/chat, such as agent, tagged_doc_ids or on_disconnect."},
		"AGUIRunBody.tools":          {About: "Ignored: agents have their own tools."},
		"AGUIResumeBody.status":      {Enum: openapi.Values("resolved", "cancelled")},
	},
}

func eventOf(kind string, fields ...string) openapi.Shape {
	name := strings.ToLower(strings.ReplaceAll(kind, "_", "-"))
	return openapi.Shape{Name: name, Type: kind, Value: chunk{}, Only: append([]string{"type"}, fields...)}
}

const (
	group  = "AG-UI dialect"
	events = "AGUIEvent"
)

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{
		{Route: "POST /api/agui", InSpace: chat.Reader, Sends: true, Handle: h.run, Stream: true, Group: group, About: "Accepts a RunAgentInput with a message or an answer to an interrupt. With neither, it returns the thread's messages and follows its running turn.",
			Body: openapi.Shape{Value: runBody{}, Needs: []string{"threadId", "runId", "messages"},
				Holds: map[string]any{"tools": []any{}, "context": []any{}, "state": openapi.AnyOf{map[string]any{}, nil}, "forwardedProps": openapi.AnyOf{map[string]any{}, nil}}},
			Answers: openapi.Streams(events), Errors: openapi.TakesTurn},
		{Route: "POST /api/agui/stop", InSpace: chat.Reader, Handle: request.Cancels(s, ParseStop), Group: group, About: "Stops the running turn of a thread. Idempotent.",
			Body: openapi.Shape{Value: stopBody{}, Needs: []string{"threadId"}}, Answers: openapi.Accepted(dialect.Cancelled{}), Errors: []int{http.StatusNotFound}},
	}
}

func (h handlers) run(c *gin.Context) error {
	in, err := request.Parse(c, MaxBody, func(raw []byte) (Run, error) { return Parse(raw, h.Agents()) })
	if err != nil {
		return err
	}
	if err := h.EnterSpace(c, in.Submit.Space); err != nil {
		return renamed(err)
	}
	if in.Cancels() && in.Message != nil {
		supersedes, err := h.supersedes(c.Request.Context(), identity.Of(c).ID, in)
		if err != nil {
			return err
		}
		if supersedes {
			if in.Submit.OnBusy != chat.Rollback {
				in.Submit.OnBusy = chat.Supersede
			}
			return renamed(h.send(c, in))
		}
	}
	switch {
	case in.Answer != nil:
		return renamed(h.answer(c, in))
	case in.Message != nil:
		return renamed(h.send(c, in))
	}
	return h.open(c, in)
}

// supersedes reports whether the last message of a run that cancels a question is another
// turn than those up to the question's: a new message, an edited one, or one that an earlier
// try of this run has sent. A client sends its whole conversation with every run, so the last
// message is often the one that led to the question.
func (h handlers) supersedes(ctx context.Context, owner string, in Run) (bool, error) {
	ctx, done := request.FractionOfDeadline(ctx, 3)
	defer done()
	asked, err := h.Turn(ctx, owner, chat.TurnOf(in.Answer.InterruptID))
	if err != nil && !h.NotFound(err) {
		return false, err
	}
	sent, err := h.lastSent(ctx, owner, in)
	switch {
	case h.NotFound(err):
		// The message that led to the question has another id if client_turn_id named it.
		id, _, _ := strings.Cut(asked.ClientTurnID, "#")
		named := id != "" && !slices.Contains(in.Earlier, id) && said(asked) == in.Message.Text
		return !named, nil
	case err != nil:
		return false, err
	}
	later := sent.Place == 0 || sent.Place > asked.Place // 0: it has not begun
	return asked.ID != "" && sent.ID != asked.ID && later, nil
}

// lastSent returns the turn of a run's last message, if the server has the message with this
// text.
func (h handlers) lastSent(ctx context.Context, owner string, in Run) (t chat.Turn, err error) {
	thread := h.ThreadNamed(owner, in.Thread)
	if in.Submit.ClientTurnID != "" {
		return h.TurnOfClient(ctx, owner, thread, in.Submit.ClientTurnID)
	}
	for n := 1; n <= dialect.MaxEditions; n++ {
		t, err = h.TurnOfClient(ctx, owner, thread, ClientTurnID(in.Message.ID, n))
		if err != nil || said(t) == in.Message.Text {
			break
		}
	}
	return t, err
}

// said returns the text of a turn's message as Parse reads it.
func said(t chat.Turn) string { return strings.TrimSpace(t.Content.Message) }

func (h handlers) answer(c *gin.Context, in Run) error {
	owner := identity.Of(c).ID
	thread, value := h.ThreadNamed(owner, in.Thread), in.Answer.Value
	if d := in.Answer.Approved; d != nil { // one decision for every call that the question asks about
		asked, err := h.Question(c.Request.Context(), owner, thread)
		if err != nil {
			return err
		}
		if asked == nil || asked.Interrupt.ID != in.Answer.InterruptID {
			return &chat.RefusedError{Code: chat.CodeNoInterrupt}
		}
		if calls := asked.Interrupt.Calls; len(d.Arguments) > 0 && len(calls) > 1 {
			return dialect.Problems{{Field: "resume_value.arguments", Problem: "need decisions, because there are several calls"}}
		}
		for _, call := range asked.Interrupt.Calls {
			one := *d
			one.ID = call.ID
			value.Decisions = append(value.Decisions, one)
		}
	}
	return h.Answer(c, dialect.Answer{
		Resume:      chat.Resume{ThreadID: thread, InterruptID: in.Answer.InterruptID, Value: value},
		ThreadAlias: in.Thread, StreamRunID: in.RunID, CancelOnDisconnect: in.Submit.CancelOnDisconnect, View: in.Submit.View,
	}, func(s dialect.Stream) dialect.Wire { return NewWire(s, in, nil) })
}

func (h handlers) send(c *gin.Context, in Run) error {
	owner, s, m := identity.Of(c).ID, in.Submit, in.Message
	s.ThreadID, s.ThreadAlias, s.StreamRunID = h.ThreadNamed(owner, in.Thread), in.Thread, in.RunID
	s.Content.Message = m.Text
	s.Content.Attachments = append(s.Content.Attachments, m.Attachments...)
	if s.ClientTurnID == "" {
		s.Edition = func(n int) string { return ClientTurnID(m.ID, n) }
	}
	if s.Content.ParentRequest == "" {
		parent, err := h.parent(c.Request.Context(), owner, s.ThreadID, in.Earlier)
		if err != nil {
			return err
		}
		s.Content.ParentRequest = parent
	}
	if err := dialect.Attach(c, h, &s, m.Files); err != nil {
		return err
	}
	m.Files = nil // a stream would keep them in memory
	return h.Submit(c, s, func(to dialect.Stream) dialect.Wire { return NewWire(to, in, nil) })
}

// parent returns the id of the turn that a message follows. It finds the turn by the ids
// of the earlier messages. It returns "", the newest turn, if it finds none or the database
// is unavailable.
func (h handlers) parent(ctx context.Context, owner, thread string, earlier []string) (string, error) {
	ctx, done := request.FractionOfDeadline(ctx, 3)
	defer done()
	for i, id := range earlier {
		if i == maxLookups {
			break
		}
		t, err := h.turnOf(ctx, owner, thread, id)
		switch {
		case err == nil && t.ThreadID == thread && t.Status != chat.TurnNew:
			return t.ID, nil
		case err != nil && h.Unavailable(err):
			return "", nil
		case err != nil && !h.NotFound(err):
			return "", err
		}
	}
	return "", nil
}

// maxLookups limits the messages whose turns are looked up.
const maxLookups = 20

// turnOf returns the turn of a message id: an id of ours, which begins with the turn's id,
// or an id of the client's.
func (h handlers) turnOf(ctx context.Context, owner, thread, id string) (chat.Turn, error) {
	if turn := turnIn(id); turn != "" {
		return h.Turn(ctx, owner, turn)
	}
	return h.TurnOfClient(ctx, owner, thread, ClientTurnID(id, 1))
}

// open shows a thread: its messages, then the turn that it runs, from the turn's
// beginning.
func (h handlers) open(c *gin.Context, in Run) error {
	ctx, owner := c.Request.Context(), identity.Of(c).ID
	thread := h.ThreadNamed(owner, in.Thread)
	history, running, err := h.history(ctx, owner, thread, in)
	if err != nil {
		return err
	}
	err = h.FollowRunning(c, dialect.RunningTurn{ThreadID: thread, ThreadName: in.Thread, View: in.Submit.View},
		func(s dialect.Stream) dialect.Wire { return NewWire(s, in, withoutAnswer(history, s.Turn.ID)) })
	if err != nil && !h.NotFound(err) || c.Writer.Written() {
		return err
	}
	if running { // it has ended meanwhile
		if history, _, err = h.history(ctx, owner, thread, in); err != nil {
			return err
		}
	}
	w := NewWire(dialect.Stream{}, in, history)
	c.Header("X-Thread-Id", thread)
	c.Data(http.StatusOK, sse.ContentType, w.End(w.Begin(nil)))
	return nil
}

// withoutAnswer drops all but the person's message of a turn from the history, because the
// stream of the turn shows the rest.
func withoutAnswer(history []messageJSON, turn string) []messageJSON {
	return slices.DeleteFunc(history, func(m messageJSON) bool {
		opens := m.Role == "user" && (turnIn(m.ID) == "" || strings.HasSuffix(m.ID, ".m0"))
		return m.Metadata["turn_id"] == turn && !opens
	})
}

// renamed gives the fields of an error their names in this dialect.
func renamed(err error) error {
	if err == nil {
		return nil
	}
	return dialect.RenamedFields{Err: err, Name: func(field string) string {
		switch {
		case field == "interrupt_id":
			return "resume[0].interruptId"
		case len(field) >= len("resume_value") && field[:len("resume_value")] == "resume_value":
			return "resume[0].payload" + field[len("resume_value"):]
		case field == "attachments":
			return "messages"
		case field == "client_turn_id":
			return "messages"
		}
		return "forwardedProps.palaver." + field
	}}
}
