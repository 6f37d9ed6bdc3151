package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
)

// TestCommitsAreSyncedWithinASecond reads the database file without its write-ahead
// log: it contains only what was synced.
func TestCommitsAreSyncedWithinASecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, _, _, err = s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c", ClientTurnID: "t", StreamRunID: "t", Content: chat.Content{Message: "hello"}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		alone := filepath.Join(t.TempDir(), "palaver.db")
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(alone, b, 0o600))
		cut, err := Open(t.Context(), alone)
		if err != nil {
			return false // read while it was written
		}
		defer func() { _ = cut.Close() }()
		_, err = cut.Turn(t.Context(), "o", "t")
		return err == nil
	}, time.Minute, 100*time.Millisecond)
}
