package telemetry

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/palaver-chat/palaver/tools"
)

// Tools wraps a source so that the calls of its tools are traced and counted. models names
// the model whose usage a tool reports; that of other tools is counted under their own name.
func Tools(s tools.Source, t *Traces, n *Metrics, models map[string]string) tools.Source {
	return &toolSource{Source: s, traces: t, metrics: n, models: models}
}

type toolSource struct {
	tools.Source
	traces  *Traces
	metrics *Metrics
	models  map[string]string
}

func (s *toolSource) Tools(ctx context.Context, owner string) []tools.Tool {
	list := s.Source.Tools(ctx, owner)
	out := make([]tools.Tool, len(list))
	for i, tool := range list {
		out[i] = tool
		out[i].Run = s.run(tool)
	}
	return out
}

func (s *toolSource) run(tool tools.Tool) func(context.Context, tools.Call) (tools.Result, error) {
	return func(ctx context.Context, c tools.Call) (tools.Result, error) {
		span := trace.SpanFromContext(context.Background())
		if s.traces != nil {
			ctx, span = s.traces.tracer.Start(ctx, "execute_tool "+tool.Name, trace.WithAttributes(
				kind(kindTool),
				attribute.String("gen_ai.operation.name", "execute_tool"),
				attribute.String("gen_ai.tool.name", tool.Name),
				attribute.String("gen_ai.tool.call.id", c.ID),
				attribute.String("gen_ai.tool.type", "function"),
				attribute.Int("palaver.input_bytes", len(c.Arguments)),
			))
		}
		defer span.End()
		began := time.Now()
		result, err := tool.Run(ctx, c)
		s.metrics.toolCall(tool.Name, time.Since(began), result.IsError, err)
		s.metrics.used(cmp.Or(s.models[tool.Name], tool.Name), result.Usage)
		span.SetAttributes(
			attribute.Bool("palaver.tool_error", result.IsError),
			attribute.Int("palaver.output_bytes", len(result.Content)),
			attribute.Int("palaver.passages", len(result.ChunkIDs)),
		)
		if s.traces != nil && s.traces.content {
			arguments, output := shorten(string(c.Arguments)), shorten(result.Content)
			span.SetAttributes(
				attribute.String("gen_ai.tool.call.arguments", arguments), attribute.String("input.value", arguments),
				attribute.String("gen_ai.tool.call.result", output), attribute.String("output.value", output),
			)
		}
		ended(span, err)
		return result, err
	}
}
