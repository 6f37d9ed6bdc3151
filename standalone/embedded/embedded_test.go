package embedded_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.temporal.io/server/common/testing/freeport"

	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/workflows"
)

func start(t *testing.T, o embedded.Options) *embedded.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := embedded.Start(ctx, o)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func dial(t *testing.T, s *embedded.Server) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: s.TemporalAddress(), Namespace: embedded.Namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// waits is a workflow that waits for the signal "go" and then needs a worker.
func waits(ctx workflow.Context, answer string) (string, error) {
	var got string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &got)
	return answer + " " + got, nil
}

func TestWorkflowContinuesAfterServerRestart(t *testing.T) {
	dir := t.TempDir()
	first, err := embedded.Start(t.Context(), embedded.Options{Dir: dir})
	require.NoError(t, err)
	c := dial(t, first)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		TaskQueue: "q",
		TypedSearchAttributes: temporal.NewSearchAttributes(
			workflows.UserAttribute.ValueSet("someone"), workflows.StatusAttribute.ValueSet("idle")),
	}, waits, "before")
	require.NoError(t, err)
	first.Stop()
	for _, file := range []string{"temporal.db", "temporal.db-wal", "temporal.db-shm"} {
		info, err := os.Stat(filepath.Join(dir, file))
		if file != "temporal.db" && errors.Is(err, fs.ErrNotExist) { // a clean stop may remove them
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), file)
	}

	c = dial(t, start(t, embedded.Options{Dir: dir}))
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflow(waits)
	require.NoError(t, w.Start())
	defer w.Stop()
	require.NoError(t, c.SignalWorkflow(t.Context(), run.GetID(), "", "go", "after"))
	var got string
	require.NoError(t, c.GetWorkflow(t.Context(), run.GetID(), "").Get(t.Context(), &got))
	assert.Equal(t, "before after", got)
}

// Rule W14.
func TestSearchAttributesExistFromTheStart(t *testing.T) {
	for name, o := range map[string]embedded.Options{"in memory": {}, "with the server's defaults, on disk": {Dir: t.TempDir(), ServerDefaults: true}} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, start(t, o))
			attributes, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: embedded.Namespace})
			require.NoError(t, err)
			assert.Contains(t, attributes.CustomAttributes, "PalaverUser")
			assert.Contains(t, attributes.CustomAttributes, "PalaverStatus")
		})
	}
}

func TestWebUIShowsTheNamespace(t *testing.T) {
	s := start(t, embedded.Options{UI: true})
	resp, err := http.Get("http://" + s.UIAddress() + "/api/v1/namespaces/" + embedded.Namespace)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var body struct {
		NamespaceInfo struct{ Name string }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
	assert.Equal(t, embedded.Namespace, body.NamespaceInfo.Name)
}

// webUI sends a request to the Web UI and returns the status.
func webUI(t *testing.T, s *embedded.Server, method, path, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.UIAddress()+path, strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	// The UI's page sends this header.
	req.Header.Set("X-CSRF-Token", "token")
	req.AddCookie(&http.Cookie{Name: "_csrf", Value: "token"})
	if host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// A page whose name was rebound to 127.0.0.1 must not read workflow ids.
func TestWebUIRejectsOtherHosts(t *testing.T) {
	s := start(t, embedded.Options{UI: true})
	_, port, err := net.SplitHostPort(s.UIAddress())
	require.NoError(t, err)
	for _, path := range []string{"/", "/healthz", "/api/v1/settings", "/api/v1/namespaces/default/workflows", "/api/v1/namespaces/default/workflows/w/runs/r/history.json"} {
		require.Equal(t, http.StatusMisdirectedRequest, webUI(t, s, http.MethodGet, path, "evil.example:"+port), path)
	}
	require.Equal(t, http.StatusOK, webUI(t, s, http.MethodGet, "/api/v1/settings", "localhost:"+port))
}

func TestWebUIChangesWorkflowsOnlyWhenAllowed(t *testing.T) {
	const signal = "/api/v1/namespaces/default/workflows/thread/signal/approve"
	readOnly := start(t, embedded.Options{UI: true})
	require.Equal(t, http.StatusMethodNotAllowed, webUI(t, readOnly, http.MethodPost, signal, ""))
	require.Equal(t, http.StatusOK, webUI(t, readOnly, http.MethodGet, "/api/v1/namespaces/default/workflows", ""))
	writing := start(t, embedded.Options{UI: true, UIWrite: true})
	require.Equal(t, http.StatusNotFound, webUI(t, writing, http.MethodPost, signal, ""), "the request passed: the workflow does not exist")
}

func TestNATSRunsOnlyWithAPort(t *testing.T) {
	alone := start(t, embedded.Options{})
	assert.Empty(t, alone.NATSURL())
	ours, err := alone.Bus()
	require.NoError(t, err)
	assert.IsType(t, &bus.Local{}, ours)

	const token = "0123456789abcdef"
	shared := start(t, embedded.Options{NATSPort: freeport.MustGetFreePort(), NATSToken: token})
	require.NotEmpty(t, shared.NATSURL())
	ours, err = shared.Bus()
	require.NoError(t, err)
	defer ours.Close()
	other, err := bus.Connect(shared.NATSURL(), bus.Login{Token: token})
	require.NoError(t, err)
	defer other.Close()
	turn := uuid.NewString()
	signals, err := ours.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	other.Hint(turn, 1)
	assert.Equal(t, bus.Signal{N: 1}, <-signals)

	for _, wrong := range []string{"", "0123456789abcdeF"} {
		_, err := nats.Connect(shared.NATSURL(), nats.Token(wrong))
		require.ErrorIs(t, err, nats.ErrAuthorization, wrong)
	}
	_, err = embedded.Start(t.Context(), embedded.Options{NATSPort: freeport.MustGetFreePort()})
	require.ErrorContains(t, err, "it needs a token")
}

func TestPortInUseIsReportedWithItsVariable(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	for variable, o := range map[string]embedded.Options{
		"TEMPORAL_PORT":    {TemporalPort: port},
		"TEMPORAL_UI_PORT": {UI: true, UIPort: port},
		"NATS_PORT":        {NATSPort: port},
	} {
		_, err := embedded.Start(t.Context(), o)
		var portErr *embedded.PortError
		require.ErrorAs(t, err, &portErr)
		assert.Equal(t, variable, portErr.Variable)
		assert.ErrorContains(t, err, "is in use")
		assert.NotContains(t, err.Error(), "\n")
	}
}
