package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/backup"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/must"
)

var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// folder makes a data folder with one open database.
func folder(t *testing.T) (string, *sqlite.Store) {
	t.Helper()
	dir := t.TempDir()
	s := must.Have(sqlite.Open(t.Context(), filepath.Join(dir, backup.Palaver)))(t)
	t.Cleanup(func() { _ = s.Close() })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cookie_secret"), []byte("the secret"), 0o600))
	return dir, s
}

func create(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	must.Have(backup.Create(t.Context(), dir, path, "v1", at))(t)
	return path
}

func industry(t *testing.T, dir, owner string) string {
	t.Helper()
	s := must.Have(sqlite.Open(t.Context(), filepath.Join(dir, backup.Palaver)))(t)
	defer s.Close()
	p := must.Have(s.Profile(t.Context(), owner))(t)
	return p.Industry
}

func TestBackupOfAnOpenDatabaseIsCompleteAndPrivate(t *testing.T) {
	dir, s := folder(t)
	require.NoError(t, s.PutProfile(t.Context(), "ann", chat.Profile{Industry: "banking"}))
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = s.PutProfile(t.Context(), fmt.Sprint(i), chat.Profile{Industry: "x"})
			}
		}
	})
	path := create(t, dir)
	close(stop)
	writing.Wait()
	info := must.Have(os.Stat(path))(t)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	target := t.TempDir()
	m, replaced, err := backup.Restore(t.Context(), path, target, "", at)
	require.NoError(t, err)
	require.Empty(t, replaced)
	require.Equal(t, "v1", m.Release)
	require.Equal(t, "banking", industry(t, target, "ann"))
	secret := must.Have(os.ReadFile(filepath.Join(target, "cookie_secret")))(t)
	require.Equal(t, "the secret", string(secret))
	left := must.Have(filepath.Glob(filepath.Join(filepath.Dir(path), ".palaver-*")))(t)
	require.Empty(t, left)
}

func TestBackupDoesNotOverwrite(t *testing.T) {
	dir, _ := folder(t)
	path := create(t, dir)
	require.ErrorIs(t, must.ErrOf(backup.Create(t.Context(), dir, path, "v1", at)), os.ErrExist)
	require.FileExists(t, path)
	_, err := backup.Create(t.Context(), t.TempDir(), path+"2", "v1", at)
	require.ErrorContains(t, err, "no database to back up")
	require.NoFileExists(t, path+"2")
}

func TestRestoreRefusesAFolderInUseAndKeepsWhatItReplaces(t *testing.T) {
	dir, s := folder(t)
	require.NoError(t, s.PutProfile(t.Context(), "ann", chat.Profile{Industry: "banking"}))
	path := create(t, dir)
	require.NoError(t, s.PutProfile(t.Context(), "ann", chat.Profile{Industry: "farming"}))

	_, _, err := backup.Restore(t.Context(), path, dir, "", at)
	require.ErrorIs(t, err, sqlite.ErrInUse)
	p := must.Have(s.Profile(t.Context(), "ann"))(t)
	require.Equal(t, "farming", p.Industry, "nothing was changed")

	require.NoError(t, s.Close())
	_, replaced, err := backup.Restore(t.Context(), path, dir, "", at)
	require.NoError(t, err)
	require.Equal(t, "banking", industry(t, dir, "ann"))
	require.Equal(t, "farming", industry(t, replaced, "ann"))
}

func TestRestoreReplacesADamagedDatabase(t *testing.T) {
	dir, s := folder(t)
	require.NoError(t, s.PutProfile(t.Context(), "ann", chat.Profile{Industry: "banking"}))
	path := create(t, dir)
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, backup.Palaver), []byte("no database at all, and long enough to be read as one"), 0o600))
	_, _, err := backup.Restore(t.Context(), path, dir, backup.Palaver, at)
	require.NoError(t, err)
	require.Equal(t, "banking", industry(t, dir, "ann"))
	_, _, err = backup.Restore(t.Context(), path, dir, backup.Temporal, at)
	require.ErrorContains(t, err, "has no temporal.db")
}

func TestRestoreRefusesADamagedArchive(t *testing.T) {
	dir, _ := folder(t)
	raw := must.Have(os.ReadFile(create(t, dir)))(t)
	for name, damaged := range map[string][]byte{
		"cut":        raw[:len(raw)/2],
		"no archive": []byte("hello"),
		"changed":    append(append([]byte{}, raw[:len(raw)/2]...), append([]byte{raw[len(raw)/2] ^ 1}, raw[len(raw)/2+1:]...)...),
	} {
		path := filepath.Join(t.TempDir(), "backup")
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		target := t.TempDir()
		_, _, err := backup.Restore(t.Context(), path, target, "", at)
		require.ErrorContains(t, err, "is not a complete backup", name)
		left := must.Have(os.ReadDir(target))(t)
		require.Empty(t, left, name)
	}
}
