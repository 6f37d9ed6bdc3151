package telemetry

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/tools"
)

// unsureModel gives a structured answer.
type unsureModel struct{ fakeModel }

func (unsureModel) Structured(_ context.Context, _ llm.Request, _ llm.Schema, out any) (chat.Usage, error) {
	*out.(*llm.Intent) = llm.Intent{Action: chat.Inquire, Confidence: chat.Low, Reasoning: "a secret reason"}
	return chat.Usage{TokensIn: 3, TokensOut: 2, Calls: 1}, nil
}

// decide runs the activities of a turn that was decided by a model and by a person.
func (b *bundle) decide() {
	b.NoError(b.run("InferIntent", func(ctx context.Context, _ activities.TurnRef) (documents.Intent, error) {
		var in llm.Intent
		_, err := Model(unsureModel{}, b.traces, nil).Structured(ctx, llm.Request{Task: llm.TaskIntent, Messages: []llm.Message{{Role: llm.User, Text: "secret question"}}}, llm.IntentSchema, &in)
		return documents.Intent{Action: in.Action, Confidence: in.Confidence, Likely: []chat.Action{chat.Inquire, chat.Audit}}, err
	}, b.ref))
	b.NoError(b.run("InferDocs", func(context.Context, activities.TurnRef, chat.Action) (documents.Docs, error) {
		return documents.Docs{IDs: []string{"doc-1", "doc-2"}, Suggested: []string{"doc-3"}, Confidence: chat.Medium, Source: "fuzzy_match"}, nil
	}, b.ref, chat.Audit))
	value := "secret answer of a person"
	b.NoError(b.run("ReadAnswer", func(context.Context, activities.TurnRef, documents.AnswerRequest) (documents.ReadAnswerResult, error) {
		return documents.ReadAnswerResult{IDs: []string{"doc-1"}}, nil
	}, b.ref, documents.AnswerRequest{Value: chat.ResumeValue{Type: chat.TextInput, Value: &value}}))
	b.NoError(b.run("Retrieve", func(context.Context, activities.TurnRef, documents.RetrieveRequest) (documents.RetrieveResult, error) {
		return documents.RetrieveResult{ChunkIDs: []string{"c1", "c2", "c3"}, Confidence: chat.High, Score: .5}, nil
	}, b.ref, documents.RetrieveRequest{Action: chat.Inquire}))
	b.NoError(b.run("CallTool", func(ctx context.Context, _ activities.CallRequest) (activities.CallResult, error) {
		_, err := Tools(source{}, b.traces, nil, nil).Tools(ctx, "ann")[0].Run(ctx, tools.Call{ID: "c1", Arguments: []byte(`{"q":"secret argument"}`)})
		return activities.CallResult{IsError: true}, err
	}, activities.CallRequest{TurnRef: b.ref, CallRef: chat.CallRef{ID: "c1", Name: "look"}}))
}

func TestTracesHoldWhatNodesAndModelsDecided(t *testing.T) {
	b := setup(t, true)
	b.decide()
	spans := b.finished()

	node := attributes(spans["intent_resolver"])
	b.Contains(node, "palaver.action=inquire\n")
	b.Contains(node, "palaver.intent_confidence=low\n")
	b.Contains(node, `palaver.intent.likely=["inquire","audit"]`)
	b.Contains(node, "input.value={}\n", "without the turn's ids, which are attributes")

	node = attributes(spans["doc_resolver"])
	b.Contains(node, "palaver.documents.resolved=2\n")
	b.Contains(node, "palaver.documents_confidence=medium\n")
	b.Contains(node, `input.value="audit"`+"\n")
	b.Contains(node, `"ids":["doc-1","doc-2"]`)

	call := attributes(spans["chat small"])
	b.Contains(call, "gen_ai.output.type=json\n")
	b.Contains(call, "palaver.schema=intent_classification\n")
	b.Contains(call, `gen_ai.completion.0.content={"action":"inquire"`)
	b.Contains(call, "a secret reason")
	b.Contains(call, "gen_ai.output.messages=")

	b.Contains(attributes(spans["readanswer"]), "secret answer of a person")
	b.Contains(attributes(spans["retrieve"]), "palaver.passages=3\n")
	b.Contains(attributes(spans["retrieve"]), `output.value={"chunks":["c1","c2","c3"]`)
	b.Contains(attributes(spans["tool"]), "palaver.tool_error=true\n")
	b.Contains(attributes(spans["execute_tool look"]), `input.value={"q":"secret argument"}`)
	b.Contains(attributes(spans["execute_tool look"]), "output.value=secret result\n")
}

func TestTracesWithoutContentHoldKindsAndNumbersOfDecisions(t *testing.T) {
	b := setup(t, false)
	b.decide()
	spans := b.finished()
	for name, s := range spans {
		b.NotContains(attributes(s), "secret", name)
		b.NotContains(attributes(s), "put.value", name)
		b.NotContains(attributes(s), "doc-1", name)
	}
	b.Contains(attributes(spans["intent_resolver"]), "palaver.intent_confidence=low\n")
	b.Contains(attributes(spans["doc_resolver"]), "palaver.documents.suggested=1\n")
	b.Contains(attributes(spans["chat small"]), "palaver.input_messages=1\n")
	b.Contains(attributes(spans["chat small"]), "palaver.input_bytes=15\n")
	b.Regexp(`palaver.output_bytes=[1-9]\d+`, attributes(spans["chat small"]))
	b.Contains(attributes(spans["readanswer"]), "palaver.answer.type=text_input\n")
	b.Contains(attributes(spans["readanswer"]), "palaver.answer.characters=25\n")
	b.Contains(attributes(spans["execute_tool look"]), "palaver.output_bytes=13\n")
}

// exchanged settles a turn with a question whose option the person chose, and with an
// approval whose reason is stored as a text. It returns the events of the turn's span.
func (b *bundle) exchanged() []sdktrace.Event {
	option, words := "inquire", "secret reason of a person"
	approval := chat.Question{ID: "q2", Type: chat.ToolApproval, Prompt: "approve", Calls: []chat.CallRef{{ID: "c1", Name: "look"}}}
	whole := chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{{ID: "c1", Decision: chat.Rejected, Reason: words}}}
	kept := whole.ByReference(approval, "answer:q2")
	choice := chat.ResumeValue{Type: chat.ActionChoice, Value: &option}
	b.store.events = []chat.Event{
		{N: 2, Type: chat.EventInterrupt, Interrupt: &chat.Interrupt{Message: "Please choose:", Options: []chat.Option{{ID: "inquire", Label: "Secret label"}}}},
		{N: 3, Type: chat.EventResumed, Resume: &choice},
		{N: 5, Type: chat.EventResumed, Resume: &whole},
	}
	b.settle(activities.Ending{TurnRef: b.ref, Status: chat.TurnCompleted, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted, At: time.Now()},
		{N: 2, Type: chat.EventInterrupt, At: time.Now(), Question: &chat.Question{ID: "q1", Type: chat.ActionChoice, Prompt: chat.PromptWhichAction, OptionIDs: []string{"inquire", "audit"}}},
		{N: 3, Type: chat.EventResumed, At: time.Now(), Answers: "q1", Channel: "api", Resume: &choice},
		{N: 4, Type: chat.EventInterrupt, At: time.Now(), Question: &approval},
		{N: 5, Type: chat.EventResumed, At: time.Now(), Answers: "q2", Channel: "mcp", Resume: &kept},
		{N: 6, Type: chat.EventNotice, At: time.Now(), Code: chat.NoticeWebDropped},
	}})
	events := b.finished()["turn"].Events
	b.Len(events, 5)
	return events
}

func eventText(e sdktrace.Event) string {
	var out strings.Builder
	for _, a := range e.Attributes {
		out.WriteString(string(a.Key) + "=" + a.Value.String() + "\n")
	}
	return out.String()
}

func TestTurnSpanHoldsKindsOfQuestionsAndAnswers(t *testing.T) {
	for _, content := range []bool{true, false} {
		b := setup(t, content)
		events := b.exchanged()
		question, answer, approval := eventText(events[0]), eventText(events[1]), eventText(events[3])
		b.Contains(question, "palaver.question.type=action_choice\n")
		b.Contains(question, "palaver.question.prompt=which_action\n")
		b.Contains(question, "palaver.question.options=2\n")
		b.Contains(answer, "palaver.answer.type=action_choice\n")
		b.Contains(answer, "palaver.answer.option=inquire\n")
		b.Contains(answer, "palaver.channel=api\n")
		b.Contains(approval, "palaver.answer.rejected=1\n")
		b.Contains(eventText(events[4]), "palaver.code="+chat.NoticeWebDropped)
		all := ""
		for _, e := range events {
			all += eventText(e)
		}
		if content {
			b.Contains(question, "Secret label")
			b.Contains(approval, "secret reason of a person")
		} else {
			b.NotContains(strings.ToLower(all), "secret")
			b.NotContains(all, "content")
		}
	}
}

func TestTextsInSpansAreBounded(t *testing.T) {
	b := setup(t, true)
	long := strings.Repeat("é", maxContent) // two bytes each
	var prompt []llm.Message
	for range 200 {
		prompt = append(prompt, llm.Message{Role: llm.User, Text: long, Calls: []llm.ToolCall{{Name: "look", Arguments: long}}})
	}
	prompt = append(prompt, llm.Message{Role: llm.User, Text: "the last message"})
	model := Model(fakeModel{}, b.traces, nil)
	must.Have(model.Stream(t.Context(), llm.Request{Messages: prompt}, func(string) error { return nil }))(b.t)
	var many []llm.Message
	for range 200 {
		many = append(many, llm.Message{Role: llm.User, Text: "short"})
	}
	must.Have(model.Stream(t.Context(), llm.Request{Task: llm.TaskCompare, Messages: many}, func(string) error { return nil }))(b.t)
	spans := b.finished()
	written := attributes(spans["chat small"])
	b.Less(len(written), 3*maxPrompt)
	b.Contains(written, "the last message")
	b.Contains(written, "palaver.input_messages=201\n")
	b.NotContains(attributes(spans["chat large"]), "gen_ai.prompt.40.", "more attributes than OpenTelemetry keeps")
	for _, s := range spans {
		b.Zero(s.DroppedAttributes)
		b.Contains(attributes(s), "gen_ai.usage.output_tokens=4\n")
	}

	b.NoError(b.run("Decide", func(context.Context, activities.DecideRequest) (activities.DecideResult, error) {
		return activities.DecideResult{}, nil
	}, activities.DecideRequest{TurnRef: b.ref, Value: chat.ResumeValue{Type: chat.ToolApproval, Value: &long}}))
	for _, a := range b.finished()["decide"].Attributes {
		b.LessOrEqual(len(a.Value.String()), maxContent+len(" …"), a.Key)
	}
}

// A new field of TurnRef must not appear among a node's inputs.
func TestInputsOfNodesLeaveOutTheTurnsOwnFields(t *testing.T) {
	require.Len(t, refFields, reflect.TypeFor[activities.TurnRef]().NumField())
	require.NotContains(t, refFields, "")
	require.JSONEq(t, `{"docs":["d"]}`, string(withoutRef([]byte(`{"owner":"ann","thread":"t","turn":"x","unsaved":{"client":"c"},"docs":["d"]}`))))
}

func TestEveryNodesResultHasAttributes(t *testing.T) {
	for _, result := range []any{
		activities.BeginResult{Agent: "assistant"}, documents.Intent{}, &documents.Intent{}, documents.Docs{}, &documents.Docs{}, documents.RetrieveResult{},
		documents.WebResult{}, activities.ModelResult{Calls: []activities.RequestedCall{{CallRef: chat.CallRef{Name: "look"}}}},
		activities.CallResult{}, activities.DecideResult{}, documents.ReadAnswerResult{}, flow.Plan{},
	} {
		require.NotEmpty(t, decided(result), "%T", result)
	}
	require.Contains(t, decided(activities.ModelResult{Calls: []activities.RequestedCall{{CallRef: chat.CallRef{Name: "look"}}}}),
		attribute.StringSlice("palaver.tool_calls.names", []string{"look"}))
	require.Empty(t, decided(nil))
	require.Empty(t, decided((*documents.Intent)(nil)), "rules left it open")
}
