package aisdk

import (
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:    reflect.TypeFor[handlers]().PkgPath(),
	Prefix:     "UI",
	Operations: operations,
	Events: []openapi.Shape{
		chunkOf(typeStart, "messageId", "messageMetadata"),
		chunkOf(typeStartStep),
		chunkOf(typeThoughtStart, "id"),
		chunkOf(typeThoughtDelta, "id", "delta"),
		chunkOf(typeThoughtEnd, "id", "providerMetadata?"),
		chunkOf(typeTextStart, "id"),
		chunkOf(typeTextDelta, "id", "delta"),
		chunkOf(typeTextEnd, "id", "providerMetadata?"),
		chunkOf(typeToolInput, "toolCallId", "toolName", "input"),
		chunkOf(typeApprovalRequest, "approvalId", "toolCallId"),
		chunkOf(typeToolOutput, "toolCallId", "output"),
		chunkOf(typeToolError, "toolCallId", "errorText"),
		chunkOf(typeToolDenied, "toolCallId"),
		chunkOf(typeSourceDocument, "sourceId", "mediaType", "title", "providerMetadata"),
		chunkOf(typeSourceURL, "sourceId", "url", "title?", "providerMetadata"),
		chunkOf(typeFile, "url", "mediaType"),
		dataOf(dataStatus, statusData{}, "data", "transient"),
		dataOf(dataDocs, docsShape, "id?", "data"),
		dataOf(dataInterrupt, question{}, "id", "data"),
		dataOf(dataNotice, noticeData{}, "id?", "data"),
		dataOf(dataTool, toolMessage{}, "id", "data"),
		chunkOf(typeMetadata, "messageMetadata"),
		chunkOf(typeFinishStep),
		chunkOf(typeFinish, "finishReason"),
		chunkOf(typeError, "errorText"),
	},
	Nested: []openapi.Shape{
		{Value: message{}, Needs: []string{"role"}, Holds: map[string]any{"content": "", "parts": []part{}}},
		{Value: part{}, Needs: []string{"type"}},
		{Value: resume{}, Needs: []string{"resume_value"}},
	},
	Words: map[string]openapi.Word{
		"UIChatBody.id":         {About: "The client's name of the conversation."},
		"UIChatBody.message":    {About: "The newest message, instead of messages."},
		"UIChatBody.messages":   {About: "The client's copy of the conversation. Only the last message is used."},
		"UIChatBody.trigger":    {Enum: openapi.Values("submit-message", "regenerate-message", "")},
		"UIFinish.finishReason": {Enum: openapi.Values("stop", "length", "content-filter", "tool-calls", "error", "other")},
		"UIMessage.role":        {Enum: openapi.Values("user", "assistant")},
	},
}

var docsShape = openapi.Shape{Value: docsData{}, Holds: map[string]any{"docs": []chat.DocRef{}}}

func chunkOf(kind string, fields ...string) openapi.Shape {
	return openapi.Shape{Name: kind, Type: kind, Value: chunk{}, Only: append([]string{"type"}, fields...)}
}

func dataOf(kind string, data any, fields ...string) openapi.Shape {
	s := chunkOf(kind, fields...)
	s.Holds = map[string]any{"data": data}
	return s
}

const (
	group  = "AI SDK dialect"
	events = "UIEvent"
)

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{
		{Route: "POST /api/ui/chat", InSpace: chat.Reader, Sends: true, Handle: h.chat, Stream: true, Group: group, About: "Accepts DefaultChatTransport's request: a message, a regeneration, tool approvals, or an answer to a question.",
			Body: openapi.Shape{Value: chatBody{}, Holds: map[string]any{
				"messages": []message{}, "message": openapi.AnyOf{"", message{}}}}, Answers: openapi.Streams(events), Errors: openapi.TakesTurn},
		{Route: "GET /api/ui/chat/:id", InSpace: chat.Reader, Handle: h.thread, Group: group, About: "Returns one branch of a conversation as UI messages. Turns are complete: at least one turn is returned, even if it exceeds the limit.",
			Query: []openapi.Param{openapi.ParamHead, openapi.ParamBefore, openapi.ParamLimit(500)}, Answers: openapi.OK(threadJSON{})},
		{Route: "GET /api/ui/chat/:id/stream", InSpace: chat.Reader, Handle: h.stream, Stream: true, Group: group, About: "Streams the running turn from its beginning.",
			Query: []openapi.Param{openapi.ParamMode, openapi.ParamTokens}, Answers: openapi.StreamsIfAny(events), Errors: []int{http.StatusTooManyRequests}},
		{Route: "POST /api/ui/chat/:id/stop", InSpace: chat.Reader, Handle: h.stop, Group: group, About: "Stops the running turn, or the turn that the body names.",
			Body: stopBody{}, BodyOptional: true, Answers: openapi.Accepted(dialect.Cancelled{})},
	}
}

// chat takes what an AI SDK client posts: a message, a regenerate request, or the
// answer to a question.
func (h handlers) chat(c *gin.Context) error {
	in, err := request.Parse(c, MaxBody, func(raw []byte) (Request, error) { return Parse(raw, h.Agents()) })
	if err != nil {
		return err
	}
	if err := h.EnterSpace(c, in.Submit.Space); err != nil {
		return err
	}
	owner := identity.Of(c).ID
	wire := func(to dialect.Stream) dialect.Wire { return NewWire(to, in.Continue) }
	if in.Kind == Reply {
		return in.renamed(h.Answer(c, in.Answer, wire))
	}
	in.Submit.ThreadID = uuid.NewString()
	if in.Thread != "" {
		in.Submit.ThreadID = h.ThreadNamed(owner, in.Thread)
	}
	ctx := c.Request.Context()
	if err := h.locate(ctx, owner, &in); err != nil {
		return err
	}
	if err := dialect.Attach(c, h, &in.Submit, in.Files); err != nil {
		return err
	}
	if in.Kind == Send && in.Submit.ClientTurnID == "" {
		in.Submit.Edition = func(n int) string { return ClientTurnID(in.MessageID, n) }
	}
	in.Files = nil // a stream would keep them in memory
	return in.renamed(h.Submit(c, in.Submit, wire))
}

// renamed gives the fields of an error their names in this dialect.
func (r Request) renamed(err error) error {
	if err == nil {
		return nil
	}
	return dialect.RenamedFields{Err: err, Name: r.fieldName}
}

// threadOf reads the thread of a path and returns its UUID and the client's name of it.
func (h handlers) threadOf(c *gin.Context) (id, name string, _ error) {
	var p dialect.Problems
	name = p.ThreadName("id", c.Param("id"))
	return h.ThreadNamed(identity.Of(c).ID, name), name, p.Err()
}

// stream replays the assistant message that is being written from its beginning,
// then continues live. Clients call it for every conversation that they open, including
// new ones.
func (h handlers) stream(c *gin.Context) error {
	thread, name, err := h.threadOf(c)
	if err != nil {
		return err
	}
	var p dialect.Problems
	view := p.View(c.Query("stream_mode"), nil)
	view.NoTokens = p.Choice("stream_tokens", c.Query("stream_tokens"), "true", "false")
	if err := p.Err(); err != nil {
		return err
	}
	return h.FollowRunning(c, dialect.RunningTurn{ThreadID: thread, ThreadName: name, View: view},
		func(to dialect.Stream) dialect.Wire { return NewWire(to, nil) })
}

// stop stops the running turn of a conversation, or the one that the body names.
func (h handlers) stop(c *gin.Context) error {
	thread, _, err := h.threadOf(c)
	if err != nil {
		return err
	}
	var raw []byte
	if c.Request.ContentLength != 0 {
		if raw, err = request.Body(c, dialect.MaxBody); err != nil {
			return err
		}
	}
	in, err := ParseStop(raw)
	if err != nil {
		return err
	}
	in.ThreadID = thread
	return h.Cancel(c, in)
}
