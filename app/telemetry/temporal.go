package telemetry

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
)

// Temporal registers the metrics of Temporal's SDK with r, under the names that the SDK's
// documentation uses: counters end in _total, times in _seconds. The SDK's own adapters
// reject a metric whose tags differ from call to call, and the SDK has such metrics.
func Temporal(r prometheus.Registerer) client.MetricsHandler {
	return &temporalMetrics{registry: r, shared: &temporalVectors{counters: map[string]*prometheus.CounterVec{}, gauges: map[string]*prometheus.GaugeVec{}, times: map[string]*prometheus.HistogramVec{}}}
}

// temporalLabels are the tags that are kept. Others have one value per process, or one per
// worker that ever ran.
var temporalLabels = []string{"operation", "worker_type", "poller_type", "workflow_type", "activity_type", "task_queue", "status_code", "failure_reason"}

type temporalMetrics struct {
	registry prometheus.Registerer
	shared   *temporalVectors
	tags     map[string]string
}

type temporalVectors struct {
	mu       sync.Mutex
	counters map[string]*prometheus.CounterVec
	gauges   map[string]*prometheus.GaugeVec
	times    map[string]*prometheus.HistogramVec
}

func (t *temporalMetrics) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(t.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return &temporalMetrics{t.registry, t.shared, all}
}

func (t *temporalMetrics) Counter(name string) client.MetricsCounter {
	vec := vector(t, t.shared.counters, name+"_total", func(name string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: "Of Temporal's SDK."}, temporalLabels)
	})
	return temporalCounter{vec.WithLabelValues(t.values()...)}
}

func (t *temporalMetrics) Gauge(name string) client.MetricsGauge {
	vec := vector(t, t.shared.gauges, name, func(name string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "Of Temporal's SDK."}, temporalLabels)
	})
	return temporalGauge{vec.WithLabelValues(t.values()...)}
}

func (t *temporalMetrics) Timer(name string) client.MetricsTimer {
	vec := vector(t, t.shared.times, name+"_seconds", func(name string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: "Of Temporal's SDK.", Buckets: longTimes}, temporalLabels)
	})
	return temporalTimer{vec.WithLabelValues(t.values()...)}
}

func (t *temporalMetrics) values() []string {
	values := make([]string, len(temporalLabels))
	for i, label := range temporalLabels {
		values[i] = t.tags[label]
	}
	return values
}

// vector returns the metric with a name. It registers the metric at its first use.
func vector[V prometheus.Collector](t *temporalMetrics, known map[string]V, name string, make func(string) V) V {
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	if v, ok := known[name]; ok {
		return v
	}
	v := make(name)
	known[name] = v
	_ = t.registry.Register(v) // a metric whose name is taken is not exported
	return v
}

type (
	temporalCounter struct{ prometheus.Counter }
	temporalGauge   struct{ prometheus.Gauge }
	temporalTimer   struct{ prometheus.Observer }
)

func (c temporalCounter) Inc(n int64)          { c.Add(float64(n)) }
func (g temporalGauge) Update(v float64)       { g.Set(v) }
func (t temporalTimer) Record(d time.Duration) { t.Observe(d.Seconds()) }
