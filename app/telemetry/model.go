package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Model wraps a model so that its calls are traced and counted. t and n may be nil.
func Model(m llm.Model, t *Traces, n *Metrics) llm.Model {
	return &model{Model: m, traces: t, metrics: n}
}

type model struct {
	llm.Model // Info passes through
	traces    *Traces
	metrics   *Metrics
}

// Unwrap returns the wrapped model, for a provider's features beyond llm.Model.
func (m *model) Unwrap() llm.Model { return m.Model }

func (m *model) name(r llm.Request) string { return m.Info().Of(r) }

func (m *model) Structured(ctx context.Context, r llm.Request, schema llm.Schema, out any) (chat.Usage, error) {
	ctx, c := m.begin(ctx, r, "json")
	c.span.SetAttributes(attribute.String("palaver.schema", schema.Name))
	usage, err := m.Model.Structured(ctx, r, schema, out)
	c.end(llm.Message{Role: llm.Assistant, Text: c.structured(out, err)}, usage, err)
	return usage, err
}

func (m *model) Stream(ctx context.Context, r llm.Request, emit func(string) error) (llm.Reply, error) {
	ctx, c := m.begin(ctx, r, "text")
	var text strings.Builder
	reply, err := m.Model.Stream(ctx, r, func(delta string) error {
		c.token()
		c.written += len(delta)
		if c.content && text.Len() < maxContent {
			text.WriteString(delta)
		}
		return emit(delta)
	})
	c.end(llm.Message{Role: llm.Assistant, Text: text.String(), Calls: reply.Calls}, reply.Usage, err)
	return reply, err
}

// Embed counts tokens and cost, also for the meter of ctx.
func (m *model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	counting, metered := llm.WithMeter(ctx)
	vectors, err := m.Model.Embed(counting, texts)
	llm.Meter(ctx, metered.Usage())
	m.metrics.used(m.Info().Embedding, metered.Usage())
	return vectors, err
}

// call is a running model call.
type call struct {
	m       *model
	task    llm.Task
	name    string
	span    trace.Span
	content bool
	began   time.Time
	first   time.Duration
	written int // bytes of the answer
}

func (m *model) begin(ctx context.Context, r llm.Request, output string) (context.Context, *call) {
	c := &call{m: m, task: r.Task, name: m.name(r), began: time.Now(), span: trace.SpanFromContext(context.Background())}
	if m.traces == nil {
		return ctx, c
	}
	c.content = m.traces.content
	info := m.Info()
	ctx, c.span = m.traces.tracer.Start(ctx, "chat "+c.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		kind(kindModel),
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", info.Provider),
		attribute.String("gen_ai.system", info.Provider),
		attribute.String("gen_ai.request.model", c.name),
		attribute.Float64("gen_ai.request.temperature", float64(r.Temperature)),
		attribute.Int("gen_ai.request.max_tokens", r.MaxTokens),
		attribute.String("gen_ai.output.type", output),
		attribute.String("palaver.task", string(r.Task)),
	))
	c.span.SetAttributes(messageSizes(r.Messages)...)
	if c.content {
		c.span.SetAttributes(messageAttributes("gen_ai.input.messages", "gen_ai.prompt", r.Messages)...)
	}
	return ctx, c
}

// structured returns the answer that was decoded into out, for traces.
func (c *call) structured(out any, err error) string {
	if err != nil || c.m.traces == nil {
		return ""
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return ""
	}
	c.written = len(raw)
	return string(raw)
}

// token records the time of the first token.
func (c *call) token() {
	if c.first == 0 {
		c.first = time.Since(c.began)
		c.span.AddEvent("first token")
	}
}

func (c *call) end(answer llm.Message, usage chat.Usage, err error) {
	c.m.metrics.modelCall(c.task, c.name, time.Since(c.began), c.first, usage, err)
	c.span.SetAttributes(
		attribute.String("gen_ai.response.model", c.name),
		attribute.Int("gen_ai.usage.input_tokens", usage.TokensIn),
		attribute.Int("gen_ai.usage.output_tokens", usage.TokensOut),
		attribute.Float64("palaver.cost_usd", usage.CostUSD),
		attribute.Int("palaver.output_bytes", c.written),
		attribute.Int("palaver.tool_calls", len(answer.Calls)),
	)
	switch {
	case err == nil && len(answer.Calls) > 0:
		c.span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{"tool_calls"}))
	case err == nil:
		c.span.SetAttributes(attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}))
	}
	if c.content && (answer.Text != "" || len(answer.Calls) > 0) {
		c.span.SetAttributes(messageAttributes("gen_ai.output.messages", "gen_ai.completion", []llm.Message{answer})...)
	}
	if !errors.Is(err, context.Canceled) { // a stopped turn is not a failure
		ended(c.span, err)
	}
	c.span.End()
}
