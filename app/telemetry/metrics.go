package telemetry

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Metrics are those of turns, models, tools and activities. A nil *Metrics counts nothing.
type Metrics struct {
	Ledger *Ledger // gets what models have used, too; may be nil

	modelSeconds *prometheus.HistogramVec
	firstToken   *prometheus.HistogramVec
	tokens       *prometheus.CounterVec
	cost         *prometheus.CounterVec
	toolSeconds  *prometheus.HistogramVec
	waited       prometheus.Histogram
	turns        *prometheus.CounterVec
	turnSeconds  *prometheus.HistogramVec
	activities   *prometheus.HistogramVec
	restarts     prometheus.Counter
	modelErrors  *prometheus.CounterVec
}

var (
	shortTimes = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	longTimes  = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 600}
)

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		modelSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_model_call_seconds", Help: "Time of a model call, to its end.", Buckets: longTimes,
		}, []string{"task", "model", "outcome"}),
		firstToken: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_model_first_token_seconds", Help: "Time of a streamed model call to its first token.", Buckets: shortTimes,
		}, []string{"task", "model"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_tokens_total", Help: "Tokens read and written by models, those of embeddings and pictures included.",
		}, []string{"model", "direction"}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_cost_usd_total", Help: "Cost of models, web searches and tools in US dollars, by list price.",
		}, []string{"model"}),
		toolSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_tool_call_seconds", Help: "Time of a tool call.", Buckets: longTimes,
		}, []string{"tool", "outcome"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "palaver_turn_queue_seconds", Help: "Time from a message's arrival to the beginning of its turn.", Buckets: longTimes,
		}),
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_turns_settled_total", Help: "Turns that this process has settled, by outcome and its code or reason.",
		}, []string{"status", "code"}),
		turnSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_turn_seconds", Help: "Time from a message's arrival to its turn's end, including the time that people took to answer.", Buckets: longTimes,
		}, []string{"status"}),
	}
	m.activities = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "palaver_activity_seconds", Help: "Time of an attempt of an activity, such as Ingest.", Buckets: longTimes,
	}, []string{"activity", "outcome"})
	m.restarts = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "palaver_answer_restarts_total", Help: "Answers that began again because a worker ended or was lost; stops and failed model calls do not count.",
	})
	m.modelErrors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "palaver_model_errors_total", Help: "Model calls that failed, by kind: rate_limited, server_error, timeout, rejected, unparseable, unavailable.",
	}, []string{"model", "kind"})
	for _, c := range []prometheus.Collector{m.activities, m.restarts, m.modelErrors, m.modelSeconds, m.firstToken, m.tokens, m.cost, m.toolSeconds, m.waited, m.turns, m.turnSeconds} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) modelCall(task llm.Task, model string, took, first time.Duration, usage chat.Usage, err error) {
	if m == nil {
		return
	}
	m.modelSeconds.WithLabelValues(string(task), model, outcome(false, err)).Observe(took.Seconds())
	if kind := modelErrorKind(err); kind != "" {
		m.modelErrors.WithLabelValues(model, kind).Inc()
	}
	if first > 0 {
		m.firstToken.WithLabelValues(string(task), model).Observe(first.Seconds())
	}
	m.used(model, usage)
}

// used counts what a model was paid for. In place of one, model names a web search or a
// tool.
func (m *Metrics) used(model string, usage chat.Usage) {
	if m == nil || usage == (chat.Usage{}) {
		return
	}
	m.tokens.WithLabelValues(model, "in").Add(float64(usage.TokensIn))
	m.tokens.WithLabelValues(model, "out").Add(float64(usage.TokensOut))
	m.cost.WithLabelValues(model).Add(usage.CostUSD)
	m.Ledger.add(model, usage)
}

func (m *Metrics) toolCall(tool string, took time.Duration, failed bool, err error) {
	if m != nil {
		m.toolSeconds.WithLabelValues(tool, outcome(failed, err)).Observe(took.Seconds())
	}
}

// began records how long a turn waited.
func (m *Metrics) began(turnID string, now time.Time) {
	if at, ok := createdAt(turnID); ok && m != nil {
		m.waited.Observe(max(0, now.Sub(at).Seconds()))
	}
}

// Restarted counts an answer that begins again.
func (m *Metrics) Restarted() {
	if m != nil {
		m.restarts.Inc()
	}
}

func (m *Metrics) settled(e activities.Ending, now time.Time) {
	if m == nil {
		return
	}
	m.turns.WithLabelValues(string(e.Status), e.Code+string(e.Reason)).Inc()
	if at, ok := createdAt(e.TurnID); ok {
		m.turnSeconds.WithLabelValues(string(e.Status)).Observe(max(0, now.Sub(at).Seconds()))
	}
}

func (m *Metrics) activity(name string, took time.Duration, err error) {
	if m != nil {
		m.activities.WithLabelValues(name, outcome(false, err)).Observe(took.Seconds())
	}
}

// modelErrorKind returns the kind of a model call's error for the metrics: "" if there is
// no error or the call was stopped.
func modelErrorKind(err error) string {
	var failed *llm.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, llm.ErrUnparseable):
		return "unparseable"
	case !errors.As(err, &failed):
		return "unavailable"
	case failed.Status == http.StatusTooManyRequests:
		return "rate_limited"
	case failed.Status >= http.StatusInternalServerError:
		return "server_error"
	case failed.Code == chat.CodeModelTimeout:
		return "timeout"
	case failed.Code == chat.CodeModelRejected:
		return "rejected"
	}
	return "unavailable"
}

func outcome(failed bool, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped"
	case err != nil:
		return errorType(err)
	case failed:
		return "error"
	}
	return "ok"
}
