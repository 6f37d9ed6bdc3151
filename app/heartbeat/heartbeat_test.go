package heartbeat

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
)

func only(t *testing.T, dir string) string {
	t.Helper()
	found := must.Have(filepath.Glob(filepath.Join(dir, Pattern)))(t)
	require.Len(t, found, 1)
	return found[0]
}

func age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	require.NoError(t, os.Chtimes(path, then, then))
}

func TestDeadWorkerIsReportedWithinFifteenSeconds(t *testing.T) {
	require.LessOrEqual(t, MaxAge+period, 15*time.Second)
	dir := t.TempDir()
	require.ErrorIs(t, Check(dir), ErrNone)
	stop := must.Have(Start(dir, slog.New(slog.DiscardHandler)))(t)
	require.NoError(t, Check(dir))
	file := only(t, dir)
	info := must.Have(os.Stat(file))(t)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	stop()
	require.NoError(t, Check(dir))
	age(t, file, MaxAge+time.Second)
	require.ErrorContains(t, Check(dir), "the last heartbeat of a worker on this host is 11s old")
}

func TestLivingWorkerRenewsItsHeartbeatFile(t *testing.T) {
	dir := t.TempDir()
	stop := must.Have(Start(dir, slog.New(slog.DiscardHandler)))(t)
	defer stop()
	file := only(t, dir)
	age(t, file, time.Minute)
	require.Error(t, Check(dir))
	require.Eventually(t, func() bool { return Check(dir) == nil }, time.Minute, 50*time.Millisecond)
	require.NoError(t, os.Remove(file))
	require.Eventually(t, func() bool { return Check(dir) == nil }, time.Minute, 50*time.Millisecond)
}

func TestStartRemovesFilesOfDeadWorkersAndKeepsThoseOfOtherHosts(t *testing.T) {
	dir := t.TempDir()
	host := must.Have(os.Hostname())(t)
	dead, other, old := "worker-"+host+"-dead.alive", "worker-elsewhere-1.alive", "worker-old-1.alive"
	for name, by := range map[string]time.Duration{dead: time.Minute, other: time.Minute, old: 2 * time.Hour} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		age(t, filepath.Join(dir, name), by)
	}
	require.Error(t, Check(dir))
	stop := must.Have(Start(dir, slog.New(slog.DiscardHandler)))(t)
	defer stop()
	require.NoError(t, Check(dir))
	require.NoFileExists(t, filepath.Join(dir, dead))
	require.NoFileExists(t, filepath.Join(dir, old))
	require.FileExists(t, filepath.Join(dir, other))
}
