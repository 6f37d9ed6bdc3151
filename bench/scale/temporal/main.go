// Command temporal runs the four services of a Temporal cluster in one process on
// Postgres, with many shards and the server's default limits, for bench/scale.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	temporallog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/testing/freeport"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"
)

const (
	host               = "127.0.0.1"
	mainDatabase       = "temporal"
	visibilityDatabase = "temporal_visibility"
)

type options struct {
	postgres, settings    string
	port, metrics, shards int
}

func run(ctx context.Context, o options) error {
	server, err := url.Parse(o.postgres)
	if err != nil {
		return errors.New("-postgres is not a URL")
	}
	for database, schema := range map[string]string{mainDatabase: "postgresql/v12/temporal", visibilityDatabase: "postgresql/v12/visibility"} {
		if err := prepare(server, database, schema); err != nil {
			return fmt.Errorf("prepare the database %s: %w", database, err)
		}
	}
	logger := temporallog.NewZapLogger(temporallog.BuildZapLogger(temporallog.Config{Level: "error"}))
	dynamic, err := dynamicconfig.NewFileBasedClient(&dynamicconfig.FileBasedClientConfig{Filepath: o.settings, PollInterval: time.Minute}, logger, temporal.InterruptCh())
	if err != nil {
		return err
	}
	conf, hosts := configure(o, server)
	s, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(dynamic),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithLogger(logger),
	)
	if err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	<-ctx.Done()
	return s.Stop()
}

// prepare creates a database with its schema, as docker/temporal/schema.sh does.
func prepare(server *url.URL, database, schema string) error {
	for _, command := range [][]string{{"create"}, {"setup-schema", "-v", "0.0"}, {"update-schema", "--schema-name", schema}} {
		args := append([]string{"temporal-sql-tool", "--plugin", postgresql.PluginName, "--ep", server.Hostname(), "-p", server.Port(),
			"-u", server.User.Username(), "--db", database}, command...)
		if err := sql.RunTool(args); err != nil {
			return err
		}
	}
	return nil
}

func configure(o options, server *url.URL) (*config.Config, map[primitives.ServiceName]static.Hosts) {
	ports := map[primitives.ServiceName]int{
		primitives.FrontendService: o.port,
		primitives.HistoryService:  freeport.MustGetFreePort(),
		primitives.MatchingService: freeport.MustGetFreePort(),
		primitives.WorkerService:   freeport.MustGetFreePort(),
	}
	services := map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, port := range ports {
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host}}
		hosts[name] = static.SingleLocalHost(host + ":" + strconv.Itoa(port))
	}
	frontend := host + ":" + strconv.Itoa(o.port)
	store := func(database string) config.DataStore {
		return config.DataStore{SQL: &config.SQL{PluginName: postgresql.PluginName, DatabaseName: database, ConnectAddr: server.Host,
			ConnectProtocol: "tcp", User: server.User.Username(), MaxConns: 40, MaxIdleConns: 40, MaxConnLifetime: time.Hour}}
	}
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host},
			Metrics:    &metrics.Config{Prometheus: &metrics.PrometheusConfig{ListenAddress: host + ":" + strconv.Itoa(o.metrics), TimerType: "histogram"}},
		},
		Persistence: config.Persistence{
			DefaultStore: mainDatabase, VisibilityStore: visibilityDatabase, NumHistoryShards: int32(o.shards),
			DataStores: map[string]config.DataStore{mainDatabase: store(mainDatabase), visibilityDatabase: store(visibilityDatabase)},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: frontend}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: frontend},
		Services:            services,
		Archival:            config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}, hosts
}

func main() {
	var o options
	flag.StringVar(&o.postgres, "postgres", "", "URL of the Postgres server, as a user who may create databases")
	flag.StringVar(&o.settings, "settings", "docker/temporal/dynamicconfig.yaml", "the server's dynamic configuration")
	flag.IntVar(&o.port, "port", 7233, "port of the frontend on 127.0.0.1")
	flag.IntVar(&o.metrics, "metrics", 9090, "port of the metrics on 127.0.0.1")
	flag.IntVar(&o.shards, "shards", 64, "history shards")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatal(err)
	}
}
