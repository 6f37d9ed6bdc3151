package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// serverMetrics are counters of the Temporal server.
type serverMetrics struct {
	requests map[string]float64       // to the frontend, by operation
	stores   map[string]float64       // to the database, by operation
	waited   map[string]time.Duration // total latency of these, by operation
}

// scrape reads a server's metrics.
func scrape(ctx context.Context, url string) (serverMetrics, error) {
	m := serverMetrics{map[string]float64{}, map[string]float64{}, map[string]time.Duration{}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return m, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return m, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return m, fmt.Errorf("%s: %s", url, resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return m, err
	}
	for name, family := range families {
		for _, metric := range family.Metric {
			labels := labelsOf(metric)
			operation := labels["operation"]
			switch strings.TrimSuffix(strings.TrimSuffix(name, "_total"), "_milliseconds") {
			case "service_requests":
				if labels["service_name"] == "frontend" {
					m.requests[operation] += metric.GetCounter().GetValue()
				}
			case "persistence_latency": // in seconds, unless its name says otherwise
				unit := time.Second
				if strings.HasSuffix(name, "_milliseconds") {
					unit = time.Millisecond
				}
				m.stores[operation] += float64(metric.GetHistogram().GetSampleCount())
				m.waited[operation] += time.Duration(metric.GetHistogram().GetSampleSum() * float64(unit))
			}
		}
	}
	return m, nil
}

func labelsOf(metric *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range metric.Label {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}
