package program

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/app/telemetry"
	"github.com/palaver-chat/palaver/internal/payload"
	"github.com/palaver-chat/palaver/standalone/embedded"
)

const lockFile = "lock"

// Stack is everything that runs in the one process.
type Stack struct {
	Servers *embedded.Server
	Parts   service.Parts // zero with OnlyInfra

	settings *Settings
	page     net.Addr // nil with OnlyInfra
	process  *service.Process
	closers  []func()
}

// Start starts the embedded servers, then worker and API, and loads the sample
// documents on the first run of a data folder. On an error it leaves nothing
// running.
func Start(ctx context.Context, settings *Settings, additions service.Additions, log *slog.Logger) (_ *Stack, err error) {
	s := &Stack{settings: settings}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if err := s.lock(); err != nil {
		return nil, err
	}
	// The page's port comes first, so that a port in use fails at once.
	var page net.Listener
	if !settings.OnlyInfra {
		if page, err = service.Listen(&settings.Config); err != nil {
			return nil, err
		}
		s.onStop(func() { _ = page.Close() })
	}
	s.Servers, err = embedded.Start(ctx, embedded.Options{
		Dir:            settings.DataDir,
		TemporalPort:   settings.TemporalPort,
		UI:             true,
		UIPort:         settings.TemporalUIPort,
		UIHosts:        settings.Hosts(),
		UIWrite:        settings.TemporalUIWrite == "on",
		NATSPort:       settings.NATSPort,
		NATSToken:      settings.NATSToken,
		ServerDefaults: settings.TemporalDefaults,
		Codec:          codec(settings, page),
		Log:            serverLog(settings, log),
	})
	if err != nil {
		return nil, err
	}
	if settings.TemporalUIOrigin == "" {
		settings.TemporalUIOrigin = ownOrigins(s.Servers.UIAddress())
	}
	s.onStop(s.Servers.Stop)
	if settings.OnlyInfra {
		return s, nil
	}
	if err := s.open(ctx, additions, log); err != nil {
		return nil, err
	}
	if s.process, err = service.Start(ctx, s.Parts, service.Roles{API: page, Worker: true}); err != nil {
		return nil, err
	}
	s.onStop(s.process.Stop)
	s.page = page.Addr()
	if err := s.loadSamples(ctx); err != nil {
		log.Warn("loading the sample documents failed; the next start retries", "error", err)
	}
	return s, nil
}

// codec returns the URL that decrypts payloads for the Web UI; empty without encryption.
func codec(settings *Settings, page net.Listener) string {
	if settings.PayloadEncryptionKey == "" || page == nil {
		return ""
	}
	return pageURL(page.Addr()) + payload.Path
}

// ownOrigins returns the origins, comma-separated, under which browsers on this host open
// the embedded Web UI.
func ownOrigins(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return "http://localhost:" + port + ",http://127.0.0.1:" + port
}

// open opens the dependencies of the roles.
func (s *Stack) open(ctx context.Context, additions service.Additions, log *slog.Logger) (err error) {
	cfg := &s.settings.Config
	p := service.Parts{Config: cfg, Log: log, Namespace: embedded.Namespace, Additions: additions, Metrics: prometheus.NewRegistry()}
	if p.Model, err = additions.NewModel(cfg); err != nil {
		return err
	}
	if p.Store, err = service.OpenStore(ctx, cfg); err != nil {
		return err
	}
	s.onStop(func() { _ = p.Store.Close() })
	if p.Bus, err = s.Servers.Bus(); err != nil {
		return err
	}
	s.onStop(p.Bus.Close)
	p.Temporal, err = service.TemporalClient(cfg, client.Options{HostPort: s.Servers.TemporalAddress(), Namespace: embedded.Namespace, MetricsHandler: telemetry.Temporal(p.Metrics)}, serverLog(s.settings, log))
	if err != nil {
		return err
	}
	s.onStop(p.Temporal.Close)
	s.Parts = p
	return nil
}

// lock prevents a second process from using the data folder.
func (s *Stack) lock() error {
	cfg := &s.settings.Config
	if err := service.MakeDataDir(cfg); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(cfg.DataDir, lockFile))
	got, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	if !got {
		return &config.Error{Variable: "PALAVER_DATA_DIR", Problem: cfg.DataDir + " is in use by another palaver; stop that one or choose another folder"}
	}
	s.onStop(func() { _ = lock.Unlock() })
	return nil
}

// URL returns the URL of page and API; empty with OnlyInfra.
func (s *Stack) URL() string {
	if s.page == nil {
		return ""
	}
	return pageURL(s.page)
}

func pageURL(page net.Addr) string {
	address := page.(*net.TCPAddr)
	if address.IP.IsLoopback() || address.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", address.Port)
	}
	return "http://" + address.String()
}

// Drain lets load balancers send requests elsewhere before Stop.
func (s *Stack) Drain() {
	if s.process != nil {
		s.process.Drain()
	}
}

// Failed receives an error when the stack cannot continue; nil with OnlyInfra.
func (s *Stack) Failed() <-chan error {
	if s.process == nil {
		return nil
	}
	return s.process.Failed()
}

func (s *Stack) onStop(f func()) { s.closers = append(s.closers, f) }

// Stop stops everything, the last started first, within a few seconds. Running
// turns continue after the next start.
func (s *Stack) Stop() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
	s.closers = nil
}

// serverLog is the logger of the embedded servers and Temporal's client: warnings
// and errors only, unless the log level is debug.
func serverLog(settings *Settings, log *slog.Logger) *slog.Logger {
	if settings.LogLevel == "debug" {
		return log
	}
	return slog.New(levelFilter{log.Handler(), slog.LevelWarn})
}

// levelFilter is a handler that drops records below a level.
type levelFilter struct {
	slog.Handler
	level slog.Level
}

func (h levelFilter) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h levelFilter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelFilter{h.Handler.WithAttrs(attrs), h.level}
}

func (h levelFilter) WithGroup(name string) slog.Handler {
	return levelFilter{h.Handler.WithGroup(name), h.level}
}
