package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/testlog"
	"github.com/palaver-chat/palaver/tools"
)

type bundle struct {
	*require.Assertions
	t       *testing.T
	traces  *Traces
	spans   *tracetest.InMemoryExporter
	metrics *Metrics
	store   *settledStore
	log     bytes.Buffer
	ref     activities.TurnRef
}

func setup(t *testing.T, content bool) *bundle {
	b := &bundle{Assertions: require.New(t), t: t, spans: tracetest.NewInMemoryExporter(), store: &settledStore{}}
	var err error
	b.traces, err = newTraces(t.Context(), content, b.spans)
	b.NoError(err)
	t.Cleanup(b.traces.Close)
	b.metrics, err = NewMetrics(prometheus.NewRegistry())
	b.NoError(err)
	b.ref = activities.TurnRef{Owner: "ann", ThreadID: "thread-1", TurnID: uuid.Must(uuid.NewV7()).String(), RunID: "run-1"}
	return b
}

// finished returns the spans so far, by name.
func (b *bundle) finished() map[string]tracetest.SpanStub {
	b.NoError(b.traces.provider.ForceFlush(b.t.Context()))
	out := map[string]tracetest.SpanStub{}
	for _, s := range b.spans.GetSpans() {
		out[s.Name] = s
	}
	return out
}

// run runs one activity as a worker does.
func (b *bundle) run(name string, do any, args ...any) error {
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{Worker(b.traces, b.metrics)}})
	env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	_, err := env.ExecuteActivity(name, args...)
	return err
}

// settle runs Settle as a worker does, for a turn that was not settled before.
func (b *bundle) settle(e activities.Ending) {
	b.NoError(b.run("Settle", func(ctx context.Context, e activities.Ending) error {
		Settled(b.traces, b.metrics, b.store, slog.New(slog.NewJSONHandler(&b.log, nil)))(ctx, e)
		return nil
	}, e))
}

// settledStore has one settled turn.
type settledStore struct {
	db.Store
	events []chat.Event // before the response
}

func (*settledStore) Turn(context.Context, string, string) (chat.Turn, error) {
	return chat.Turn{Content: chat.Content{Message: "what is the rule?"}}, nil
}

func (s *settledStore) Events(_ context.Context, _, _ string, after int) ([]chat.Event, error) {
	var found []chat.Event
	for _, e := range s.events {
		if e.N > after {
			found = append(found, e)
		}
	}
	return append(found, chat.Event{Type: chat.EventResponse, Response: &chat.Response{Text: "the rule is this"}}), nil
}

type fakeModel struct{ err error }

func (fakeModel) Structured(context.Context, llm.Request, llm.Schema, any) (chat.Usage, error) {
	return chat.Usage{TokensIn: 3, TokensOut: 2, CostUSD: .5, Calls: 1}, nil
}

func (m fakeModel) Stream(_ context.Context, _ llm.Request, emit func(string) error) (llm.Reply, error) {
	if m.err != nil {
		return llm.Reply{}, m.err
	}
	return llm.Reply{Usage: chat.Usage{TokensIn: 7, TokensOut: 4, Calls: 1}}, emit("secret answer")
}
func (fakeModel) Embed(context.Context, []string) ([][]float32, error) {
	return nil, llm.ErrNoEmbeddings
}
func (fakeModel) Info() llm.Info {
	return llm.Info{Provider: "openai", Name: "small", NameStrong: "large"}
}

func attributes(s tracetest.SpanStub) string {
	var b strings.Builder
	for _, a := range s.Attributes {
		b.WriteString(string(a.Key) + "=" + a.Value.String() + "\n")
	}
	return b.String()
}

func TestTurnHasOneTraceAcrossProcesses(t *testing.T) {
	b := setup(t, true)
	ask := func(ctx context.Context, _ activities.TurnRef, _ activities.Stage, _ documents.WriteRequest) error {
		_, err := Model(fakeModel{}, b.traces, b.metrics).Stream(ctx, llm.Request{
			Task: llm.TaskCompare, Messages: []llm.Message{{Role: llm.User, Text: "secret question"}},
		}, func(string) error { return nil })
		return err
	}
	b.NoError(b.run("Write", ask, b.ref, activities.Stage{}, documents.WriteRequest{Action: chat.Compare}))
	other := setup(t, true) // another worker, after a crash or an answer
	other.ref = b.ref
	other.settle(activities.Ending{TurnRef: b.ref, Status: chat.TurnCompleted, Log: []chat.Entry{
		{N: 1, Type: chat.EventInterrupt, At: time.Now()}, {N: 2, Type: chat.EventResumed, At: time.Now()},
	}})

	first, second := b.finished(), other.finished()
	node, call, turn := first["compare"], first["chat large"], second["turn"]
	b.Equal(node.SpanContext.TraceID(), turn.SpanContext.TraceID())
	b.Equal(node.Parent.SpanID(), turn.SpanContext.SpanID(), "the parent of a node is the turn")
	b.Equal(call.Parent.SpanID(), node.SpanContext.SpanID())
	b.False(turn.Parent.SpanID().IsValid(), "the turn is the root")
	b.Len(turn.Events, 2)
	b.False(turn.StartTime.After(node.StartTime))
	b.Contains(attributes(turn), "gen_ai.conversation.id=thread-1")
	b.Contains(attributes(turn), "input.value=what is the rule?")
	b.Contains(attributes(turn), "output.value=the rule is this")
	b.Contains(attributes(call), "gen_ai.request.model=large")
	b.Contains(attributes(call), "gen_ai.prompt.0.content=secret question")
	b.Contains(attributes(call), "secret answer")
	b.Contains(attributes(call), "gen_ai.usage.input_tokens=7")
}

func TestSpanOfAnActivityHasTheNameOfItsStep(t *testing.T) {
	for activity, want := range map[string]string{
		"InferIntent": "intent_resolver", "InferDocs": "doc_resolver",
		"Think": "model", "Retrieve": "retrieve",
	} {
		b := setup(t, false)
		b.NoError(b.run(activity, func(context.Context, activities.TurnRef) error { return nil }, b.ref))
		b.Contains(b.finished(), want)
	}
}

func TestTracesHaveNoContentWhenItIsTurnedOff(t *testing.T) {
	b := setup(t, false)
	do := func(ctx context.Context, _ activities.TurnRef, _ activities.Stage, _ documents.WriteRequest) error {
		_, err := Model(fakeModel{}, b.traces, nil).Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "secret question"}}}, func(string) error { return nil })
		if err != nil {
			return err
		}
		box := Tools(source{}, b.traces, nil, nil)
		_, err = box.Tools(ctx, "ann")[0].Run(ctx, tools.Call{ID: "c1", Arguments: []byte(`{"q":"secret argument"}`)})
		return err
	}
	b.NoError(b.run("Write", do, b.ref, activities.Stage{}, documents.WriteRequest{Action: chat.Inquire}))
	b.settle(activities.Ending{TurnRef: b.ref, Status: chat.TurnCompleted})
	spans := b.finished()
	b.Len(spans, 5)
	for name, s := range spans {
		b.NotContains(attributes(s), "secret", name)
		b.NotContains(attributes(s), "the rule", name)
	}
}

type source struct{}

func (source) Tools(context.Context, string) []tools.Tool {
	return []tools.Tool{{Name: "look", Run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Content: "secret result"}, nil
	}}}
}

func TestFailedSpanHasTheErrorCodeButNoProviderText(t *testing.T) {
	b := setup(t, true)
	failing := fakeModel{err: &llm.Error{Code: chat.CodeModelRejected, Err: io.ErrUnexpectedEOF}}
	err := b.run("Write", func(ctx context.Context, _ activities.TurnRef, _ activities.Stage, _ documents.WriteRequest) error {
		_, err := Model(failing, b.traces, b.metrics).Stream(ctx, llm.Request{}, func(string) error { return nil })
		b.Error(err)
		return temporal.NewNonRetryableApplicationError("upstream said: secret", chat.CodeModelRejected, nil)
	}, b.ref, activities.Stage{}, documents.WriteRequest{Action: chat.Inquire})
	b.Error(err)
	for _, s := range b.finished() {
		b.Contains(attributes(s), "error.type="+chat.CodeModelRejected)
		b.NotContains(s.Status.Description, "secret")
	}
}

func TestMetricsCountCallsTokensToolsAndTurns(t *testing.T) {
	b := setup(t, false)
	m := Model(fakeModel{}, nil, b.metrics)
	must.Have(m.Stream(t.Context(), llm.Request{Task: llm.TaskInquire}, func(string) error { return nil }))(b.t)
	must.Have(m.Structured(t.Context(), llm.Request{Task: llm.TaskIntent}, llm.IntentSchema, nil))(b.t)
	must.Have(Tools(source{}, nil, b.metrics, nil).Tools(t.Context(), "ann")[0].Run(t.Context(), tools.Call{}))(b.t)
	b.NoError(b.run("BeginTurn", func(context.Context, activities.TurnRef) error { return nil }, b.ref))
	b.settle(activities.Ending{TurnRef: b.ref, Status: chat.TurnCancelled, Reason: chat.UserCancelled})
	b.InDelta(10, testutil.ToFloat64(b.metrics.tokens.WithLabelValues("small", "in")), 0)
	b.InDelta(6, testutil.ToFloat64(b.metrics.tokens.WithLabelValues("small", "out")), 0)
	b.InDelta(.5, testutil.ToFloat64(b.metrics.cost.WithLabelValues("small")), 0)
	b.InDelta(1, testutil.ToFloat64(b.metrics.turns.WithLabelValues("cancelled", "user_cancelled")), 0)
	b.Equal(1, testutil.CollectAndCount(b.metrics.firstToken))
	b.Equal(1, testutil.CollectAndCount(b.metrics.toolSeconds))
	b.Equal(1, testutil.CollectAndCount(b.metrics.waited))
}

// paid is a model of embeddings, a source with tools, and web search, each with its price.
type paid struct{ fakeModel }

func (paid) Embed(ctx context.Context, _ []string) ([][]float32, error) {
	llm.Meter(ctx, chat.Usage{TokensIn: 9, CostUSD: .25})
	return nil, nil
}

func (paid) Info() llm.Info { return llm.Info{Name: "small", Embedding: "vectors"} }

func (paid) Tools(context.Context, string) []tools.Tool {
	run := func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Usage: chat.Usage{TokensIn: 1, TokensOut: 1000, CostUSD: .125}}, nil
	}
	return []tools.Tool{{Name: "draw", Run: run}, {Name: "look", Run: run}}
}

// DAILY_COST_USD counts the same.
func TestMetricsCountTokensAndCostOfAllPaidCalls(t *testing.T) {
	b := setup(t, false)
	ctx, metered := llm.WithMeter(t.Context())
	must.Have(Model(paid{}, nil, b.metrics).Embed(ctx, []string{"a text"}))(b.t)
	b.Equal(9, metered.Usage().TokensIn, "the turn counts it, too")
	for _, tool := range Tools(paid{}, nil, b.metrics, map[string]string{"draw": "painter"}).Tools(t.Context(), "ann") {
		must.Have(tool.Run(t.Context(), tools.Call{}))(b.t)
	}
	b.NoError(b.run("SearchWeb", func(context.Context, activities.TurnRef) (documents.WebResult, error) {
		return documents.WebResult{Usage: chat.Usage{Searches: 1, CostUSD: .5}}, nil
	}, b.ref))
	for model, want := range map[string][3]float64{"vectors": {9, 0, .25}, "painter": {1, 1000, .125}, "look": {1, 1000, .125}, llm.WebSearch: {0, 0, .5}} {
		b.InDelta(want[0], testutil.ToFloat64(b.metrics.tokens.WithLabelValues(model, "in")), 0, model)
		b.InDelta(want[1], testutil.ToFloat64(b.metrics.tokens.WithLabelValues(model, "out")), 0, model)
		b.InDelta(want[2], testutil.ToFloat64(b.metrics.cost.WithLabelValues(model)), 0, model)
	}
	b.Equal(4, testutil.CollectAndCount(b.metrics.cost), "and nothing twice")
}

func TestModelErrorsAreCountedByKind(t *testing.T) {
	for kind, err := range map[string]error{
		"":             context.Canceled,
		"rate_limited": &llm.Error{Code: chat.CodeModelUnavailable, Status: http.StatusTooManyRequests},
		"server_error": &llm.Error{Code: chat.CodeModelUnavailable, Status: http.StatusBadGateway},
		"timeout":      &llm.Error{Code: chat.CodeModelTimeout},
		"rejected":     &llm.Error{Code: chat.CodeModelRejected, Status: http.StatusUnauthorized},
		"unavailable":  &llm.Error{Code: chat.CodeModelUnavailable},
		"unparseable":  fmt.Errorf("answer: %w", llm.ErrUnparseable),
	} {
		require.Equal(t, kind, modelErrorKind(err))
	}
	require.Empty(t, modelErrorKind(nil))
	b := setup(t, false)
	m := Model(fakeModel{&llm.Error{Code: chat.CodeModelUnavailable, Status: http.StatusTooManyRequests, Err: errors.New("slow down")}}, nil, b.metrics)
	_, err := m.Stream(t.Context(), llm.Request{Task: llm.TaskInquire}, func(string) error { return nil })
	b.Error(err)
	b.InDelta(1, testutil.ToFloat64(b.metrics.modelErrors.WithLabelValues("small", "rate_limited")), 0)
}

func TestMetricsOfTemporalsSDKAreExportedWhateverTheirTags(t *testing.T) {
	r := prometheus.NewRegistry()
	handler := Temporal(r)
	handler.WithTags(map[string]string{"operation": "Poll", "namespace": "left out"}).Counter("temporal_request").Inc(2)
	handler.WithTags(map[string]string{"operation": "Poll"}).WithTags(map[string]string{"status_code": "Internal"}).Counter("temporal_request").Inc(1)
	handler.Gauge("temporal_num_pollers").Update(7)
	handler.Timer("temporal_request_latency").Record(time.Second)
	found := must.Have(r.Gather())(t)
	got := map[string]int{}
	for _, f := range found {
		got[f.GetName()] = len(f.GetMetric())
	}
	require.Equal(t, map[string]int{"temporal_request_total": 2, "temporal_num_pollers": 1, "temporal_request_latency_seconds": 1}, got)
}

func TestStateIsReadOnceForSeveralScrapersAndLeavesOutFailedReads(t *testing.T) {
	r := prometheus.NewRegistry()
	asked := 0
	require.NoError(t, ObserveState(r, State{
		OpenTurns: func(context.Context) ([]db.OpenTurnCount, error) {
			asked++
			return []db.OpenTurnCount{{Status: chat.TurnRunning, Number: 3, Oldest: time.Now().Add(-time.Hour)}}, nil
		},
		Pool:      func() db.Pool { return db.Pool{Used: 1, Idle: 2, Max: 10, Waits: 4, Waited: time.Second} },
		Connected: func() bool { return false },
		Backlog:   func(context.Context) ([]Backlog, error) { return nil, errors.New("no Temporal") },
		Log:       slog.New(slog.DiscardHandler),
	}))
	for range 2 {
		found := must.Have(r.Gather())(t)
		values := map[string]float64{}
		for _, f := range found {
			for _, m := range f.GetMetric() {
				values[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		require.InDelta(t, 3, values["palaver_open_turns"], 0)
		require.GreaterOrEqual(t, values["palaver_open_turn_age_seconds"], 3600.0)
		require.Contains(t, values, "palaver_bus_connected")
		require.InDelta(t, 0, values["palaver_bus_connected"], 0)
		require.InDelta(t, 4, values["palaver_database_waits_total"], 0)
		require.NotContains(t, values, "palaver_task_pollers")
	}
	require.Equal(t, 1, asked)
}

// Alerts take a missing series for a database that does not answer.
func TestOpenTurnsAreMissingWhenTheyCannotBeCounted(t *testing.T) {
	count := func(err error) map[string]float64 {
		r := prometheus.NewRegistry()
		require.NoError(t, ObserveState(r, State{OpenTurns: func(context.Context) ([]db.OpenTurnCount, error) { return nil, err }, Log: slog.New(slog.DiscardHandler)}))
		found := must.Have(r.Gather())(t)
		values := map[string]float64{}
		for _, f := range found {
			for _, m := range f.GetMetric() {
				values[f.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
		return values
	}
	require.Equal(t, map[string]float64{
		"palaver_open_turns accepted": 0, "palaver_open_turns running": 0, "palaver_open_turns interrupted": 0,
		"palaver_open_turn_age_seconds accepted": 0, "palaver_open_turn_age_seconds running": 0, "palaver_open_turn_age_seconds interrupted": 0,
	}, count(nil))
	require.Empty(t, count(db.ErrUnavailable))
}

// LangSmith tracing enabled and disabled, and an API that fails.
func TestLangSmithGetsTracesWhenAllFourVariablesAreSet(t *testing.T) {
	noOTLP(t)
	got := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer server.Close()
	traces, err := NewTraces(t.Context(), Settings{
		LangSmithTracing: true, LangSmithEndpoint: server.URL + "/api/v1", LangSmithAPIKey: "lsv2_pt_key", LangSmithProject: "palaver",
	}, slog.Default())
	require.NoError(t, err)
	_, span := traces.tracer.Start(t.Context(), "turn")
	span.End()
	traces.Close()
	r := <-got
	require.Equal(t, "/api/v1/otel/v1/traces", r.URL.Path)
	require.Equal(t, "lsv2_pt_key", r.Header.Get("X-Api-Key"))
	require.Equal(t, "palaver", r.Header.Get("Langsmith-Project"))
}

func TestWithoutSettingsThereAreNoTracesCallsOrLogLines(t *testing.T) {
	noOTLP(t)
	for name, s := range map[string]Settings{
		"nothing":      {},
		"off":          {LangSmithEndpoint: "http://127.0.0.1:1", LangSmithAPIKey: "k", LangSmithProject: "p"},
		"no key":       {LangSmithTracing: true, LangSmithEndpoint: "http://127.0.0.1:1", LangSmithProject: "p"},
		"no endpoint":  {LangSmithTracing: true, LangSmithAPIKey: "k", LangSmithProject: "p"},
		"no project":   {LangSmithTracing: true, LangSmithEndpoint: "http://127.0.0.1:1", LangSmithAPIKey: "k"},
		"content only": {Content: true},
	} {
		var said strings.Builder
		traces, err := NewTraces(t.Context(), s, slog.New(slog.NewTextHandler(&said, nil)))
		require.NoError(t, err, name)
		require.Nil(t, traces, name)
		require.Empty(t, said.String(), name)
		traces.Close()
		require.Equal(t, source{}.Tools(t.Context(), "")[0].Name, Tools(source{}, traces, nil, nil).Tools(t.Context(), "")[0].Name, name)
	}
}

func TestFailingTraceExporterLogsOnceAndDoesNotBlock(t *testing.T) {
	noOTLP(t)
	var said testlog.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	traces, err := NewTraces(t.Context(), Settings{
		LangSmithTracing: true, LangSmithEndpoint: server.URL, LangSmithAPIKey: "k", LangSmithProject: "p",
	}, slog.New(slog.NewTextHandler(&said, nil)))
	require.NoError(t, err)
	for range 3 {
		_, span := traces.tracer.Start(t.Context(), "turn")
		span.End()
		_ = traces.provider.ForceFlush(t.Context())
	}
	traces.Close()
	require.Equal(t, 1, strings.Count(said.String(), "exporting traces failed"))
}

func TestTraceIDsOfATurnAreDeterministic(t *testing.T) {
	id := uuid.Must(uuid.NewV7()).String()
	require.Equal(t, traceOf(id), traceOf(id))
	require.Equal(t, spanOf(id), spanOf(id))
	require.True(t, traceOf("no uuid").IsValid())
	require.Equal(t, trace.TraceID(uuid.MustParse(id)), traceOf(id))
	at, ok := createdAt(id)
	require.True(t, ok)
	require.WithinDuration(t, time.Now(), at, time.Minute)
}

func noOTLP(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
}
