package admin_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/admin"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestWholeInstallationMovesFromSQLiteToPostgres(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	from := must.Have(sqlite.Open(t.Context(), path))(t)
	defer func() { _ = from.Close() }()
	filled := dbtest.Fill(t, from)

	url := pgtest.Database(t)
	var out bytes.Buffer
	require.NoError(t, admin.MoveStore(t.Context(), "sqlite:"+path, url, &out))
	assert.Regexp(t, `(?m)^conversations +2$`, out.String())
	to := must.Have(postgres.Open(t.Context(), url))(t)
	defer func() { _ = to.Close() }()
	require.Equal(t, filled.Snapshot(t, from), filled.Snapshot(t, to))
	filled.AcceptsNewRows(t, to)

	require.ErrorIs(t, admin.MoveStore(t.Context(), "sqlite:"+path, url, io.Discard), postgres.ErrNotEmpty)
	require.NoError(t, from.PutProfile(t.Context(), "o", chat.Profile{}), "the SQLite file still works")
}

func TestInvalidMoveIsRefusedBeforeAnythingIsCreated(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent.db")
	for _, c := range []struct{ from, to, says string }{
		{"palaver.db", "postgres://h/d", "--from: use sqlite:PATH"},
		{"sqlite:", "postgres://h/d", "--from: use sqlite:PATH"},
		{"sqlite:" + absent, "", "--to: use postgres://"},
		{"sqlite:" + absent, "sqlite:other.db", "--to: use postgres://"},
		{"sqlite:" + absent, "postgres://h/d", "no such file"},
	} {
		require.ErrorContains(t, admin.MoveStore(t.Context(), c.from, c.to, io.Discard), c.says)
	}
	require.NoFileExists(t, absent)
}
