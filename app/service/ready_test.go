package service_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/heartbeat"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/testkit/testlog"
)

// openAPI starts an API without a Temporal server.
func openAPI(t *testing.T, cfg *config.Config) (*service.Process, string) {
	t.Helper()
	return startAPI(t, openParts(t, cfg))
}

func startAPI(t *testing.T, parts service.Parts) (*service.Process, string) {
	t.Helper()
	page, err := service.Listen(parts.Config)
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
	status, down := ready(t, url)
	if !slices.Contains(down, part) {
		return false
	}
	require.Equal(t, http.StatusServiceUnavailable, status)
	return true
}

// ready reads /readyz: its status and what is down.
func ready(t *testing.T, url string) (status int, down []string) {
	t.Helper()
	status, body := get(t, url+"/readyz")
	var said struct{ Down []string }
	require.NoError(t, json.Unmarshal(body, &said))
	return status, said.Down
}

// temporal is a Temporal server as the probes see it.
type temporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer

	queue  error         // instead of the task queue
	idle   time.Duration // since the last poll of a worker
	denied error         // instead of the search attributes
	asked  atomic.Int32  // for the search attributes

	mu         sync.Mutex
	attributes map[string]enumspb.IndexedValueType
}

const namespace = "chats"

func (s *temporal) DescribeTaskQueue(_ context.Context, r *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	if s.queue != nil {
		return nil, s.queue
	}
	if r.GetNamespace() != namespace {
		return nil, noNamespace
	}
	return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.New(time.Now().Add(-s.idle))}}}, nil
}

func (s *temporal) ListSearchAttributes(_ context.Context, r *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.GetNamespace() != namespace {
		return nil, noNamespace
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: s.attributes}, s.denied
}

func (s *temporal) register(attributes map[string]enumspb.IndexedValueType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attributes = attributes
}

// openAPI starts an API with the server; log gets the API's log.
func (s *temporal) openAPI(t *testing.T, log io.Writer) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, s)
	operatorservice.RegisterOperatorServiceServer(server, s)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	parts := openParts(t, settings(t))
	parts.Log, parts.Namespace = slog.New(slog.NewTextHandler(log, nil)), namespace
	parts.Temporal, err = service.TemporalClient(&config.Config{}, client.Options{HostPort: l.Addr().String(), Namespace: namespace}, silent)
	require.NoError(t, err)
	t.Cleanup(parts.Temporal.Close)
	_, url = startAPI(t, parts)
	return url
}

const keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD

var (
	noNamespace = serviceerror.NewNamespaceNotFound(namespace).(*serviceerror.NamespaceNotFound).Status().Err()
	registered  = map[string]enumspb.IndexedValueType{"PalaverUser": keyword, "PalaverStatus": keyword, "Another": enumspb.INDEXED_VALUE_TYPE_INT}
)

// Rule R2.
func TestReadinessNeedsTheNamespaceItsSearchAttributesAndAWorker(t *testing.T) {
	for name, c := range map[string]struct {
		server *temporal
		down   string
		logged string
	}{
		"all of them":          {server: &temporal{attributes: registered}},
		"no namespace":         {server: &temporal{queue: noNamespace}, down: "temporal", logged: "Namespace chats is not found"},
		"no permission":        {server: &temporal{queue: status.Error(codes.PermissionDenied, "denied")}, down: "temporal", logged: "denied"},
		"no search attributes": {server: &temporal{}, down: "temporal", logged: "lacks 2 of the search attributes PalaverUser and PalaverStatus"},
		"one search attribute": {server: &temporal{attributes: map[string]enumspb.IndexedValueType{"PalaverUser": keyword}}, down: "temporal", logged: "lacks 1 of the search attributes"},
		"one of another type":  {server: &temporal{attributes: map[string]enumspb.IndexedValueType{"PalaverUser": keyword, "PalaverStatus": enumspb.INDEXED_VALUE_TYPE_INT}}, down: "temporal", logged: "lacks 1 of the search attributes"},
		"attributes denied":    {server: &temporal{denied: status.Error(codes.PermissionDenied, "denied")}},
		"attributes not told":  {server: &temporal{denied: status.Error(codes.Unimplemented, "unknown")}},
		"attributes fail":      {server: &temporal{denied: status.Error(codes.InvalidArgument, "broken")}, down: "temporal", logged: "broken"},
		"no worker":            {server: &temporal{attributes: registered, idle: time.Hour}, down: "workers", logged: "no worker has polled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log testlog.Buffer
			code, down := ready(t, c.server.openAPI(t, &log))
			if c.down == "" {
				require.Equal(t, http.StatusOK, code, log.String())
				require.Empty(t, down)
				return
			}
			require.Equal(t, http.StatusServiceUnavailable, code)
			require.Equal(t, []string{c.down}, down, log.String())
			require.Contains(t, log.String(), c.logged)
		})
	}
}

func TestReadinessAsksForSearchAttributesUntilTheyAreThere(t *testing.T) {
	s := &temporal{}
	url := s.openAPI(t, io.Discard)
	for range 2 {
		code, _ := ready(t, url)
		require.Equal(t, http.StatusServiceUnavailable, code)
	}
	s.register(registered)
	for range 3 {
		code, down := ready(t, url)
		require.Equal(t, http.StatusOK, code, down)
	}
	require.EqualValues(t, 3, s.asked.Load(), "they stay")
}

func TestWorkerThatWaitsForTemporalHasAHeartbeatFile(t *testing.T) {
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
