package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/testing/freeport"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	palaverdb "github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	clusterName = "active"
	// The Web UI can show finished runs of a thread for this long.
	retention = 7 * 24 * time.Hour
	// Temporal's shutdown has no timeout of its own.
	stopTimeout = 5 * time.Second
)

// searchAttributes exist from the start: the task of a workflow that sets an
// unknown one fails on every retry.
var searchAttributes = map[string]enumspb.IndexedValueType{
	workflows.UserAttribute.GetName():   workflows.UserAttribute.GetValueType(),
	workflows.StatusAttribute.GetName(): workflows.StatusAttribute.GetValueType(),
}

// tuned changes defaults for large clusters. The default poll rates alone (20
// polls a second) add 45 ms per activity on a single shard.
var tuned = dynamicconfig.StaticClient{
	dynamicconfig.TransferProcessorMaxPollRPS.Key():         5000,
	dynamicconfig.TimerProcessorMaxPollRPS.Key():            5000,
	dynamicconfig.VisibilityProcessorMaxPollRPS.Key():       5000,
	dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
	dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
	dynamicconfig.MaxBufferedQueryCount.Key():               100,
	dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Key(): 100,
	// We never store payloads externally; the scan for them in every event takes 2 %
	// of a turn's CPU.
	dynamicconfig.ExternalPayloadsEnabled.Key(): false,
	// The fairness key of a thread is its owner.
	dynamicconfig.MatchingEnableFairness.Key(): true,
	// An unresponsive worker (powered off, frozen, partitioned) keeps its long polls
	// and is given a task for each, until the server closes its connection: after
	// 70 s by default. 3 s are less than the heartbeat timeout of an activity (4 s),
	// so that the retry goes to another worker.
	dynamicconfig.KeepAliveTime.Key():    time.Second,
	dynamicconfig.KeepAliveTimeout.Key(): 2 * time.Second,
}

type temporalServer struct {
	server   temporal.Server
	upkeep   []func() // each stops one of the tasks of keepUp
	address  string
	stopping *atomic.Bool
}

func startTemporal(ctx context.Context, o Options) (*temporalServer, error) {
	store, err := prepareStore(ctx, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("prepare Temporal's database: %w", err)
	}
	frontend := o.TemporalPort
	if frontend == 0 {
		frontend = freeport.MustGetFreePort()
	}
	address := local(frontend)
	dynamic := tuned
	if o.ServerDefaults {
		dynamic = dynamicconfig.StaticClient{}
	}
	stopping := &atomic.Bool{}
	conf, hosts := configure(store, frontend)
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(dynamic),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithLogger(serverLog{to: o.Log, stopping: stopping}),
	)
	if err != nil {
		return nil, fmt.Errorf("set up Temporal: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	s := &temporalServer{server: server, address: address, stopping: stopping}
	err = answers(ctx, address)
	if err == nil && o.Dir != "" {
		err = s.keepUp(store.DatabaseName)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("start Temporal: %w", err)
	}
	return s, nil
}

// keepUp starts the tasks that sync and shrink the database while the server runs.
func (s *temporalServer) keepUp(path string) error {
	for _, start := range []func(string) (func(), error){palaverdb.Sync, palaverdb.Shrink} {
		stop, err := start(path)
		if err != nil {
			return err
		}
		s.upkeep = append(s.upkeep, stop)
	}
	return nil
}

func (s *temporalServer) stop() {
	s.stopping.Store(true)
	defer func() {
		for _, stop := range s.upkeep {
			stop()
		}
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.server.Stop()
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
}

// prepareStore creates the database with its schema, the namespace and the search
// attributes if they do not exist.
func prepareStore(ctx context.Context, dir string) (*config.SQL, error) {
	store := &config.SQL{PluginName: sqliteplugin.PluginName}
	if dir == "" {
		store.DatabaseName = uuid.NewString()
		store.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	} else {
		store = fileStore(filepath.Join(dir, "temporal.db"))
		_, err := os.Stat(store.DatabaseName)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = createDatabase(ctx, store.DatabaseName)
		case err == nil:
			err = checkDatabase(ctx, store.DatabaseName)
		}
		if err != nil {
			return nil, err
		}
	}
	ns, err := sqlite.NewNamespaceConfig(clusterName, Namespace, false, searchAttributes)
	if err != nil {
		return nil, err
	}
	ns.Detail.Config.Retention = durationpb.New(retention)
	return store, sqlite.CreateNamespaces(store, ns)
}

func fileStore(path string) *config.SQL {
	return &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		DatabaseName:      path,
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal", "busy_timeout": "10000"},
	}
}

func configure(store *config.SQL, frontend int) (*config.Config, map[primitives.ServiceName]static.Hosts) {
	ports := map[primitives.ServiceName]int{
		primitives.FrontendService: frontend,
		primitives.HistoryService:  freeport.MustGetFreePort(),
		primitives.MatchingService: freeport.MustGetFreePort(),
		primitives.WorkerService:   freeport.MustGetFreePort(),
	}
	services := map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, port := range ports {
		services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopback}}
		hosts[name] = static.SingleLocalHost(local(port))
	}
	off := config.Archival{
		History:    config.HistoryArchival{State: "disabled"},
		Visibility: config.VisibilityArchival{State: "disabled"},
	}
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback},
		},
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: local(frontend)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: local(frontend)},
		Services:            services,
		Archival:            off,
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}, hosts
}
