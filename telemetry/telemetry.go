// Package telemetry shows what turns do: OpenTelemetry traces (one per turn,
// whatever happened to it) and Prometheus metrics of the worker. It wraps what
// activities use and knows their arguments; they know nothing of it. Without
// settings there is no trace, no network call and no word about it.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Settings say where traces go.
type Settings struct {
	// LangSmith by its four variables. Traces go there when tracing is on and
	// none of the others is missing; else nothing is said or done.
	LangSmithTracing  bool
	LangSmithEndpoint string
	LangSmithAPIKey   string
	LangSmithProject  string
	// Content: spans carry what people, models, documents and tools wrote
	// (TRACE_CONTENT).
	Content bool
}

// langSmith reports whether traces go there.
func (s Settings) langSmith() bool {
	return s.LangSmithTracing && s.LangSmithEndpoint != "" && s.LangSmithAPIKey != "" && s.LangSmithProject != ""
}

// otlp reports whether OpenTelemetry's own variables name a place for traces.
func otlp() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(os.Getenv("OTEL_TRACES_EXPORTER"), "none") {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")+os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Traces makes spans. A nil *Traces makes none and wraps nothing.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	content  bool
}

const (
	tracerName     = "github.com/palaver-chat/palaver"
	exportPatience = 10 * time.Second
	closePatience  = 3 * time.Second
	// A place that does not answer is complained of this often.
	complainEvery = time.Minute
)

// NewTraces connects to nothing yet: spans are sent in batches, in the
// background, and dropped when they cannot be. nil when no place is named.
func NewTraces(ctx context.Context, s Settings, log *slog.Logger) (*Traces, error) {
	var to []sdktrace.SpanExporter
	if otlp() {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithTimeout(exportPatience))
		if err != nil {
			return nil, fmt.Errorf("export traces by OTLP: %w", err)
		}
		to = append(to, exporter)
	}
	if s.langSmith() {
		exporter, err := langSmith(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("export traces to LangSmith: %w", err)
		}
		to = append(to, exporter)
	}
	if len(to) == 0 {
		return nil, nil
	}
	for i := range to {
		to[i] = &patient{SpanExporter: to[i], every: newEvery(complainEvery), log: log}
	}
	return newTraces(ctx, s.Content, to...)
}

func newTraces(ctx context.Context, content bool, to ...sdktrace.SpanExporter) (*Traces, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "palaver")),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv()) // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win
	if err != nil {
		return nil, fmt.Errorf("describe this process to traces: %w", err)
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithIDGenerator(turnIDs{})}
	for _, exporter := range to {
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	p := sdktrace.NewTracerProvider(options...)
	return &Traces{provider: p, tracer: p.Tracer(tracerName), content: content}, nil
}

// langSmith sends to LangSmith's OTLP endpoint; LANGSMITH_ENDPOINT is the API's
// address, also of a self-hosted one.
func langSmith(ctx context.Context, s Settings) (sdktrace.SpanExporter, error) {
	u, err := url.Parse(s.LangSmithEndpoint)
	if err != nil {
		return nil, err
	}
	return otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(u.JoinPath("otel", "v1", "traces").String()),
		otlptracehttp.WithHeaders(map[string]string{"x-api-key": s.LangSmithAPIKey, "Langsmith-Project": s.LangSmithProject}),
		otlptracehttp.WithTimeout(exportPatience))
}

// Close sends what is left, for a few seconds at most.
func (t *Traces) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what could not be sent was complained of
}

// patient is an exporter whose failures are logged now and then, and are
// nobody's business otherwise.
type patient struct {
	sdktrace.SpanExporter
	every *every
	log   *slog.Logger
}

func (p *patient) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := p.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && p.every.due(time.Now()) {
		p.log.Warn("traces cannot be sent; turns go on without", "error", err)
	}
	return nil
}
