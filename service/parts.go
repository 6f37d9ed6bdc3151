// Package service puts a Palaver process together from its settings: what it
// stands on (store, model, bus, Temporal) and the roles it plays on that (API,
// worker, ingest). It decides nothing of its own.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	"github.com/palaver-chat/palaver/config"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/llm/provider"
	"github.com/palaver-chat/palaver/stream"
)

// databaseFile is the store's file in the data folder.
const databaseFile = "palaver.db"

// MakeDataDir makes the data folder, for its owner only, and makes sure that
// files can be written there.
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
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// OpenStore opens the database that the settings mean and brings its schema up
// to date.
func OpenStore(ctx context.Context, cfg *config.Config) (db.Store, error) {
	if err := MakeDataDir(cfg); err != nil {
		return nil, err
	}
	if cfg.Postgres() {
		return openPostgres(ctx, cfg.DatabaseURL, "DATABASE_URL")
	}
	store, err := sqlite.Open(ctx, filepath.Join(cfg.DataDir, databaseFile))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return store, nil
}

// openPostgres names the setting that the URL comes from when it fails; the URL
// itself may hold a password.
func openPostgres(ctx context.Context, url, setting string) (*postgres.Store, error) {
	store, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("open the database of %s: %w", setting, err)
	}
	return store, nil
}

// NewModel makes the model that the settings mean. It connects to nothing.
func NewModel(cfg *config.Config) (llm.Model, error) {
	choice := cfg.Model()
	return provider.New(provider.Config{
		Provider:         choice.Provider,
		APIKey:           choice.APIKey,
		KeyVariable:      choice.KeyVariable,
		Name:             cfg.ModelName,
		NameStrong:       cfg.ModelNameStrong,
		BaseURL:          cfg.BaseURL,
		EmbeddingModel:   cfg.EmbeddingModel,
		ImageModel:       cfg.ImageModel,
		OpenAIKey:        cfg.OpenAIAPIKey,
		FirstByteTimeout: cfg.FirstByteTimeout,
		Timeout:          cfg.ModelTimeout,
	})
}

// OpenBus joins the NATS server of NATS_URL; without one, nothing flows between
// processes, which a warning says.
func OpenBus(cfg *config.Config, log *slog.Logger) (stream.Bus, error) {
	if cfg.NATSURL == "" {
		log.Warn("NATS_URL is not set: answers arrive in larger steps and stops take longer")
		return stream.Nowhere{}, nil
	}
	return stream.Connect(cfg.NATSURL)
}

// DialTemporal makes a client by the Temporal SDK's own variables and files,
// with TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE (or their flags) on top. It does
// not connect yet: a server that is away is waited for by whoever needs it.
func DialTemporal(cfg *config.Config, log *slog.Logger) (_ client.Client, namespace string, _ error) {
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
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	c, err := TemporalClient(options, log)
	return c, options.Namespace, err
}

// TemporalClient is client.NewLazyClient that logs to log. Nothing is compressed
// on the way to a server on the same machine: it costs more than it saves.
func TemporalClient(options client.Options, log *slog.Logger) (client.Client, error) {
	options.Logger = sdklog.NewStructuredLogger(slog.New(quieter{log.With("part", "temporal").Handler()}))
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, connection(log)...)
	if onLoopback(options.HostPort) {
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("make the Temporal client: %w", err)
	}
	return c, nil
}

func onLoopback(address string) bool {
	if address == "" {
		address = client.DefaultHostPort
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return err == nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Listen opens the port of page and API.
func Listen(cfg *config.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &config.Error{Variable: "PORT", Problem: fmt.Sprintf("port %d is taken; stop what listens there or choose another port", cfg.Port)}
	case errors.Is(err, syscall.EACCES):
		return nil, &config.Error{Variable: "PORT", Problem: fmt.Sprintf("port %d needs more rights; choose one above 1023", cfg.Port)}
	}
	return nil, &config.Error{Variable: "HOST", Problem: fmt.Sprintf("cannot listen on %s: %v", cfg.Host, err)}
}
