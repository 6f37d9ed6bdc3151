package telemetry

import (
	"encoding/json"
	"errors"
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

// maxContent limits one text in a span, in bytes.
const maxContent = 16 << 10

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

func shorten(s string) string {
	if len(s) <= maxContent {
		return s
	}
	s = s[:maxContent]
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

// messageAttributes writes messages under the names of OpenTelemetry (gen_ai.<in or
// out>put.messages) and LangSmith (gen_ai.<prompt or completion>.n).
func messageAttributes(convention, indexed string, messages []llm.Message) []attribute.KeyValue {
	var out []attribute.KeyValue
	list := make([]message, 0, len(messages))
	for i, m := range messages {
		text := shorten(m.Text)
		line := message{Role: string(m.Role)}
		if text != "" && m.Role != llm.ToolRole {
			line.Parts = append(line.Parts, part{Type: "text", Content: text})
		}
		if m.Role == llm.ToolRole {
			line.Parts = append(line.Parts, part{Type: "tool_call_response", ID: m.CallID, Response: text})
		}
		for _, c := range m.Calls {
			line.Parts = append(line.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: shorten(c.Arguments)})
			if text == "" {
				text = c.Name + " " + shorten(c.Arguments)
			}
		}
		list = append(list, line)
		key := indexed + "." + strconv.Itoa(i)
		out = append(out, attribute.String(key+".role", string(m.Role)), attribute.String(key+".content", text))
	}
	if b, err := json.Marshal(list); err == nil {
		out = append(out, attribute.String(convention, string(b)))
	}
	return out
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
