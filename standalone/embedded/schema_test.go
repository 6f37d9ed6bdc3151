package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func TestDatabaseIsJudgedByItsStampAndTables(t *testing.T) {
	ours := semver.MustParse("1.32.1")
	for _, c := range []struct {
		stamp   int
		same    bool
		want    verdict
		problem string // a part of it; "": none
	}{
		{1032001, true, use, ""},
		{1032000, true, stampIt, ""},
		{1032007, true, use, ""}, // a patch may be rolled back
		{1032001, false, 0, "other tables"},
		{0, true, 0, "has no version"},
		{0, false, 0, "has no version"},
		{1031005, true, migrateIt, ""},
		{1031000, false, migrateIt, ""},
		{1030000, true, 0, "start the releases in between first"},
		{1033000, true, 0, "created by Temporal 1.33.0, and this release of Palaver has 1.32.1: start the newer release"},
		{2031000, false, 0, "start the newer release"},
	} {
		got, problem := judge(c.stamp, ours, c.same)
		require.Equal(t, c.want, got, "%+v", c)
		if c.problem == "" {
			require.Empty(t, problem, "%+v", c)
		} else {
			require.Contains(t, problem, c.problem, "%+v", c)
		}
	}
	require.Equal(t, ours, versionOf(stampOf(ours)))
}

// stoppedServer returns the data folder of a server that was stopped in the middle
// of a workflow. It is a copy: the server's SQLite plugin keeps its connections
// until the process ends.
func stoppedServer(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Start(t.Context(), Options{Dir: dir})
	require.NoError(t, err)
	c := dial(t, s)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "open", TaskQueue: "q"}, waits)
	require.NoError(t, err)
	s.Stop()
	path = copied(t, filepath.Join(dir, "temporal.db"))
	change(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
	return filepath.Dir(path), path
}

// copied copies a database and its write-ahead log, as a killed process would leave them.
func copied(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+end, b, 0o600))
	}
	return to
}

// resume starts a server on a stoppedServer folder and completes the workflow.
func resume(t *testing.T, dir string) {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: dir})
	require.NoError(t, err)
	defer s.Stop()
	c := dial(t, s)
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflow(waits)
	require.NoError(t, w.Start())
	defer w.Stop()
	require.NoError(t, c.SignalWorkflow(t.Context(), "open", "", "go", "on"))
	require.NoError(t, c.GetWorkflow(t.Context(), "open", "").Get(t.Context(), nil))
}

func waits(ctx workflow.Context) error {
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	return nil
}

func dial(t *testing.T, s *Server) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: s.TemporalAddress(), Namespace: Namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := openFile(path)
	require.NoError(t, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	require.NoError(t, db.Close())
}

func stampIn(t *testing.T, path string) int {
	t.Helper()
	stamp, _, err := readDatabase(t.Context(), path)
	require.NoError(t, err)
	return stamp
}

func TestNewDatabaseIsStamped(t *testing.T) {
	_, path := stoppedServer(t)
	require.Equal(t, stampOf(serverVersion), stampIn(t, path))
}

// older turns a database into one of the previous version: without a new table and
// column, and with a table and a column that were removed since.
func older(t *testing.T, path string) semver.Version {
	t.Helper()
	before := serverVersion
	before.Minor--
	change(t, path,
		"DROP TABLE current_chasm_executions",
		"CREATE TABLE forgotten (id INT)", "INSERT INTO forgotten VALUES (1)",
		"ALTER TABLE current_executions DROP COLUMN start_time",
		"ALTER TABLE cluster_metadata_info ADD COLUMN forgotten INT",
		fmt.Sprintf("PRAGMA user_version = %d", stampOf(before)))
	return before
}

func TestDatabaseOfThePreviousVersionIsMigratedAndKept(t *testing.T) {
	dir, path := stoppedServer(t)
	before := older(t, path)
	resume(t, dir)
	stamp, tables, err := readDatabase(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, stampOf(serverVersion), stamp)
	expected, err := expectedTables(t.Context())
	require.NoError(t, err)
	require.Equal(t, expected, tables)
	kept := filepath.Join(dir, "temporal-"+before.String()+".db")
	require.Equal(t, stampOf(before), stampIn(t, kept))
}

func TestMigrationIncludesTheWriteAheadLog(t *testing.T) {
	_, path := stoppedServer(t)
	before := older(t, path)
	writer, err := openFile(path)
	require.NoError(t, err)
	for _, s := range []string{"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "INSERT INTO queue_metadata VALUES (77, 'x', 'y', 1)"} {
		_, err := writer.Exec(s)
		require.NoError(t, err, s)
	}
	killed := copied(t, path)
	require.NoError(t, writer.Close())
	require.NoError(t, checkDatabase(t.Context(), killed))
	for _, file := range []string{killed, strings.TrimSuffix(killed, ".db") + "-" + before.String() + ".db"} {
		var n int
		db, err := openFile(file)
		require.NoError(t, err)
		require.NoError(t, db.QueryRow("SELECT count(*) FROM queue_metadata WHERE queue_type = 77").Scan(&n))
		require.NoError(t, db.Close())
		require.Equal(t, 1, n, file)
	}
}

func TestUnusableDatabaseIsRejectedInOneLineAndUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		says  string
	}{
		"of a newer release": {func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 1099000")
		}, "created by Temporal 1.99.0, and this release of Palaver has " + serverVersion.String() + ": start the newer release"},
		"of a much older release": {func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 1020003")
		}, "created by Temporal 1.20.3"},
		"of an unknown release": {func(t *testing.T, path string) {
			change(t, path, "PRAGMA user_version = 0", "DROP TABLE queues")
		}, "has no version"},
		"with other tables than its stamp says": {func(t *testing.T, path string) {
			change(t, path, "DROP TABLE queues")
		}, "other tables"},
		"truncated": {func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, 20_000))
		}, "is damaged"},
		"overwritten": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
		}, "is damaged"},
		"with a page of zeros": {func(t *testing.T, path string) {
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = file.WriteAt(make([]byte, 4096), 8*4096)
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}, "is damaged"},
		"empty": {func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, 0))
		}, "has no version"},
		"that cannot be migrated": {func(t *testing.T, path string) {
			older(t, path)
			change(t, path, "ALTER TABLE queue_messages DROP COLUMN message_payload",
				"INSERT INTO queue_messages (queue_type, queue_name, queue_partition, message_id, message_encoding) VALUES (1, 'q', 1, 1, 'x')")
		}, "cannot be migrated"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := stoppedServer(t)
			c.spoil(t, path)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = Start(t.Context(), Options{Dir: dir})
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "\n")
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, string(before) == string(after), "the file is unchanged")
		})
	}
}

func TestNewDatabaseIgnoresAnOldWriteAheadLog(t *testing.T) {
	dir, path := stoppedServer(t)
	// The database was moved away, but not its write-ahead log.
	wal := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite", wal)
	require.NoError(t, err)
	for _, s := range []string{"PRAGMA journal_mode = wal", "CREATE TABLE other (id INT)"} {
		_, err := db.Exec(s)
		require.NoError(t, err)
	}
	left, err := os.ReadFile(wal + "-wal")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NotEmpty(t, left)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path+"-wal", left, 0o600))
	s, err := Start(context.Background(), Options{Dir: dir})
	require.NoError(t, err)
	s.Stop()
	require.Equal(t, stampOf(serverVersion), stampIn(t, path))
}

// TestAcknowledgedWritesReachTheDatabaseFile reads the database file without its
// write-ahead log: its contents are on disk.
func TestAcknowledgedWritesReachTheDatabaseFile(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(t.Context(), Options{Dir: dir})
	require.NoError(t, err)
	defer s.Stop()
	_, err = dial(t, s).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "open", TaskQueue: "q"}, waits)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "temporal.db"))
		require.NoError(t, err)
		alone := filepath.Join(t.TempDir(), "temporal.db")
		require.NoError(t, os.WriteFile(alone, b, 0o600))
		db, err := openFile(alone)
		require.NoError(t, err)
		defer func() { _ = db.Close() }()
		n := 0
		err = db.QueryRow("SELECT count(*) FROM current_executions WHERE workflow_id = 'open'").Scan(&n)
		return err == nil && n == 1
	}, time.Minute, 100*time.Millisecond)
}
