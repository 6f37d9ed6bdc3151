package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// TestCommitsAreSyncedWithinASecond reads the database file without its write-ahead
// log: it contains only what was synced.
func TestCommitsAreSyncedWithinASecond(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	s := must.Have(Open(t.Context(), path))(t)
	defer func() { require.NoError(t, s.Close()) }()
	_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c", ClientTurnID: "t", StreamRunID: "t", Content: chat.Content{Message: "hello"}})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		alone := filepath.Join(t.TempDir(), "palaver.db")
		b := must.Have(os.ReadFile(path))(t)
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
