package embedded

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	_, err := prepareStore(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, 2, autoVacuum(t, filepath.Join(dir, "temporal.db")), "incremental")
}
