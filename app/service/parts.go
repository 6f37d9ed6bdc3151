// Package service assembles a Palaver process from its settings: its dependencies
// (store, model, bus, Temporal) and its roles (API, worker, ingest).
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	"github.com/palaver-chat/palaver/app/config"
	"github.com/palaver-chat/palaver/app/heartbeat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/payload"
)

// databaseFile is the store's file in the data folder.
const databaseFile = "palaver.db"

// ownFiles are patterns of Palaver's files in a data folder. Other files in the folder are
// not touched.
var ownFiles = []string{databaseFile + "*", "temporal*.db*", "cookie_secret*", "lock", "samples*", heartbeat.Pattern}

// MakeDataDir creates the data folder and checks that files can be written there. The
// folder and the files in it become readable for their owner only.
func MakeDataDir(cfg *config.Config) error {
	refused := func(err error) error {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return &config.Error{Variable: "PALAVER_DATA_DIR", Problem: fmt.Sprintf("cannot write to %s: %v", cfg.DataDir, err)}
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return refused(err)
	}
	probe, err := os.CreateTemp(cfg.DataDir, ".probe")
	if err != nil {
		return refused(err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return refused(err)
	}
	return closeDataDir(cfg.DataDir)
}

// closeDataDir removes the access of other users from the data folder and from files that
// were copied into it. It skips files of another user, whose permissions it cannot change.
func closeDataDir(dir string) error {
	open := []string{dir}
	for _, pattern := range ownFiles {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		open = append(open, found...)
	}
	for _, path := range open {
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm()&0o077 == 0 || !info.IsDir() && !info.Mode().IsRegular() {
			continue // it is closed already or deleted, or it is a special file
		}
		if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("close the data folder to other users: %w", err)
		}
	}
	return nil
}

// OpenStore opens the configured database and migrates its schema.
func OpenStore(ctx context.Context, cfg *config.Config) (db.Store, error) {
	if err := MakeDataDir(cfg); err != nil {
		return nil, err
	}
	options := db.OpenOptions{AllowNewerSchema: cfg.AllowNewerSchema, Connections: cfg.DatabaseConnections, KeepAnswers: cfg.SpaceAnswers == config.KeepAnswers}
	if cfg.Postgres() {
		store, err := postgres.OpenWith(ctx, cfg.DatabaseURL, options)
		if err != nil { // err does not contain the URL, which may have a password
			return nil, fmt.Errorf("open the database of DATABASE_URL: %w", err)
		}
		return store, nil
	}
	store, err := sqlite.OpenWith(ctx, filepath.Join(cfg.DataDir, databaseFile), options)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return store, nil
}

// OpenBus connects to the NATS server of NATS_URL. Without one it logs a warning and
// returns a no-op bus.
func OpenBus(cfg *config.Config, log *slog.Logger) (bus.Bus, error) {
	if cfg.NATSURL == "" {
		log.Warn("NATS_URL is not set: answers arrive in larger steps and stops take longer")
		return bus.Noop{}, nil
	}
	return bus.Connect(cfg.NATSURL, bus.Login{Token: cfg.NATSToken, Credentials: cfg.NATSCredentials})
}

// DialTemporal makes a client from the Temporal SDK's own variables and files, overridden
// by TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE (or their flags). It does not connect yet:
// callers wait for an unavailable server. metrics gets the SDK's metrics.
func DialTemporal(cfg *config.Config, log *slog.Logger, metrics ...client.MetricsHandler) (_ client.Client, namespace string, _ error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, "", fmt.Errorf("settings of the Temporal client: %w", err)
	}
	if cfg.TemporalAddress != "" {
		options.HostPort = cfg.TemporalAddress
	}
	if cfg.TemporalNamespace != "" {
		options.Namespace = cfg.TemporalNamespace
	}
	options.Namespace = cmp.Or(options.Namespace, client.DefaultNamespace)
	for _, m := range metrics {
		options.MetricsHandler = m
	}
	c, err := TemporalClient(cfg, options, log)
	return c, options.Namespace, err
}

// TemporalClient makes a lazy client with log as its logger. The client compresses
// only requests that leave the machine's network, because that costs more CPU than a fast network
// saves. It encrypts payloads with PAYLOAD_ENCRYPTION_KEY.
func TemporalClient(cfg *config.Config, options client.Options, log *slog.Logger) (client.Client, error) {
	options.Logger = sdklog.NewStructuredLogger(slog.New(activityErrorDemoter{log.With("part", "temporal").Handler()}))
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, connection(log)...)
	if inNetwork(options.HostPort) {
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	keys, err := payload.NewKeys(cfg.PayloadEncryptionKey)
	if err != nil {
		return nil, &config.Error{Variable: "PAYLOAD_ENCRYPTION_KEY", Problem: err.Error()}
	}
	if err := keys.Use(&options, log); err != nil {
		return nil, fmt.Errorf("make the codec of Temporal's payloads: %w", err)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("make the Temporal client: %w", err)
	}
	return c, nil
}

// inNetwork reports whether an address is in the network of this machine: a private one, or a name
// that only such a network has.
func inNetwork(address string) bool {
	address = cmp.Or(address, client.DefaultHostPort)
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	name := strings.TrimSuffix(host, ".")
	labels := strings.Split(name, ".")
	return len(labels) == 1 || slices.Contains([]string{"svc", "local", "internal", "localhost"}, labels[len(labels)-1])
}

// Listen opens the port of the page and the API.
func Listen(cfg *config.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &config.Error{Variable: "PORT", Problem: fmt.Sprintf("port %d is in use; stop the program that uses it or choose another port", cfg.Port)}
	case errors.Is(err, syscall.EACCES):
		return nil, &config.Error{Variable: "PORT", Problem: fmt.Sprintf("port %d needs more rights; choose one above 1023", cfg.Port)}
	}
	return nil, &config.Error{Variable: "HOST", Problem: fmt.Sprintf("cannot listen on %s: %v", cfg.Host, err)}
}
