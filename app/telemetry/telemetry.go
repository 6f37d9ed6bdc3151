// Package telemetry makes OpenTelemetry traces (one per turn, across processes) and
// Prometheus metrics of the worker. It wraps what activities use; activities do not
// depend on it. Without a configured endpoint it makes no traces and no network calls.
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
	// LangSmith's four variables. Traces are sent there when tracing is on and all others
	// are set.
	LangSmithTracing  bool
	LangSmithEndpoint string
	LangSmithAPIKey   string
	LangSmithProject  string
	// Content adds the texts of people, models, documents and tools to spans
	// (TRACE_CONTENT).
	Content bool
}

// langSmith reports whether traces are sent to LangSmith.
func (s Settings) langSmith() bool {
	return s.LangSmithTracing && s.LangSmithEndpoint != "" && s.LangSmithAPIKey != "" && s.LangSmithProject != ""
}

// otlp reports whether OpenTelemetry's own variables name a trace endpoint.
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
	tracerName    = "github.com/palaver-chat/palaver"
	exportTimeout = 10 * time.Second
	closeTimeout  = 3 * time.Second
	// How often failed exports are logged.
	warnInterval = time.Minute
)

// NewTraces returns Traces for the configured endpoints, or nil when there are none. It
// opens no connection: spans are sent in batches in the background, and dropped on failure.
func NewTraces(ctx context.Context, s Settings, log *slog.Logger) (*Traces, error) {
	var to []sdktrace.SpanExporter
	if otlp() {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithTimeout(exportTimeout))
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
		to[i] = &loggingExporter{SpanExporter: to[i], throttle: newThrottle(warnInterval), log: log}
	}
	return newTraces(ctx, s.Content, to...)
}

func newTraces(ctx context.Context, content bool, to ...sdktrace.SpanExporter) (*Traces, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "palaver")),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv()) // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence
	if err != nil {
		return nil, fmt.Errorf("make the OpenTelemetry resource: %w", err)
	}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithIDGenerator(turnIDs{})}
	for _, exporter := range to {
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	p := sdktrace.NewTracerProvider(options...)
	return &Traces{provider: p, tracer: p.Tracer(tracerName), content: content}, nil
}

// langSmith makes an exporter for LangSmith's OTLP endpoint; LANGSMITH_ENDPOINT is the
// address of the API, hosted or self-hosted.
func langSmith(ctx context.Context, s Settings) (sdktrace.SpanExporter, error) {
	u, err := url.Parse(s.LangSmithEndpoint)
	if err != nil {
		return nil, err
	}
	return otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(u.JoinPath("otel", "v1", "traces").String()),
		otlptracehttp.WithHeaders(map[string]string{"x-api-key": s.LangSmithAPIKey, "Langsmith-Project": s.LangSmithProject}),
		otlptracehttp.WithTimeout(exportTimeout))
}

// Close sends the remaining spans, for a few seconds at most.
func (t *Traces) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // failed exports were logged
}

// loggingExporter logs failures at most once per interval and hides them from the
// OpenTelemetry SDK.
type loggingExporter struct {
	sdktrace.SpanExporter
	throttle *throttle
	log      *slog.Logger
}

func (p *loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := p.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && p.throttle.due(time.Now()) {
		p.log.Warn("exporting traces failed; spans are dropped", "error", err)
	}
	return nil
}
