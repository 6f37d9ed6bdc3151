package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/internal/probe"
)

// probeTimeout limits /readyz of a worker.
const probeTimeout = 5 * time.Second

// serveWorker serves the metrics and the probes of a process that has no API.
func (p *Process) serveWorker() error {
	cfg := p.parts.Config
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.WorkerMetricsPort)))
	if err != nil {
		return &config.Error{Variable: "WORKER_METRICS_PORT", Problem: fmt.Sprintf("cannot listen on port %d: %v", cfg.WorkerMetricsPort, err)}
	}
	operators := guard.NewOperators(cfg.MetricsToken)
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", operators.Handler(promhttp.HandlerFor(p.metrics, promhttp.HandlerOpts{})))
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, map[string]any{"status": "ok"}) })
	routes.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { p.workerReady(w, r, operators) })
	p.http = &http.Server{Handler: cfg.Hosts().Handler(routes), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.http.Serve(l) }() // ends with Stop
	return nil
}

// workerReady answers GET /readyz of a worker like that of the API. Only operators see
// which parts are down.
func (p *Process) workerReady(w http.ResponseWriter, r *http.Request, operators *guard.Operators) {
	checks := p.checks()
	checks["database"] = p.parts.Store.Ping
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	parts, down, status, word := map[string]string{"stream": p.streamState(), "vectors": p.parts.Store.VectorSearch()}, []string{}, http.StatusOK, "ready"
	if parts["stream"] == "down" {
		down = append(down, "stream") // the worker stays ready: answers then arrive in larger steps
	}
	for part, err := range probe.Run(ctx, checks, p.parts.Log) {
		parts[part] = "ok"
		if err != nil {
			parts[part], status, word = "down", http.StatusServiceUnavailable, "unavailable"
			down = append(down, part)
			p.parts.Log.Warn("readiness check failed", "part", part, "error", err)
		}
	}
	slices.Sort(down)
	said := map[string]any{"status": word}
	if operators.Allow(r) {
		said["parts"], said["down"] = parts, down
	}
	reply(w, status, said)
}

func (p *Process) streamState() string {
	if _, without := p.parts.Bus.(bus.Noop); without {
		return "none"
	}
	if !p.parts.Bus.Ready() {
		return "down"
	}
	return "ok"
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
