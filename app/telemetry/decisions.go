package telemetry

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/flow"
)

// decided returns what a node decided: kinds, numbers and counts. It returns no texts, so
// that it can be in every trace.
func decided(result any) []attribute.KeyValue {
	switch r := result.(type) {
	case activities.BeginResult:
		return begunAttributes(r)
	case documents.Intent:
		return intentAttributes(&r)
	case *documents.Intent:
		return intentAttributes(r)
	case documents.Docs:
		return docsAttributes(&r)
	case *documents.Docs:
		return docsAttributes(r)
	case documents.RetrieveResult:
		return []attribute.KeyValue{
			attribute.Int("palaver.passages", len(r.ChunkIDs)),
			attribute.String("palaver.retrieval_confidence", string(r.Confidence)),
			attribute.Float64("palaver.retrieval_score", r.Score),
			attribute.Bool("palaver.retrieval.all_documents", r.Widened),
			attribute.Bool("palaver.retrieval.documents_left_out", r.Processing || r.Unreadable || r.Partly),
		}
	case documents.WebResult:
		return []attribute.KeyValue{
			attribute.Int("palaver.web.results", r.Results),
			attribute.Bool("palaver.web.configured", !r.Off),
			attribute.Bool("palaver.web.failed", r.Failed),
		}
	case activities.ModelResult:
		return writtenAttributes(r)
	case activities.CallResult:
		return []attribute.KeyValue{attribute.Bool("palaver.tool_error", r.IsError)}
	case activities.DecideResult:
		return []attribute.KeyValue{
			attribute.Int("palaver.tool_calls.run", len(r.Run)),
			attribute.Int("palaver.tool_calls.edited", len(r.Hashes)),
			attribute.Bool("palaver.answer.misfit", r.Misfit),
		}
	case documents.ReadAnswerResult:
		return []attribute.KeyValue{
			attribute.Int("palaver.documents.resolved", len(r.IDs)),
			attribute.Bool("palaver.documents.unresolved", r.Unknown),
		}
	case flow.Plan:
		return []attribute.KeyValue{attribute.Int("palaver.tool_calls", len(r.Calls))}
	}
	return nil
}

func begunAttributes(b activities.BeginResult) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gen_ai.agent.name", string(b.Agent)),
		attribute.String("palaver.requested_action", string(b.Action)),
		attribute.Bool("palaver.web.requested", b.WebSearch),
		attribute.Bool("palaver.web.forbidden", b.NoWebSearch),
	}
}

// intentAttributes returns nil if rules left the intent open.
func intentAttributes(in *documents.Intent) []attribute.KeyValue {
	if in == nil {
		return nil
	}
	likely := make([]string, len(in.Likely))
	for i, a := range in.Likely {
		likely[i] = string(a)
	}
	return []attribute.KeyValue{
		attribute.String("palaver.action", string(in.Action)),
		attribute.String("palaver.intent_confidence", string(in.Confidence)),
		attribute.Bool("palaver.intent.multiple", in.Multi),
		attribute.StringSlice("palaver.intent.likely", likely),
		attribute.Bool("palaver.web.requested", in.WebSearch),
	}
}

func docsAttributes(d *documents.Docs) []attribute.KeyValue {
	if d == nil {
		return nil
	}
	return []attribute.KeyValue{
		attribute.Int("palaver.documents.resolved", len(d.IDs)),
		attribute.Int("palaver.documents.suggested", len(d.Suggested)),
		attribute.Bool("palaver.documents.unresolved", d.Unresolved),
		attribute.String("palaver.documents_confidence", string(d.Confidence)),
		attribute.String("palaver.documents.source", d.Source),
	}
}

func writtenAttributes(w activities.ModelResult) []attribute.KeyValue {
	names := make([]string, len(w.Calls))
	for i, c := range w.Calls {
		names[i] = c.Name
	}
	return []attribute.KeyValue{
		attribute.Int("palaver.characters", w.Chars),
		attribute.Int("palaver.citations", w.Citations),
		attribute.StringSlice("palaver.tool_calls.names", names),
		attribute.Bool("palaver.stopped", w.Stopped),
	}
}

// asked returns the kinds of the question or answer that a node is given.
func asked(args []any) []attribute.KeyValue {
	for _, arg := range args {
		switch r := arg.(type) {
		case documents.AnswerRequest:
			return answerAttributes(r.Value)
		case activities.KeepRequest:
			return answerAttributes(r.Value)
		case activities.DecideRequest:
			return slices.Concat(questionAttributes(r.Question), answerAttributes(r.Value))
		}
	}
	return nil
}

func questionAttributes(q chat.Question) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("palaver.question.id", q.ID),
		attribute.String("palaver.question.type", string(q.Type)),
		attribute.String("palaver.question.prompt", string(q.Prompt)),
		attribute.String("palaver.question.action", string(q.Action)),
		attribute.Int("palaver.question.options", len(q.OptionIDs)),
		attribute.Int("palaver.question.tool_calls", len(q.Calls)),
	}
}

// answerAttributes has sizes only if the answer has its texts. An answer by reference has
// only ids.
func answerAttributes(v chat.ResumeValue) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("palaver.answer.type", string(v.Type))}
	if v.Ref == "" {
		out = append(out,
			attribute.Int("palaver.answer.characters", utf8.RuneCountInString(v.Text())),
			attribute.Int("palaver.answer.documents", len(v.TaggedDocs)),
			attribute.Int("palaver.answer.sets", len(v.TaggedSets)))
	}
	if len(v.Decisions) > 0 {
		rejected := 0
		for _, d := range v.Decisions {
			if d.Decision == chat.Rejected {
				rejected++
			}
		}
		out = append(out,
			attribute.Int("palaver.answer.approved", len(v.Decisions)-rejected),
			attribute.Int("palaver.answer.rejected", rejected))
	}
	return out
}

// chosen returns the option of q that the answer v chose, or nil if v is the person's own
// text.
func chosen(q chat.Question, v chat.ResumeValue) []attribute.KeyValue {
	if !slices.Contains(q.OptionIDs, v.Text()) {
		return nil
	}
	return []attribute.KeyValue{attribute.String("palaver.answer.option", v.Text())}
}

// nodeInput and nodeOutput write a node's arguments and result as JSON, under the names that
// LangSmith and OpenInference show. These may contain texts.
func nodeInput(span trace.Span, args []any) {
	var arg any = args
	switch { // the first argument is the turn, or has it
	case len(args) == 1:
		arg = args[0]
	case len(args) == 2:
		arg = args[1]
	case len(args) > 2:
		arg = args[1:]
	}
	if raw, err := json.Marshal(arg); err == nil {
		setJSON(span, "input", withoutRef(raw))
	}
}

func nodeOutput(span trace.Span, result any) {
	if result == nil {
		return
	}
	if raw, err := json.Marshal(result); err == nil {
		setJSON(span, "output", raw)
	}
}

func setJSON(span trace.Span, side string, raw []byte) {
	span.SetAttributes(
		attribute.String(side+".value", shorten(string(raw))),
		attribute.String(side+".mime_type", "application/json"))
}

// refFields are the JSON names of TurnRef's fields. nodeInput leaves them out, because the
// span has them as separate attributes.
var refFields = jsonNames(reflect.TypeFor[activities.TurnRef]())

func jsonNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func withoutRef(raw []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	for _, name := range refFields {
		delete(fields, name)
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return rest
}
