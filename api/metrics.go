package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/palaver-chat/palaver/api/dialect/native"
	"github.com/palaver-chat/palaver/chat"
)

type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  *prometheus.GaugeVec
	turns    prometheus.Counter
	queries  prometheus.Counter
	waits    *prometheus.HistogramVec
	refusals *prometheus.CounterVec
}

func newMetrics(r *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		registry: r,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_http_requests_total", Help: "HTTP requests answered.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "palaver_http_request_seconds", Help: "Time to answer a request; for a stream, until it closes.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120},
		}, []string{"route"}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "palaver_open_streams", Help: "Event streams open now.",
		}, []string{"dialect"}),
		turns: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "palaver_turns_submitted_total", Help: "New turns that their threads have taken.",
		}),
		queries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "palaver_progress_queries_total", Help: "Queries to workflows for what the bus has not delivered of their turns.",
		}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "palaver_stream_wait_seconds",
			Help:    "Time from a message's arrival to what its stream shows: the first event, the first piece of text, the end (an answer, a question, a stop or a failure).",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"dialect", "agent", "until"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "palaver_refusals_total", Help: "Requests that a limit refused, by route and by the error's code.",
		}, []string{"route", "code"}),
	}
	m.streams.WithLabelValues(new(native.Wire).Name()).Set(0) // without the metric an autoscaler assumes that the process is fully loaded
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.streams, m.turns, m.queries, m.waits, m.refusals} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// countedThreads counts the followers' workflow queries.
type countedThreads struct {
	Threads
	queries prometheus.Counter
}

func (t countedThreads) Progress(ctx context.Context, threadID, turnID string, after int) (chat.Progress, error) {
	t.queries.Inc()
	return t.Threads.Progress(ctx, threadID, turnID, after)
}

func (m *metrics) serve(c *gin.Context) error {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(c.Writer, c.Request)
	return nil
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	switch method { // clients can send any method, and a metric must have few labels
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// timing measures how long one message's client waits. A nil *timing measures
// nothing.
type timing struct {
	m       *metrics
	dialect string
	agent   string
	began   time.Time
	event   bool
	text    bool
}

func (m *metrics) timing(dialect string, agent chat.Agent, began time.Time) *timing {
	return &timing{m: m, dialect: dialect, agent: string(agent), began: began}
}

func (t *timing) note(e chat.Event) {
	if t == nil {
		return
	}
	if !t.event {
		t.event = true
		t.observe("first_event")
	}
	switch {
	case (e.Type == chat.EventToken || e.Type == chat.EventText) && !t.text:
		t.text = true
		t.observe("first_token")
	case e.Type.Terminal() || e.Type == chat.EventInterrupt:
		t.observe("terminal")
	}
}

func (t *timing) observe(until string) {
	t.m.waits.WithLabelValues(t.dialect, t.agent, until).Observe(time.Since(t.began).Seconds())
}
