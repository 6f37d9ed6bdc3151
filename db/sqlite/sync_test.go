package sqlite

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/testlog"
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

// A backup reads for minutes in one transaction. Meanwhile a checkpoint syncs nothing.
func TestCommitsAreSyncedWhileABackupReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	reader, err := s.reader.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Rollback()) }()
	var n int
	require.NoError(t, reader.QueryRow("SELECT count(*) FROM turns").Scan(&n))

	var synced atomic.Int64 // bytes of the log that were synced
	before := syncFile
	syncFile = func(f *os.File) error {
		about, err := f.Stat()
		if err == nil && f.Name() == path+"-wal" {
			synced.Store(about.Size())
		}
		return errors.Join(err, before(f))
	}
	t.Cleanup(func() { syncFile = before })
	_, _, _, err = s.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c", ClientTurnID: "t", StreamRunID: "t", Content: chat.Content{Message: "hello"}})
	require.NoError(t, err)
	about, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return synced.Load() >= about.Size() }, time.Minute, 10*time.Millisecond)
}

func TestFailedSyncIsLoggedOnceUntilItWorksAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	s := must.Have(Open(t.Context(), path))(t)
	defer func() { require.NoError(t, s.Close()) }()
	elsewhere := filepath.Join(t.TempDir(), "palaver.db")
	require.NoError(t, os.Mkdir(elsewhere+"-wal", 0o700)) // cannot be opened for writing
	var said testlog.Buffer
	sync := &syncer{path: elsewhere, log: slog.New(slog.NewTextHandler(&said, nil))}
	sync.sync(t.Context(), s.reader)
	sync.sync(t.Context(), s.reader)
	require.Equal(t, 1, strings.Count(said.String(), "syncing the database failed"))
	require.NoError(t, os.Remove(elsewhere+"-wal"))
	sync.sync(t.Context(), s.reader)
	sync.sync(t.Context(), s.reader)
	require.Equal(t, 1, strings.Count(said.String(), "works again"))
}

func TestSyncReturnsOnceTheLogIsOnTheDisk(t *testing.T) {
	s := must.Have(Open(t.Context(), filepath.Join(t.TempDir(), "palaver.db")))(t)
	defer func() { require.NoError(t, s.Close()) }()
	s.stopSync()
	synced := 0
	before := syncFile
	syncFile = func(f *os.File) error {
		synced++
		return before(f)
	}
	t.Cleanup(func() { syncFile = before })
	require.NoError(t, s.PutProfile(t.Context(), "o", chat.Profile{Industry: "law"}))
	require.NoError(t, s.Sync(t.Context()))
	require.Equal(t, 1, synced)
}
