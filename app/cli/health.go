package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/heartbeat"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/workflows"
)

// healthCmd is the health check of a container whose image has no other HTTP client.
type healthCmd struct {
	Role string `arg:"" enum:"api,worker" help:"api: checks its port. worker: checks WORKER_METRICS_PORT; without it, the age of the heartbeat file in PALAVER_DATA_DIR (at most 10 seconds); without that file, the last poll of Temporal (at most two minutes ago)."`
}

const (
	healthTimeout = 4 * time.Second
	// An idle poll lasts a minute.
	maxPollAge = 2 * time.Minute
)

func (h healthCmd) Run(ctx context.Context, cfg *config.Config, _ *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	switch {
	case h.Role == "api":
		return checkHTTP(ctx, cfg.Host, cfg.Port)
	case cfg.WorkerMetricsPort != 0:
		return checkHTTP(ctx, cfg.Host, cfg.WorkerMetricsPort)
	}
	err := heartbeat.Check(cfg.DataDir)
	if errors.Is(err, heartbeat.ErrNone) { // the worker may use another data folder
		err = checkPoller(ctx, cfg)
	}
	return err
}

func checkHTTP(ctx context.Context, host string, port int) error {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, strconv.Itoa(port))+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the process answered %s", resp.Status)
	}
	return nil
}

// checkPoller asks Temporal whether a worker of this host polls. It notices a stopped
// worker only when the last poll is older than maxPollAge.
func checkPoller(ctx context.Context, cfg *config.Config) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	c, _, err := service.DialTemporal(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer c.Close()
	queue, err := c.DescribeTaskQueue(ctx, workflows.TaskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return err
	}
	for _, p := range queue.GetPollers() {
		// The SDK's identity is process@host@.
		if strings.Contains(p.GetIdentity(), "@"+host+"@") && time.Since(p.GetLastAccessTime().AsTime()) < maxPollAge {
			return nil
		}
	}
	return errors.New("no worker of this host polls Temporal")
}
