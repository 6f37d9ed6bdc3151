//go:build long

package topology

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	temporallog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/stack"
)

const (
	host               = "127.0.0.1"
	mainDatabase       = "temporal"
	visibilityDatabase = "temporal_visibility"
	namespace          = "default"
)

// databases of the Temporal server.
var temporalDatabases = []string{mainDatabase, visibilityDatabase}

// temporalVariable makes the test binary run a Temporal server on the Postgres that it names.
const temporalVariable = "PALAVER_TOPOLOGY_TEMPORAL"

// temporalOptions are the flags of the test binary as a Temporal server.
type temporalOptions struct {
	postgres, settings string
	port               int
}

// runTemporal runs the four services of a Temporal cluster, with many shards and the
// server's default limits.
func runTemporal(ctx context.Context, o temporalOptions) error {
	server, err := url.Parse(o.postgres)
	if err != nil {
		return errors.New(temporalVariable + " is not a URL")
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
	conf, hosts, err := configure(o, server)
	if err != nil {
		return err
	}
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

func configure(o temporalOptions, server *url.URL) (*config.Config, map[primitives.ServiceName]static.Hosts, error) {
	ports := map[primitives.ServiceName]int{primitives.FrontendService: o.port}
	for _, name := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		port, err := freeport.Get()
		if err != nil {
			return nil, nil, err
		}
		ports[name] = port
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
		},
		Persistence: config.Persistence{
			DefaultStore: mainDatabase, VisibilityStore: visibilityDatabase, NumHistoryShards: shards,
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
	}, hosts, nil
}

// temporalMain is the main function of the test binary as a Temporal server.
func temporalMain() int {
	o := temporalOptions{postgres: os.Getenv(temporalVariable)}
	flags := flag.NewFlagSet("temporal", flag.ExitOnError)
	flags.StringVar(&o.settings, "settings", "", "file of the server's dynamic configuration")
	flags.IntVar(&o.port, "port", 0, "port of the frontend on 127.0.0.1")
	_ = flags.Parse(os.Args[1:]) // exits
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := runTemporal(ctx, o); err != nil {
		log.Print(err)
		return 1
	}
	return 0
}

// temporalServer is a Temporal server on Postgres, in its own process.
type temporalServer struct {
	*stack.Program
	address string // of the frontend
}

// startTemporalServer starts a server with a dynamic configuration. The caller must Stop it.
func startTemporalServer(ctx context.Context, path string, pg *stack.Postgres, settings string) (*temporalServer, error) {
	port, err := freeport.Get()
	if err != nil {
		return nil, err
	}
	t := &temporalServer{address: host + ":" + strconv.Itoa(port)}
	t.Program, err = stack.Run("", []string{"SQL_PASSWORD=none", temporalVariable + "=" + pg.URL}, path, "-port", strconv.Itoa(port), "-settings", settings)
	if err != nil {
		return nil, err
	}
	if err := register(ctx, t.address); err != nil {
		t.Stop()
		return nil, fmt.Errorf("%w: %s", err, t.Said())
	}
	return t, nil
}

// register creates the namespace as soon as the server responds.
func register(ctx context.Context, address string) (err error) {
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		var c client.NamespaceClient
		if c, err = client.NewNamespaceClient(client.Options{HostPort: address, Logger: quiet{}}); err != nil {
			continue
		}
		err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(7 * 24 * time.Hour)})
		var exists *serviceerror.NamespaceAlreadyExists
		if err == nil || errors.As(err, &exists) {
			// Describe verifies that the server knows the namespace: its services
			// refresh their caches only from time to time.
			_, err = c.Describe(ctx, namespace)
		}
		c.Close()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("register the namespace: %w", err)
}

// quiet is a logger of Temporal's client that drops everything.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
