package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
)

// bloated makes a file in WAL mode with mostly free space, and returns the pool of a program
// that uses it.
func bloated(t testing.TB, megabytes int, setup ...string) (path string, user *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "temporal.db")
	user = must.Have(sql.Open("sqlite", dsn(path, "_pragma", "busy_timeout(10000)")))(t)
	user.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = user.Close() })
	for _, statement := range append(setup, "PRAGMA journal_mode = wal", "PRAGMA synchronous = normal", "CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)") {
		must.Have(user.ExecContext(t.Context(), statement))(t)
	}
	_, err := user.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO rows SELECT i, zeroblob(1 << 18) FROM n`, 4*megabytes)
	require.NoError(t, err)
	_, err = user.ExecContext(t.Context(), "DELETE FROM rows WHERE id % 5 <> 0") // a fifth stays, all over the file
	require.NoError(t, err)
	must.Have(user.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"))(t)
	return path, user
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info := must.Have(os.Stat(path))(t)
	return info.Size()
}

func count(t testing.TB, user *sql.DB) (n int) {
	t.Helper()
	require.NoError(t, user.QueryRowContext(t.Context(), "SELECT count(*) FROM rows WHERE length(data) = 1 << 18").Scan(&n))
	return n
}

func TestShrinkLeavesAFileWithoutAutoVacuumAlone(t *testing.T) {
	t.Parallel()
	_, user := bloated(t, 40) // SQLite's default
	s := shrinking{pool: user}
	freed := must.Have(s.step(t.Context()))(t)
	require.Zero(t, freed)
	require.False(t, s.active, "it does not try again every second")
}

func TestShrinkFreesAllInStepsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	path, user := bloated(t, 40, "PRAGMA auto_vacuum = INCREMENTAL")
	own := must.Have(sql.Open("sqlite", dsn(path, "_pragma", "busy_timeout(10000)")))(t)
	defer func() { _ = own.Close() }()
	own.SetMaxOpenConns(1)
	s, steps := shrinking{pool: own}, 0
	for {
		freed := must.Have(s.step(t.Context()))(t)
		if freed == 0 {
			break
		}
		require.LessOrEqual(t, freed, int64(shrinkPages+100)*4096, "one step, plus the pages that list free pages")
		must.Have(user.ExecContext(t.Context(), "INSERT INTO rows (data) VALUES (zeroblob(1 << 18))"))(t)
		must.Have(user.ExecContext(t.Context(), "DELETE FROM rows WHERE id = last_insert_rowid()"))(t)
		steps++
	}
	require.Greater(t, steps, 10)
	require.Equal(t, 32, count(t, user))
	_, err := user.ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)") // as Sync does
	require.NoError(t, err)
	require.Less(t, fileSize(t, path), int64(10<<20))
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, Backup(t.Context(), path, copied))
	require.NoError(t, Verify(t.Context(), copied))
}

func TestShrinkLeavesAFileWithLittleFreeSpaceAlone(t *testing.T) {
	t.Parallel()
	path, user := bloated(t, 12, "PRAGMA auto_vacuum = INCREMENTAL")
	size := fileSize(t, path)
	s := shrinking{pool: user}
	freed := must.Have(s.step(t.Context()))(t)
	require.Zero(t, freed, "less than 16 MB")
	require.Equal(t, size, fileSize(t, path))
}

// A stopped Shrink leaves the file to others.
func TestShrinkStops(t *testing.T) {
	t.Parallel()
	path, user := bloated(t, 1)
	stop := must.Have(Shrink(path))(t)
	stop()
	stop()
	require.NoError(t, user.Close())
	require.NoError(t, Detach(t.Context(), path), "no connection is left")
}
