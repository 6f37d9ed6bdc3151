package telemetry

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/llm"
)

// LangSmith's kinds of spans.
const (
	kindChain     = "chain"
	kindModel     = "llm"
	kindTool      = "tool"
	kindRetriever = "retriever"
)

const (
	// maxContent limits one text in a span, in bytes.
	maxContent = 16 << 10
	// maxPrompt limits the texts of a span's messages together.
	maxPrompt = 128 << 10
	// maxMessages keeps a span below OpenTelemetry's default limit of 128 attributes. Above
	// it a span loses the last ones.
	maxMessages = 40
)

func kind(k string) attribute.KeyValue { return attribute.String("langsmith.span.kind", k) }

// about returns the turn's attributes, which every span of a trace has.
func about(ref activities.TurnRef) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.conversation.id", ref.ThreadID),
		attribute.String("langsmith.metadata.thread_id", ref.ThreadID),
		attribute.String("langsmith.metadata.turn_id", ref.TurnID),
		attribute.String("palaver.turn_id", ref.TurnID),
		attribute.String("palaver.stream_run_id", ref.RunID),
	}
}

func shorten(s string) string { return shortenTo(s, maxContent) }

func shortenTo(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	s = s[:bytes]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + " …"
}

// message is a message of a prompt or an answer in the format of the GenAI conventions.
type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// messageAttributes returns messages as attributes with the names of OpenTelemetry
// (gen_ai.input.messages or gen_ai.output.messages) and of LangSmith (gen_ai.prompt.n or
// gen_ai.completion.n). Of a long prompt it returns only the last messages.
func messageAttributes(convention, indexed string, messages []llm.Message) []attribute.KeyValue {
	var out []attribute.KeyValue
	list := lastMessages(messages)
	for i, m := range list {
		key := indexed + "." + strconv.Itoa(i)
		out = append(out, attribute.String(key+".role", m.Role), attribute.String(key+".content", m.text()))
	}
	if b, err := json.Marshal(list); err == nil {
		out = append(out, attribute.String(convention, string(b)))
	}
	return out
}

// lastMessages returns the last messages that are within the limits.
func lastMessages(messages []llm.Message) []message {
	room := maxPrompt
	take := func(s string) string {
		s = shortenTo(s, min(maxContent, room))
		room = max(0, room-len(s))
		return s
	}
	var list []message
	for _, m := range slices.Backward(messages) {
		if room == 0 || len(list) == maxMessages {
			break
		}
		list = append(list, newMessage(m, take))
	}
	slices.Reverse(list)
	return list
}

func newMessage(m llm.Message, take func(string) string) message {
	out := message{Role: string(m.Role)}
	switch {
	case m.Role == llm.ToolRole:
		out.Parts = append(out.Parts, part{Type: "tool_call_response", ID: m.CallID, Response: take(m.Text)})
	case m.Text != "":
		out.Parts = append(out.Parts, part{Type: "text", Content: take(m.Text)})
	}
	for _, c := range m.Calls {
		out.Parts = append(out.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: take(c.Arguments)})
	}
	return out
}

// text returns the message as one text for LangSmith, which shows only the first part.
func (m message) text() string {
	if len(m.Parts) == 0 {
		return ""
	}
	switch p := m.Parts[0]; p.Type {
	case "tool_call":
		return p.Name + " " + p.Arguments
	case "tool_call_response":
		return p.Response
	default:
		return p.Content
	}
}

// messageSizes returns the number of messages and the bytes of their texts as attributes.
func messageSizes(messages []llm.Message) []attribute.KeyValue {
	bytes := 0
	for _, m := range messages {
		bytes += len(m.Text)
		for _, c := range m.Calls {
			bytes += len(c.Arguments)
		}
	}
	return []attribute.KeyValue{
		attribute.Int("palaver.input_messages", len(messages)),
		attribute.Int("palaver.input_bytes", bytes),
	}
}

// ended records how a span ended. It records only the error's type, because the text may
// quote a provider or a document.
func ended(span trace.Span, err error) {
	if err == nil {
		return
	}
	span.SetAttributes(attribute.String("error.type", errorType(err)))
	span.SetStatus(codes.Error, errorType(err))
}

func errorType(err error) string {
	var model *llm.Error
	if errors.As(err, &model) {
		return model.Code
	}
	var typed interface{ Type() string } // Temporal's application errors
	if errors.As(err, &typed) && typed.Type() != "" {
		return typed.Type()
	}
	return "error"
}
