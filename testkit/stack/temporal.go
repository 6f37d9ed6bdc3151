package stack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/palaver-chat/palaver/testkit/freeport"
)

// Temporal is a Temporal server on Postgres, in its own process.
type Temporal struct {
	*Program
	Address string // of the frontend
	Metrics string // URL
}

// Namespace is the namespace that StartTemporal creates.
const Namespace = "default"

// TemporalDatabases are the names of the server's databases.
var TemporalDatabases = []string{"temporal", "temporal_visibility"}

// StartTemporal starts the program of bench/scale/temporal; settings is the path of its
// dynamic configuration. The caller must Stop it.
func StartTemporal(ctx context.Context, path string, pg *Postgres, shards int, settings string) (*Temporal, error) {
	port, err := freeport.Get()
	if err != nil {
		return nil, err
	}
	metrics, err := freeport.Get()
	if err != nil {
		return nil, err
	}
	t := &Temporal{Address: local(port), Metrics: "http://" + local(metrics) + "/metrics"}
	t.Program, err = Run("", []string{"SQL_PASSWORD=none"}, path, "-postgres", pg.URL, "-port", strconv.Itoa(port),
		"-metrics", strconv.Itoa(metrics), "-shards", strconv.Itoa(shards), "-settings", settings)
	if err != nil {
		return nil, err
	}
	if err := register(ctx, t.Address); err != nil {
		t.Stop()
		return nil, fmt.Errorf("%w: %s", err, t.Said())
	}
	return t, nil
}

// register creates the namespace as soon as the server responds.
func register(ctx context.Context, address string) (err error) {
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		var c client.NamespaceClient
		if c, err = client.NewNamespaceClient(client.Options{HostPort: address, Logger: Quiet{}}); err != nil {
			continue
		}
		err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{Namespace: Namespace, WorkflowExecutionRetentionPeriod: durationpb.New(7 * 24 * time.Hour)})
		var exists *serviceerror.NamespaceAlreadyExists
		if err == nil || errors.As(err, &exists) {
			// Describe verifies that the server knows the namespace: its services
			// refresh their caches only from time to time.
			_, err = c.Describe(ctx, Namespace)
		}
		c.Close()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("register the namespace: %w", err)
}

// Quiet is a logger of Temporal's client that drops everything.
type Quiet struct{}

func (Quiet) Debug(string, ...any) {}
func (Quiet) Info(string, ...any)  {}
func (Quiet) Warn(string, ...any)  {}
func (Quiet) Error(string, ...any) {}
