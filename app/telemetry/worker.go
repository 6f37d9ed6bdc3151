package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
)

// Worker traces and counts activities.
func Worker(t *Traces, n *Metrics) interceptor.WorkerInterceptor {
	return &workerInterceptor{traces: t, metrics: n}
}

type workerInterceptor struct {
	interceptor.WorkerInterceptorBase
	traces  *Traces
	metrics *Metrics
}

func (w *workerInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityInterceptor{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, worker: w}
}

type activityInterceptor struct {
	interceptor.ActivityInboundInterceptorBase
	worker *workerInterceptor
}

func (a *activityInterceptor) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (_ any, err error) {
	began := time.Now()
	defer func() { a.worker.metrics.activity(activity.GetInfo(ctx).ActivityType.Name, time.Since(began), err) }()
	var of interface{ Ref() activities.TurnRef }
	if len(in.Args) > 0 {
		of, _ = in.Args[0].(interface{ Ref() activities.TurnRef })
	}
	if of == nil {
		return a.Next.ExecuteActivity(ctx, in)
	}
	w, ref, info := a.worker, of.Ref(), activity.GetInfo(ctx)
	span := trace.SpanFromContext(context.Background())
	if w.traces != nil {
		ctx, span = w.traces.tracer.Start(withTurnSpan(ctx, ref), nodeName(info.ActivityType.Name, in.Args), trace.WithAttributes(
			append(about(ref), kind(kindChain),
				attribute.Int("palaver.attempt", int(info.Attempt)),
				attribute.String("palaver.activity", info.ActivityType.Name))...))
		span.SetAttributes(asked(in.Args)...)
		if w.traces.content {
			nodeInput(span, in.Args)
		}
	}
	result, err := a.Next.ExecuteActivity(ctx, in)
	if w.traces != nil && err == nil {
		span.SetAttributes(decided(result)...)
		if w.traces.content {
			nodeOutput(span, result)
		}
	}
	if err != nil && !temporal.IsCanceledError(err) && errorType(err) != activities.ErrTypeStopped {
		ended(span, err)
	}
	span.End()
	if err != nil {
		return result, err
	}
	if info.ActivityType.Name == "BeginTurn" {
		w.metrics.began(ref.TurnID, time.Now())
	}
	if web, is := result.(documents.WebResult); is {
		w.metrics.used(llm.WebSearch, web.Usage)
	}
	return result, nil
}

// nodes maps activities to the names of a turn's steps.
var nodes = map[string]string{
	"InferIntent": string(chat.NodeIntent),
	"InferDocs":   string(chat.NodeDocs),
	"SearchWeb":   string(chat.NodeWebSearch),
	"Think":       string(chat.NodeModel),
	"Discuss":     string(chat.NodeModel),
	"CallTool":    string(chat.NodeTool),
	"Settle":      string(chat.NodeFormat),
}

func nodeName(activityType string, args []any) string {
	for _, arg := range args {
		if r, is := arg.(documents.WriteRequest); is {
			return string(r.Action)
		}
	}
	if name, ok := nodes[activityType]; ok {
		return name
	}
	return strings.ToLower(activityType)
}

// Settled returns a function for each turn that the process has settled. It counts the
// turn, logs its line and writes its own span, the parent of all others. If traces include
// content, it reads the turn's texts from store.
func Settled(t *Traces, n *Metrics, store db.Store, log *slog.Logger) func(context.Context, activities.Ending) {
	return (&settledTurns{traces: t, metrics: n, store: store, log: log}).report
}

type settledTurns struct {
	traces  *Traces
	metrics *Metrics
	store   db.Store
	log     *slog.Logger
}

func (w *settledTurns) report(ctx context.Context, e activities.Ending) {
	now := time.Now()
	w.metrics.settled(e, now)
	line := []any{"thread", e.ThreadID, "turn", e.TurnID, "request_id", e.RequestID, "status", e.Status,
		"tokens_in", e.Usage.TokensIn, "tokens_out", e.Usage.TokensOut, "model_calls", e.Usage.Calls}
	if why := e.Code + string(e.Reason); why != "" {
		line = append(line, "code", why)
	}
	if at, ok := createdAt(e.TurnID); ok {
		line = append(line, "took", max(0, now.Sub(at)))
	}
	w.log.Info("turn settled", line...)
	if w.traces == nil {
		return
	}
	start, ok := createdAt(e.TurnID)
	if !ok || start.After(now) {
		start = now
	}
	_, span := w.traces.tracer.Start(context.WithValue(ctx, turnKey{}, e.TurnID), "turn",
		trace.WithNewRoot(), trace.WithTimestamp(start), trace.WithAttributes(append(about(e.TurnRef),
			kind(kindChain),
			attribute.String("langsmith.trace.name", "turn"),
			attribute.String("gen_ai.operation.name", "invoke_agent"),
			attribute.String("user.id", e.Owner),
			attribute.String("palaver.status", string(e.Status)),
			attribute.String("palaver.reason", string(e.Reason)),
			attribute.String("palaver.action", string(e.Action)),
			attribute.Int("gen_ai.usage.input_tokens", e.Usage.TokensIn),
			attribute.Int("gen_ai.usage.output_tokens", e.Usage.TokensOut),
			attribute.Float64("palaver.cost_usd", e.Usage.CostUSD),
		)...))
	w.exchange(ctx, e, span)
	if e.Status == chat.TurnFailed {
		span.SetAttributes(attribute.String("error.type", e.Code))
		span.SetStatus(codes.Error, e.Code)
	}
	if w.traces.content {
		w.conversation(ctx, e, span)
	}
	span.End()
}

// exchange adds the turn's questions, answers and notices as events of its span.
func (w *settledTurns) exchange(ctx context.Context, e activities.Ending, span trace.Span) {
	texts, questions := w.exchangeTexts(ctx, e), map[string]chat.Question{}
	for _, entry := range e.Log {
		var about []attribute.KeyValue
		switch {
		case entry.Type == chat.EventNotice:
			about = []attribute.KeyValue{attribute.String("palaver.code", entry.Code)}
		case entry.Type == chat.EventInterrupt && entry.Question != nil:
			questions[entry.Question.ID] = *entry.Question
			about = questionAttributes(*entry.Question)
		case entry.Type == chat.EventResumed && entry.Resume != nil:
			about = slices.Concat(
				[]attribute.KeyValue{attribute.String("palaver.question.id", entry.Answers), attribute.String("palaver.channel", string(entry.Channel))},
				answerAttributes(*entry.Resume), chosen(questions[entry.Answers], *entry.Resume))
		case entry.Type != chat.EventInterrupt && entry.Type != chat.EventResumed:
			continue
		}
		span.AddEvent(string(entry.Type), trace.WithTimestamp(entry.At), trace.WithAttributes(append(about, texts[entry.N]...)...))
	}
}

// exchangeTexts returns the texts of questions and answers, by the numbers of their
// entries. It returns nil when traces have no content, or when the texts cannot be read.
func (w *settledTurns) exchangeTexts(ctx context.Context, e activities.Ending) map[int][]attribute.KeyValue {
	first := slices.IndexFunc(e.Log, func(entry chat.Entry) bool {
		return entry.Type == chat.EventInterrupt || entry.Type == chat.EventResumed
	})
	if !w.traces.content || first < 0 {
		return nil
	}
	events, err := w.store.Events(ctx, e.Owner, e.TurnID, e.Log[first].N-1)
	if err != nil {
		return nil
	}
	texts := map[int][]attribute.KeyValue{}
	for _, event := range events {
		if event.Interrupt != nil {
			texts[event.N] = append(texts[event.N], jsonText("palaver.question.content", event.Interrupt)...)
		}
		if event.Resume != nil {
			texts[event.N] = append(texts[event.N], jsonText("palaver.answer.content", event.Resume)...)
		}
	}
	return texts
}

func jsonText(key string, value any) []attribute.KeyValue {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return []attribute.KeyValue{attribute.String(key, shorten(string(raw)))}
}

// conversation adds the turn's message and answer to the span. It leaves out what cannot be
// read from the database.
func (w *settledTurns) conversation(ctx context.Context, e activities.Ending, span trace.Span) {
	t, err := w.store.Turn(ctx, e.Owner, e.TurnID)
	if err != nil {
		return
	}
	span.SetAttributes(attribute.String("input.value", shorten(t.Content.Message)), attribute.String("gen_ai.prompt", shorten(t.Content.Message)))
	events, err := w.store.Events(ctx, e.Owner, e.TurnID, e.Kept+len(e.Log))
	if err != nil || len(events) == 0 {
		return
	}
	text := events[len(events)-1].Partial
	if r := events[len(events)-1].Response; r != nil {
		text = r.Text
	}
	span.SetAttributes(attribute.String("output.value", shorten(text)), attribute.String("gen_ai.completion", shorten(text)))
}
