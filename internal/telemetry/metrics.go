package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/llm"
)

// Metrics are the worker's metrics. A nil *Metrics counts nothing.
type Metrics struct {
	modelSeconds *prometheus.HistogramVec
	firstToken   *prometheus.HistogramVec
	tokens       *prometheus.CounterVec
	cost         *prometheus.CounterVec
	toolSeconds  *prometheus.HistogramVec
	waited       prometheus.Histogram
	turns        *prometheus.CounterVec
	turnSeconds  *prometheus.HistogramVec
}

var (
	shortTimes = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	longTimes  = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 600}
)

// NewMetrics registers the worker's metrics.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		modelSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_model_call_seconds", Help: "Time of a model call, to its end.", Buckets: longTimes,
		}, []string{"task", "model", "outcome"}),
		firstToken: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_model_first_token_seconds", Help: "Time of a streamed model call to its first token.", Buckets: shortTimes,
		}, []string{"task", "model"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_tokens_total", Help: "Tokens read and written by models.",
		}, []string{"model", "direction"}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_cost_usd_total", Help: "Cost of model calls in US dollars, by list price.",
		}, []string{"model"}),
		toolSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_tool_call_seconds", Help: "Time of a tool call.", Buckets: longTimes,
		}, []string{"tool", "outcome"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "palaver_turn_queue_seconds", Help: "Time from a message's arrival to the beginning of its turn.", Buckets: longTimes,
		}),
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_turns_settled_total", Help: "Turns that ended, by outcome and its code or reason.",
		}, []string{"status", "code"}),
		turnSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_turn_seconds", Help: "Time from a message's arrival to its turn's end, people's time included.", Buckets: longTimes,
		}, []string{"status"}),
	}
	for _, c := range []prometheus.Collector{m.modelSeconds, m.firstToken, m.tokens, m.cost, m.toolSeconds, m.waited, m.turns, m.turnSeconds} {
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
	if first > 0 {
		m.firstToken.WithLabelValues(string(task), model).Observe(first.Seconds())
	}
	m.tokens.WithLabelValues(model, "in").Add(float64(usage.TokensIn))
	m.tokens.WithLabelValues(model, "out").Add(float64(usage.TokensOut))
	m.cost.WithLabelValues(model).Add(usage.CostUSD)
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

func (m *Metrics) settled(e activities.Ending, now time.Time) {
	if m == nil {
		return
	}
	m.turns.WithLabelValues(string(e.Status), e.Code+string(e.Reason)).Inc()
	if at, ok := createdAt(e.TurnID); ok {
		m.turnSeconds.WithLabelValues(string(e.Status)).Observe(max(0, now.Sub(at).Seconds()))
	}
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
