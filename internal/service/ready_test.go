package service_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/internal/config"
	"github.com/palaver-chat/palaver/internal/heartbeat"
	"github.com/palaver-chat/palaver/internal/service"
)

// openAPI starts an API without a Temporal server.
func openAPI(t *testing.T, cfg *config.Config) (*service.Process, string) {
	t.Helper()
	parts := openParts(t, cfg)
	page, err := service.Listen(cfg)
	require.NoError(t, err)
	process, err := service.Start(t.Context(), parts, service.Roles{API: page})
	require.NoError(t, err)
	t.Cleanup(process.Stop)
	return process, "http://" + page.Addr().String()
}

func TestDrainingProcessIsNotReadyAndStillServes(t *testing.T) {
	cfg := settings(t)
	cfg.DrainDelay = time.Hour
	process, url := openAPI(t, cfg)
	drained := make(chan struct{})
	go func() {
		process.Drain()
		close(drained)
	}()
	require.Eventually(t, func() bool { return containsDown(t, url, "process") }, time.Minute, 10*time.Millisecond)
	status, _ := get(t, url+"/healthz")
	require.Equal(t, http.StatusOK, status)
	status, _ = get(t, url+"/api/config")
	require.Equal(t, http.StatusOK, status)
	select {
	case <-drained:
		require.FailNow(t, "the process stopped before DRAIN_DELAY")
	default:
	}
	process.Stop()
	<-drained
}

func containsDown(t *testing.T, url, part string) bool {
	t.Helper()
	status, body := get(t, url+"/readyz")
	var said struct{ Down []string }
	require.NoError(t, json.Unmarshal(body, &said))
	for _, d := range said.Down {
		if d == part {
			require.Equal(t, http.StatusServiceUnavailable, status)
			return true
		}
	}
	return false
}

func TestWorkerWithoutAPortHasAHeartbeatFileWhileItWaitsForTemporal(t *testing.T) {
	cfg := settings(t)
	cfg.TemporalAddress = closedPort(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx, cfg, silent, service.Worker, service.Additions{}) }()
	require.Eventually(t, func() bool { return heartbeat.Check(cfg.DataDir) == nil }, time.Minute, 10*time.Millisecond)
	end()
	require.NoError(t, <-ended)
}

func TestWorkerHasProbesWhileItWaitsForTemporal(t *testing.T) {
	cfg := settings(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	cfg.WorkerMetricsPort = free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	cfg.TemporalAddress = closedPort(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx, cfg, silent, service.Worker, service.Additions{}) }()
	url := "http://127.0.0.1:" + strconv.Itoa(cfg.WorkerMetricsPort)
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + "/healthz")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	require.True(t, containsDown(t, url, "temporal"))
	require.False(t, containsDown(t, url, "database"))
	end()
	require.NoError(t, <-ended)
}
