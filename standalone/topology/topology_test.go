//go:build long

// Package topology runs Palaver as docs/deploy.md describes it and rehearses what
// operators do: a Temporal server on Postgres with an empty dynamic configuration, NATS,
// two API and two worker processes.
package topology

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(temporalVariable) != "" {
		os.Exit(temporalMain())
	}
	os.Exit(pgtest.Main(m))
}

// TestLongTopology restarts every process in turn while people talk, once for each step of
// turning the encryption of histories on, replacing its key and turning it off. It
// disconnects NATS, the database and Temporal, kills a worker, and reads the probes. It makes
// two backups while people talk. It restores the older one, then each database from a
// different one.
func TestLongTopology(t *testing.T) {
	s, err := start(t)
	t.Cleanup(s.stop)
	require.NoError(t, err)
	for _, step := range []struct {
		name string
		run  func(context.Context) (string, error)
	}{
		{"rolling restarts", s.rollEncryption},
		{"probes", s.probes},
		{"backup and restore", s.backup},
	} {
		found, err := step.run(t.Context())
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", step.name, err, s.said())
		}
		require.NoError(t, err)
		t.Logf("%s: %s", step.name, found)
	}
}
