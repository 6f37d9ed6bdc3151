package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/testkit/must"
)

func settings(t *testing.T) *config.Config {
	t.Helper()
	var cfg config.Config
	require.NoError(t, kong.ApplyDefaults(&cfg))
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.Provider = config.Offline
	cfg.Port = 0
	require.NoError(t, cfg.Validate())
	return &cfg
}

var silent = slog.New(slog.DiscardHandler)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestAPIAnswersWhileTemporalIsUnavailableAndReportsIt(t *testing.T) {
	cfg := settings(t)
	parts := openParts(t, cfg)
	page := must.Have(service.Listen(cfg))(t)
	process := must.Have(service.Start(t.Context(), parts, service.Roles{API: page}))(t)
	url := "http://" + page.Addr().String()

	status, _ := get(t, url+"/healthz")
	assert.Equal(t, http.StatusOK, status)
	status, body := get(t, url+"/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	var answer struct{ Down []string }
	require.NoError(t, json.Unmarshal(body, &answer))
	assert.Equal(t, []string{"temporal"}, answer.Down, "a bus that is not configured is not down")

	process.Stop()
	process.Stop()
	_, err := net.Dial("tcp", page.Addr().String())
	require.Error(t, err, "no connection is accepted any more")
}

// openParts opens the dependencies of an API whose Temporal server is unavailable.
func openParts(t *testing.T, cfg *config.Config) service.Parts {
	t.Helper()
	store := must.Have(service.OpenStore(t.Context(), cfg))(t)
	t.Cleanup(func() { _ = store.Close() })
	model := must.Have(service.Additions{}.NewModel(cfg))(t)
	unavailable := must.Have(service.TemporalClient(&config.Config{}, client.Options{HostPort: closedPort(t)}, silent))(t)
	t.Cleanup(unavailable.Close)
	return service.Parts{Config: cfg, Log: silent, Store: store, Model: model, Bus: bus.Noop{}, Temporal: unavailable}
}

func TestWorkerThatWaitsForTemporalCanBeStopped(t *testing.T) {
	cfg := settings(t)
	cfg.TemporalAddress = closedPort(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	logged, heard := io.Pipe()
	defer func() { _ = logged.Close() }()
	ended := make(chan error, 1)
	go func() {
		ended <- service.Run(ctx, cfg, slog.New(slog.NewTextHandler(heard, nil)), service.Worker, service.Additions{})
	}()
	lines := bufio.NewScanner(logged)
	for lines.Scan() && !strings.Contains(lines.Text(), "waiting for Temporal") {
	}
	go func() { _, _ = io.Copy(io.Discard, logged) }()
	cancel()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.FailNow(t, "the worker did not stop")
	}
}

func TestOccupiedPortAndUnwritableFolderNameTheirVariable(t *testing.T) {
	cfg := settings(t)
	l := must.Have(service.Listen(cfg))(t)
	defer func() { _ = l.Close() }()
	cfg.Port = l.Addr().(*net.TCPAddr).Port
	_, err := service.Listen(cfg)
	require.ErrorContains(t, err, "PORT: port ")
	require.ErrorContains(t, err, "is in use")

	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "in the way")
	cfg.DataDir = filepath.Join(file, "data")
	_, err = service.OpenStore(t.Context(), cfg)
	require.ErrorContains(t, err, "PALAVER_DATA_DIR: cannot write to ")
	assert.NotContains(t, err.Error(), "\n")
}

func TestDataFolderIsClosedToOtherUsers(t *testing.T) {
	cfg := settings(t)
	require.NoError(t, os.Mkdir(cfg.DataDir, 0o755))
	require.NoError(t, os.Chmod(cfg.DataDir, 0o755)) // independent of the umask
	for _, name := range []string{"palaver.db", "palaver.db-wal", "temporal.db", "temporal-1.31.0.db", "temporal.db-shm", "cookie_secret", "notes.txt"} {
		path := filepath.Join(cfg.DataDir, name)
		write(t, path, "")
		require.NoError(t, os.Chmod(path, 0o664))
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	write(t, elsewhere, "")
	require.NoError(t, os.Chmod(elsewhere, 0o644))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(cfg.DataDir, "temporal-link.db")))

	require.NoError(t, service.MakeDataDir(cfg))
	mode := func(path string) os.FileMode {
		info := must.Have(os.Stat(path))(t)
		return info.Mode().Perm()
	}
	require.Equal(t, os.FileMode(0o700), mode(cfg.DataDir))
	require.Equal(t, os.FileMode(0o600), mode(filepath.Join(cfg.DataDir, "temporal-1.31.0.db")))
	require.Equal(t, os.FileMode(0o664), mode(filepath.Join(cfg.DataDir, "notes.txt")), "not ours")
	require.Equal(t, os.FileMode(0o644), mode(elsewhere), "not in the folder")

	require.NoError(t, os.Remove(filepath.Join(cfg.DataDir, "palaver.db-wal")))
	store := must.Have(service.OpenStore(t.Context(), cfg))(t)
	defer func() { _ = store.Close() }()
	require.NoError(t, store.PutProfile(t.Context(), "ann", chat.Profile{}))
	for _, name := range []string{"palaver.db", "palaver.db-wal", "palaver.db-shm", "palaver.db.lock", "temporal.db", "temporal.db-shm", "cookie_secret"} {
		require.Equal(t, os.FileMode(0o600), mode(filepath.Join(cfg.DataDir, name)), name)
	}
}

// closedPort returns an address on which no server listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	resp := must.Have(http.Get(url))(t)
	defer func() { _ = resp.Body.Close() }()
	body := must.Have(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, body
}
