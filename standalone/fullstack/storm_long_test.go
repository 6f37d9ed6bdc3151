//go:build long

package fullstack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/storm"
)

// TestLongShortStorm is the short form of make storm. Its limits allow
// for a slow machine; the long form measures.
func TestLongShortStorm(t *testing.T) {
	for _, c := range []struct {
		store    string
		database func(t *testing.T) string
		faults   []string
	}{
		{"SQLite", func(*testing.T) string { return "" },
			[]string{"kill everything during a backup", "fill the disk", "hold the database's write lock", "freeze a worker", "cut Temporal off for a moment"}},
		{"Postgres", func(t *testing.T) string { return pgtest.Database(t) },
			[]string{"kill all workers and APIs", "silence the database", "silence everything for a worker", "freeze an API process"}},
	} {
		t.Run(c.store, func(t *testing.T) {
			path, standalone, roles := stacktest.Programs(t)
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			report, err := storm.Run(ctx, storm.Options{
				Server:  storm.Program{Path: path, Env: []string{standalone}},
				Palaver: storm.Program{Path: path, Env: []string{roles}},
				Dir:     dir, DatabaseURL: c.database(t),
				Threads: 6, Workers: 2, APIs: 2, Rounds: len(c.faults), Only: c.faults, Seed: 4,
				Calm: 2 * time.Second, Fault: 3 * time.Second, LongFault: 3 * time.Second,
				// A frozen worker's attempts time out after 4 s. On a busy machine an outage
				// of 2 s and a late heartbeat add up to 4 s.
				Freeze: 6 * time.Second, Hiccup: 1200 * time.Millisecond, ClocksApart: 6 * time.Second,
				MaxGap: time.Minute, Timeout: 3 * time.Minute, Progress: t.Output(),
			})
			if err != nil || !report.OK() {
				showLogs(t, filepath.Join(dir, "logs"))
			}
			require.NoError(t, err)
			require.NoError(t, report.Write(t.Output()))
			require.True(t, report.OK())
		})
	}
}

// showLogs prints the errors that the processes logged.
func showLogs(t *testing.T, dir string) {
	files := must.Have(filepath.Glob(filepath.Join(dir, "*.log")))(t)
	for _, file := range files {
		b := must.Have(os.ReadFile(file))(t)
		for line := range strings.Lines(string(b)) {
			if !strings.Contains(line, "level=INFO") {
				t.Logf("%s: %s", filepath.Base(file), strings.TrimSuffix(line, "\n"))
			}
		}
	}
}
