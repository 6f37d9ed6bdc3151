package service

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/palaver-chat/palaver/internal/config"
	"github.com/palaver-chat/palaver/internal/guard"
)

// serveMetrics serves the metrics of a process that has no API, until stop is
// called.
func (p *Process) serveMetrics() (stop func(), err error) {
	cfg := p.parts.Config
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.WorkerMetricsPort)))
	if err != nil {
		return nil, &config.Error{Variable: "WORKER_METRICS_PORT", Problem: fmt.Sprintf("cannot listen on port %d: %v", cfg.WorkerMetricsPort, err)}
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(p.metrics, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: cfg.Hosts().Handler(guard.NewOperators(cfg.MetricsToken).Handler(routes)), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with stop
	return func() { _ = server.Close() }, nil
}
