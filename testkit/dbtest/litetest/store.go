package litetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db/sqlite"
)

// Store opens an empty store with its own file. It is closed when t ends.
func Store(t testing.TB) *sqlite.Store {
	t.Helper()
	empty, err := migrated()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "palaver.db")
	require.NoError(t, os.WriteFile(path, empty, 0o600))
	s, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// migrated returns an empty database with the current schema. It is made once, because
// migrating takes longer than most tests.
var migrated = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "palaver-litetest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "palaver.db")
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(path)
})
