package discovery

import (
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/boards/board"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Dialect is this dialect.
var Dialect = dialect.Dialect{
	Package:      reflect.TypeFor[handlers]().PkgPath(),
	Below:        "/chat/message",
	Prefix:       "Discovery",
	Operations:   operations,
	Failure:      fail,
	FailureShape: errorJSON{},
	Data:         openapi.AnyOf{tokenJSON{}, toolCallJSON{}, doneJSON{}, errorJSON{}},
	Words: map[string]openapi.Word{
		"DiscoveryMessageBody.message":           {About: "The user's message.", Max: chat.MaxMessage},
		"DiscoveryMessageBody.discovery_id":      {About: "The id of a stored board. Without it, discovery_context is the board."},
		"DiscoveryMessageBody.discovery_context": {About: "The board, in the form of GET /api/discoveries/:id. Ignored if discovery_id is set."},
		"DiscoveryMessageBody.chat_history":      {About: "The previous messages. Ignored if discovery_id is set."},
	},
}

type handlers struct{ dialect.Server }

func operations(s dialect.Server) []openapi.Operation {
	h := handlers{s}
	return []openapi.Operation{{Route: "POST /chat/message", Handle: h.message, Stream: true, Group: "Discovery dialect",
		About:   "Sends a message about a discovery board and streams the turn as named events: token, tool_call, done and error.",
		Body:    openapi.Shape{Value: messageBody{}, Needs: []string{"message"}, Holds: map[string]any{"discovery_context": map[string]any{}, "chat_history": []any{map[string]any{}}}},
		Answers: openapi.Streams("DiscoveryData"),
		Errors:  openapi.TakesTurn}}
}

// notConfigured is the error of a server without a model. The offline engine counts as one.
var notConfigured = &problem.Problem{Status: http.StatusServiceUnavailable, Code: chat.CodeModelUnavailable, Message: messages.NoModel}

// fail makes the body of an error response: one sentence, with the fields that it is about.
func fail(f dialect.Failure) any {
	if len(f.Details) > 0 {
		return errorJSON{f.Details.Error()}
	}
	return errorJSON{f.Message.Text}
}

// message takes a message and streams its turn.
func (h handlers) message(c *gin.Context) error {
	in, err := request.Parse(c, board.MaxBytes, func(raw []byte) (dialect.Submit, error) { return ParseMessage(raw, h.Agents()) })
	if err != nil {
		return err
	}
	if !h.HasModel() {
		return notConfigured
	}
	return h.Submit(c, in, func(s dialect.Stream) dialect.Wire { return NewWire(s) })
}
