package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
)

func TestStoreKeepsTheContract(t *testing.T) {
	dbtest.Run(t, func(t *testing.T) db.Store { return litetest.Store(t) })
}

func TestStoreThatKeepsAnswersShowsThemToTheirOwnersOnly(t *testing.T) {
	s, err := sqlite.OpenWith(t.Context(), filepath.Join(t.TempDir(), "palaver.db"), db.OpenOptions{KeepAnswers: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	dbtest.RunKeeping(t, s)
}
