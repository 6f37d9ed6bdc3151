package desk

import (
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/openapi"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/api/sse"
	"github.com/palaver-chat/palaver/chat"
)

// widget is the protocol of the chat widget on the shop's website: each line of its streams
// is a question, an answer or an error.
var widget = palaver.Dialect{
	Prefix:  "Widget",
	Package: reflect.TypeFor[lineJSON]().PkgPath(),
	Events:  []openapi.Shape{{Value: lineJSON{}}},
	Words:   map[string]openapi.Word{"WidgetLine.type": {Enum: openapi.Values("question", "answer", "error")}},
	Operations: func(s dialect.Server) []openapi.Operation {
		h, body := widgetHandlers{s}, openapi.Shape{Value: messageBody{}, Needs: []string{"chat", "text"}}
		return []openapi.Operation{
			{Route: "POST /api/widget/messages", Handle: h.message, Stream: true, Group: "Shop widget", About: "Sends a message and streams its turn.",
				Body: body, Answers: openapi.Streams("WidgetEvent"), Errors: openapi.TakesTurn},
			{Route: "POST /api/widget/answers", Handle: h.answer, Stream: true, Group: "Shop widget", About: "Answers the open question and streams the rest of its turn.",
				Body: body, Answers: openapi.Streams("WidgetEvent"), Errors: openapi.AnswersTurn},
		}
	},
}

type messageBody struct {
	Chat string `json:"chat"` // the widget's name of the conversation
	Text string `json:"text"`
}

type lineJSON struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// parseWidget reads a request. Its error lists the invalid fields.
func parseWidget(raw []byte) (messageBody, error) {
	var in messageBody
	if err := dialect.Decode(raw, &in); err != nil {
		return in, err
	}
	var p dialect.Problems
	p.ThreadName("chat", in.Chat)
	p.Text("text", in.Text, 1, chat.MaxMessage)
	return in, p.Err()
}

type widgetHandlers struct{ dialect.Server }

// view leaves out tokens and statuses.
var view = dialect.View{Messages: true}

func (h widgetHandlers) message(c *gin.Context) error {
	in, err := request.Parse(c, dialect.MaxBody, parseWidget)
	if err != nil {
		return err
	}
	return h.Submit(c, dialect.Submit{
		ThreadAlias: in.Chat, Content: chat.Content{Message: in.Text, Agent: chat.Agent(support.Name)}, OnBusy: chat.Supersede, View: view,
	}, newWidgetWire)
}

func (h widgetHandlers) answer(c *gin.Context) error {
	in, err := request.Parse(c, dialect.MaxBody, parseWidget)
	if err != nil {
		return err
	}
	return h.Answer(c, dialect.Answer{
		ThreadAlias: in.Chat, Resume: chat.Resume{Value: chat.ResumeValue{Type: chat.TextInput, Value: &in.Text}}, View: view,
	}, newWidgetWire)
}

// widgetWire writes the events of one stream.
type widgetWire struct{}

func newWidgetWire(dialect.Stream) dialect.Wire { return widgetWire{} }

func (widgetWire) Name() string              { return "widget" }
func (widgetWire) Header() map[string]string { return nil }
func (widgetWire) Begin(b []byte) []byte     { return b }
func (widgetWire) End(b []byte) []byte       { return b }

func (widgetWire) Event(b []byte, e chat.Event, _ string) []byte {
	switch e.Type {
	case chat.EventInterrupt:
		return sse.JSON(b, lineJSON{"question", e.Interrupt.Message})
	case chat.EventResponse:
		return sse.JSON(b, lineJSON{"answer", e.Response.Text})
	case chat.EventFailed:
		return sse.JSON(b, lineJSON{"error", e.Message})
	}
	return b
}
