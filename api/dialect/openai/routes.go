// Package openai is the dialect of OpenAI's chat completions, /v1 (docs/contract.md):
// each agent is a model. Clients send the whole conversation; the server finds the turn
// that the last message follows.
package openai

import (
	"cmp"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:      reflect.TypeFor[handlers]().PkgPath(),
	Below:        "/v1/",
	Prefix:       "OpenAI",
	Operations:   operations,
	Failure:      fail,
	FailureShape: FailureJSON{},
	Events: []openapi.Shape{
		{Value: chunkJSON{}},
		{Value: FailureJSON{}},
	},
	Nested: []openapi.Shape{
		{Value: messageBody{}, Needs: []string{"role"}, Holds: map[string]any{"content": openapi.AnyOf{"", []partBody{}, nil}}},
		{Value: partBody{}, Needs: []string{"type"}},
		{Value: imageBody{}, Needs: []string{"url"}},
		{Value: fileBody{}},
	},
	Words: map[string]openapi.Word{
		"OpenAICompletionBody.model":            {About: "The agent: palaver-documents, palaver-assistant, or palaver- and the name of another agent; with a colon and a model of CHAT_MODELS behind it, that model answers."},
		"OpenAICompletionBody.messages":         {About: "The conversation. The last message is answered. The server uses the earlier messages to find the turn that it follows."},
		"OpenAICompletionBody.reasoning_effort": {About: "How much work the answer may take: one search (none, minimal, low), a few steps if needed (medium), a plan and steps up to the limits (high, xhigh). Default: that of the server.", Enum: openapi.Values("none", "minimal", "low", "medium", "high", "xhigh", "")},
		"OpenAICompletionBody.metadata":         {About: "thread_id in metadata names the conversation, like X-Thread-Id."},
		"OpenAICompletionBody.tools":            {About: "Not supported: agents have their own tools."},
		"OpenAICompletionBody.functions":        {About: "Not supported: agents have their own tools."},
		"OpenAIChoice.finish_reason":            {Enum: openapi.Values("stop", "length", "content_filter")},
	},
}

const (
	group  = "OpenAI dialect"
	events = "OpenAIEvent"
)

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{
		{Route: "GET /v1/models", InSpace: chat.Reader, Handle: h.models, Group: group, About: "Lists the agents as models.", Answers: openapi.OK(modelsJSON{})},
		{Route: "GET /v1/models/:model", InSpace: chat.Reader, Handle: h.model, Group: group, About: "Returns an agent as a model.", Answers: openapi.OK(modelJSON{})},
		{Route: "POST /v1/chat/completions", InSpace: chat.Reader, Sends: true, Handle: h.complete, Stream: true, Group: group, About: "Answers the last message, as a stream or as one response.",
			Body: openapi.Shape{Value: completionBody{}, Needs: []string{"model", "messages"}, Holds: map[string]any{
				"metadata": map[string]any{}, "tool_choice": openapi.AnyOf{"", map[string]any{}, nil}, "tools": []any{}, "functions": []any{}}},
			Headers: []openapi.Param{{Name: "X-Thread-Id", About: "The client's name of the conversation. Default: the conversation is found by its messages."},
				{Name: "Idempotency-Key", About: "A repeated request with the same key and message returns the existing turn."},
				{Name: "X-On-Disconnect", About: "What to do with the turn when this client disconnects.", Enum: openapi.Values("continue", "cancel")}},
			Answers: []openapi.Answer{{Status: http.StatusOK, JSON: completionJSON{}, Events: events, Headers: []string{"X-Thread-Id", "X-Turn-Id"}}},
			Errors:  append(slices.Clone(openapi.TakesTurn), http.StatusServiceUnavailable)},
	}
}

type modelJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	Name    string `json:"name"`
}

type modelsJSON struct {
	Object string      `json:"object"`
	Data   []modelJSON `json:"data"`
}

func show(a chat.AgentInfo, chosen string) modelJSON {
	label := a.Label
	if chosen != "" {
		label += " (" + chosen + ")"
	}
	return modelJSON{modelID(string(a.Name), chosen), "model", 0, "palaver", label}
}

func (h handlers) models(c *gin.Context) error {
	out := modelsJSON{Object: "list", Data: []modelJSON{}}
	for _, a := range h.Agents().Chosen() {
		for _, chosen := range append([]string{""}, h.Models()...) {
			out.Data = append(out.Data, show(a, chosen))
		}
	}
	c.JSON(http.StatusOK, out)
	return nil
}

func (h handlers) model(c *gin.Context) error {
	a, chosen, known := readModel(c.Param("model"), h.Agents().Chosen(), h.Models())
	if !known {
		return problem.NotFound
	}
	c.JSON(http.StatusOK, show(a, chosen))
	return nil
}

// view is the view of all streams: requests cannot choose one, so CHAT_STREAM_MODE decides.
var view = dialect.View{ByServer: true}

// complete answers the last message of a conversation.
func (h handlers) complete(c *gin.Context) error {
	head := Headers{c.GetHeader("X-Thread-Id"), c.GetHeader("Idempotency-Key"), c.GetHeader("X-On-Disconnect")}
	in, err := request.Parse(c, MaxBody, func(raw []byte) (Request, error) { return Parse(raw, h.Agents().Chosen(), h.Models(), head) })
	if err != nil {
		return err
	}
	if err := h.EnterSpace(c, in.Space); err != nil {
		return err
	}
	if in.Task != nil {
		return h.task(c, in)
	}
	owner := identity.Of(c).ID
	thread := ""
	if in.Thread != "" {
		thread = h.ThreadNamed(owner, in.Thread)
	}
	wire := h.wire(c, in, "")
	cancels := head.OnDisconnect == "cancel"
	follows, err := h.follows(c, owner, thread, in)
	if err != nil {
		return err
	}
	if follows != nil {
		thread = cmp.Or(thread, follows.turn.ThreadID)
		if done, err := h.answer(c, in, *follows, cancels, wire); done || err != nil {
			return err
		}
	}
	s := dialect.Submit{
		ThreadID: thread, ThreadAlias: in.Thread, ClientTurnID: head.IdempotencyKey, OnBusy: chat.Supersede, CancelOnDisconnect: cancels, View: view, ModelNamed: true,
		StreamRunID: RunID(append(slices.Clone(in.Earlier), EarlierMessage{true, in.Text, in.mark})),
		Content:     chat.Content{Message: in.Text, Agent: in.Agent, Model: in.Chosen, Attachments: in.Attachments, TaggedDocs: in.Documents, Spaces: in.Scope, Effort: in.Effort},
	}
	switch {
	case s.ThreadID == "" && head.IdempotencyKey != "": // a retry of a first message must not fork the conversation
		s.ThreadID = h.ThreadNamed(owner, "idempotency-key\x00"+head.IdempotencyKey)
	case s.ThreadID == "":
		s.ThreadID = uuid.NewString()
	}
	if follows != nil {
		s.Content.ParentRequest = follows.turn.ID
	}
	if err := dialect.Attach(c, h, &s, in.Files); err != nil {
		return err
	}
	in.Earlier, in.Files = nil, nil // a stream would keep them in memory
	return in.renamed(h.Submit(c, s, wire))
}

// renamed gives the fields of an error their names in this dialect.
func (r Request) renamed(err error) error {
	if err == nil {
		return nil
	}
	return dialect.RenamedFields{Err: err, Name: func(field string) string {
		if field == "client_turn_id" {
			return "Idempotency-Key"
		}
		return r.field
	}}
}

// wire makes the wires of a request. If skipTo names a question, they leave out the text up
// to its answer.
func (h handlers) wire(c *gin.Context, in Request, skipTo string) dialect.NewWire {
	// Not the request itself: a stream would keep its messages in memory.
	origin, stream, model, usage, ignored := h.Origin(c), in.Stream, in.Model, in.IncludeUsage, in.Ignored
	showed := func(question string) { shown.add(identity.Of(c), question) }
	return func(s dialect.Stream) dialect.Wire {
		if stream {
			w := NewStream(s, model, origin, usage)
			w.place.Ignored = ignored
			w.skipTo, w.showed = skipTo, showed
			return w
		}
		w := NewWhole(s, model, origin)
		w.place.Ignored = ignored
		w.skipTo, w.showed = skipTo, showed
		return w
	}
}

// follows finds the turn that the last message follows; nil: the newest of its thread.
// While the database is unavailable, only a message without earlier ones is accepted: with
// earlier ones it may be an edit.
func (h handlers) follows(c *gin.Context, owner, thread string, in Request) (*followedTurn, error) {
	ctx := c.Request.Context()
	if len(in.Earlier) > 0 {
		f, err := h.locate(ctx, owner, thread, in.Earlier)
		if err != nil || f != nil {
			return f, err
		}
	}
	if thread == "" {
		return nil, nil
	}
	q, err := h.Question(ctx, owner, thread)
	if err != nil || q == nil { // without its workflow, a question cannot be answered either
		return nil, nil
	}
	t, err := h.Turn(ctx, owner, q.TurnID)
	if err != nil {
		return nil, nil
	}
	return &followedTurn{turn: t, asked: q.Interrupt, unseen: !shown.has(identity.Of(c), q.Interrupt.ID)}, nil
}

var shortAnswer = regexp.MustCompile(`(?i)^(\(?\d{1,4}[.)]?|yes|no|approve|reject)$`)

// answer answers the question that the client has seen last, if the message does. A
// message that repeats the answer to an answered question streams what followed the answer.
func (h handlers) answer(c *gin.Context, in Request, f followedTurn, cancels bool, wire dialect.NewWire) (done bool, _ error) {
	if f.asked == nil {
		if !f.turn.Status.Settled() && len(in.Earlier) > 0 && shortAnswer.MatchString(in.Text) { // its question has just been answered
			return true, h.FollowRunning(c, dialect.RunningTurn{ThreadID: f.turn.ThreadID, ThreadName: f.turn.ThreadID, View: view}, wire)
		}
		return false, nil
	}
	v, answers := ReadAnswer(*f.asked, in.Text)
	if !answers || in.hasFiles() {
		return false, nil
	}
	if f.unseen && f.asked.Type == chat.ToolApproval { // nobody approves a call that they were not shown
		return true, h.FollowRunning(c, dialect.RunningTurn{ThreadID: f.turn.ThreadID, ThreadName: f.turn.ThreadID, View: view}, wire)
	}
	if f.answer == nil {
		return true, in.renamed(h.Answer(c, dialect.Answer{Resume: chat.Resume{ThreadID: f.turn.ThreadID, InterruptID: f.asked.ID, Value: v}, ThreadAlias: in.Thread, CancelOnDisconnect: cancels, View: view}, wire))
	}
	same := v.Text() == f.answer.Text() && slices.EqualFunc(v.Decisions, f.answer.Decisions, func(a, b chat.Decision) bool { return a.ID == b.ID && a.Decision == b.Decision })
	if !same {
		return false, nil
	}
	w := h.wire(c, in, f.asked.ID)(dialect.Stream{Thread: f.turn.ThreadID, Turn: f.turn})
	return true, h.FollowThread(c, dialect.Follow{ThreadID: f.turn.ThreadID, TurnID: f.turn.ID, View: view}, w)
}

// task sends the answer to a client's own task.
func (h handlers) task(c *gin.Context, in Request) error {
	id, now, usage := "chatcmpl-"+uuid.NewString(), time.Now().Unix(), usageOf(chat.Usage{})
	if !in.Stream {
		c.JSON(http.StatusOK, completionJSON{ID: id, Object: "chat.completion", Created: now, Model: in.Model, Usage: usage,
			Choices: []choiceJSON{{Message: messageJSON{Role: "assistant", Content: in.Task.Answer, Annotations: []annotationJSON{}}, FinishReason: "stop"}}})
		return nil
	}
	stop := "stop"
	chunk := chunkJSON{ID: id, Object: "chat.completion.chunk", Created: now, Model: in.Model,
		Choices: []chunkChoiceJSON{{Delta: deltaJSON{Role: "assistant", Content: &in.Task.Answer}, FinishReason: &stop}}}
	b := sse.JSON(nil, chunk)
	if in.IncludeUsage {
		chunk.Choices, chunk.Usage = []chunkChoiceJSON{}, usage
		b = sse.JSON(b, chunk)
	}
	c.Data(http.StatusOK, sse.ContentType, append(b, sse.Done...))
	return nil
}
