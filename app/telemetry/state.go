package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// State has the functions that a process calls when its metrics are read. If a function is
// nil or fails, its metrics are left out.
type State struct {
	OpenTurns func(context.Context) ([]db.OpenTurnCount, error)
	Pool      func() db.Pool
	Connected func() bool // the bus
	Backlog   func(context.Context) ([]Backlog, error)
	Log       *slog.Logger
}

// Backlog is the number and age of the tasks that wait in a task queue of Temporal.
type Backlog struct {
	Type    string // workflow, activity or ingest
	Tasks   int64
	Age     time.Duration // of the oldest task
	Pollers int
}

const (
	stateAge     = 10 * time.Second // state is cached, so that several scrapers cost as much as one
	stateTimeout = 2 * time.Second
)

type stateCollector struct {
	State
	mu      sync.Mutex
	read    time.Time
	turns   []db.OpenTurnCount
	backlog []Backlog
}

var (
	openTurnsDesc  = prometheus.NewDesc("palaver_open_turns", "Turns of all threads that have not ended, by status. Every process reports the same.", []string{"status"}, nil)
	oldestTurnDesc = prometheus.NewDesc("palaver_open_turn_age_seconds", "Age of the oldest open turn, by status.", []string{"status"}, nil)
	poolDesc       = prometheus.NewDesc("palaver_database_connections", "Connections of this process to the database, by state: used, idle, max.", []string{"state"}, nil)
	poolWaitsDesc  = prometheus.NewDesc("palaver_database_waits_total", "Times that a call waited for a connection.", nil, nil)
	poolWaitDesc   = prometheus.NewDesc("palaver_database_wait_seconds_total", "Time that calls waited for a connection.", nil, nil)
	busDesc        = prometheus.NewDesc("palaver_bus_connected", "1 while the message bus is connected.", nil, nil)
	backlogDesc    = prometheus.NewDesc("palaver_task_backlog", "Approximate number of tasks that wait in Temporal's queue. Every process reports the same.", []string{"type"}, nil)
	backlogAgeDesc = prometheus.NewDesc("palaver_task_backlog_age_seconds", "Age of the oldest task that waits in Temporal's queue.", []string{"type"}, nil)
	pollersDesc    = prometheus.NewDesc("palaver_task_pollers", "Workers that have polled Temporal's queue in the last minutes.", []string{"type"}, nil)
)

// ObserveState registers the metrics of s.
func ObserveState(r prometheus.Registerer, s State) error {
	return r.Register(&stateCollector{State: s})
}

func (c *stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{openTurnsDesc, oldestTurnDesc, poolDesc, poolWaitsDesc, poolWaitDesc, busDesc, backlogDesc, backlogAgeDesc, pollersDesc} {
		out <- d
	}
}

func (c *stateCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if c.Connected != nil {
		value := 0.0
		if c.Connected() {
			value = 1
		}
		gauge(busDesc, value)
	}
	if c.Pool != nil {
		p := c.Pool()
		gauge(poolDesc, float64(p.Used), "used")
		gauge(poolDesc, float64(p.Idle), "idle")
		gauge(poolDesc, float64(p.Max), "max")
		out <- prometheus.MustNewConstMetric(poolWaitsDesc, prometheus.CounterValue, float64(p.Waits))
		out <- prometheus.MustNewConstMetric(poolWaitDesc, prometheus.CounterValue, p.Waited.Seconds())
	}
	turns, backlog := c.remote()
	for _, t := range turns {
		age := 0.0
		if t.Number > 0 {
			age = max(0, time.Since(t.Oldest).Seconds())
		}
		gauge(openTurnsDesc, float64(t.Number), string(t.Status))
		gauge(oldestTurnDesc, age, string(t.Status))
	}
	for _, b := range backlog {
		gauge(backlogDesc, float64(b.Tasks), b.Type)
		gauge(backlogAgeDesc, b.Age.Seconds(), b.Type)
		gauge(pollersDesc, float64(b.Pollers), b.Type)
	}
}

// remote returns the state from the database and Temporal, at most stateAge old.
func (c *stateCollector) remote() ([]db.OpenTurnCount, []Backlog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read) < stateAge {
		return c.turns, c.backlog
	}
	ctx, cancel := context.WithTimeout(context.Background(), stateTimeout)
	defer cancel()
	c.turns, c.backlog = nil, nil
	var asking sync.WaitGroup
	asking.Go(func() { c.turns = ask(ctx, c.Log, "open turns", c.openTurns()) })
	asking.Go(func() { c.backlog = ask(ctx, c.Log, "task queue", c.Backlog) })
	asking.Wait()
	c.read = time.Now()
	return c.turns, c.backlog
}

// openTurns returns a function that reads the counts, with 0 for a status that no turn
// has: without a series, alerts take the database for unavailable.
func (c *stateCollector) openTurns() func(context.Context) ([]db.OpenTurnCount, error) {
	if c.OpenTurns == nil {
		return nil
	}
	return func(ctx context.Context) ([]db.OpenTurnCount, error) {
		found, err := c.OpenTurns(ctx)
		for _, status := range []chat.TurnStatus{chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted} {
			if !slices.ContainsFunc(found, func(t db.OpenTurnCount) bool { return t.Status == status }) {
				found = append(found, db.OpenTurnCount{Status: status})
			}
		}
		return found, err
	}
}

func ask[T any](ctx context.Context, log *slog.Logger, what string, f func(context.Context) ([]T, error)) []T {
	if f == nil {
		return nil
	}
	found, err := f(ctx)
	if err != nil {
		log.Debug("reading the state for metrics failed", "what", what, "error", err)
		return nil
	}
	return found
}
