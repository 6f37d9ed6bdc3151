package pgtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestDatabaseIsEmptyAndDroppedAfterItsTest(t *testing.T) {
	var url string
	t.Run("its test", func(t *testing.T) {
		url = Database(t)
		Exec(t, url, "CREATE TABLE only_here ()")
		other := Database(t)
		require.NotEqual(t, url, other)
		Exec(t, other, "CREATE TABLE only_here ()")
	})
	_, err := pgx.Connect(t.Context(), url)
	require.ErrorContains(t, err, "does not exist")
}

func TestPrivateServerAnswersAndLeavesNoFiles(t *testing.T) {
	t.Setenv("TMPDIR", shared(t))
	url, stop := Private(t)
	Exec(t, url, "CREATE DATABASE here")
	require.NotEmpty(t, folders(t))
	stop()
	_, err := pgx.Connect(t.Context(), url)
	require.ErrorContains(t, err, "refused")
	require.Empty(t, folders(t))
}

// shared is a folder that another user may enter.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "palaver-shared-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// folders lists the data folders of this process's servers.
func folders(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "palaver-postgres-*"))
	require.NoError(t, err)
	return list
}

func TestProxyStallsAndResumes(t *testing.T) {
	w := NewProxy(t, Database(t))
	conn, err := pgx.Connect(t.Context(), w.URL)
	require.NoError(t, err)
	w.Stall()
	answer := make(chan error, 1)
	go func() { answer <- conn.Ping(t.Context()) }()
	select {
	case <-answer:
		t.Fatal("the ping was answered through a stalled proxy")
	default:
	}
	w.Resume()
	require.NoError(t, <-answer)
	w.Cut()
	require.Error(t, conn.Ping(t.Context()))
}
