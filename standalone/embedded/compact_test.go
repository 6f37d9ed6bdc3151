package embedded

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	palaverdb "github.com/palaver-chat/palaver/db/sqlite"
)

func autoVacuum(t *testing.T, path string) (mode int) {
	t.Helper()
	db, err := openFile(path)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&mode))
	return mode
}

func TestNewDatabaseCanShrinkWhileTheServerRuns(t *testing.T) {
	dir := t.TempDir()
	_, err := prepareStore(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, 2, autoVacuum(t, filepath.Join(dir, "temporal.db")), "incremental")
}

// A database of an earlier release does not give back the space of deleted histories.
func TestDatabaseIsCompactedAtStart(t *testing.T) {
	dir, path := stoppedServer(t)
	db, err := openFile(path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"PRAGMA auto_vacuum = NONE", "VACUUM",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO history_node (shard_id, tree_id, branch_id, node_id, txn_id, data, data_encoding) SELECT 1, x'01', x'01', i, i, zeroblob(1 << 20), 'proto3' FROM n",
		"DELETE FROM history_node WHERE tree_id = x'01'",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, db.Close())
	require.Zero(t, autoVacuum(t, path))
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.Greater(t, before.Size(), int64(40<<20))

	var said bytes.Buffer
	_, err = prepareStore(t.Context(), dir, slog.New(slog.NewTextHandler(&said, nil)))
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, after.Size(), int64(5<<20))
	require.Equal(t, 2, autoVacuum(t, path))
	require.Contains(t, said.String(), "compacted Temporal's database")
	require.NoError(t, checkDatabase(t.Context(), path))

	copied := filepath.Join(t.TempDir(), "temporal.db")
	require.NoError(t, palaverdb.Backup(t.Context(), path, copied))
	require.NoError(t, palaverdb.Verify(t.Context(), copied))
	require.Equal(t, 2, autoVacuum(t, copied), "a restored backup can also shrink")
}
