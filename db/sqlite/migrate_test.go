package sqlite

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

func TestMigrationAppliesOnceAndKeepsDataAndSchema(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "palaver.db"), t.Context()
	s := openStore(t, path)
	_, err := s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"})
	require.NoError(t, err)
	before := schemaOf(t, s)
	require.Contains(t, before, "conversations")
	require.NoError(t, s.Close())

	s = openStore(t, path)
	require.Equal(t, before, schemaOf(t, s))
	_, err = s.Conversation(ctx, "o", "c")
	require.NoError(t, err)
	var applied int
	require.NoError(t, s.reader.QueryRowContext(ctx, "SELECT count(*) FROM goose_db_version WHERE version_id > 0").Scan(&applied))
	files, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	require.Len(t, files, applied)
}

// schemaOf returns the SQL of all tables, indexes and triggers.
func schemaOf(t *testing.T, s *Store) (all string) {
	t.Helper()
	require.NoError(t, s.reader.QueryRowContext(t.Context(), "SELECT group_concat(sql, ';' ORDER BY name) FROM sqlite_master").Scan(&all))
	return all
}

func TestNewerSchemaIsRefusedUnlessAllowed(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "palaver.db"), t.Context()
	s := openStore(t, path)
	require.NoError(t, s.Ping(ctx))
	_, err := s.writer.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	require.NoError(t, err)
	require.NoError(t, s.Ping(ctx), "a rolling upgrade leaves older processes running")

	_, err = Open(ctx, path)
	var newer *db.NewerSchemaError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, int64(9999), newer.Found)
	allowed, err := OpenWith(ctx, path, db.OpenOptions{AllowNewerSchema: true})
	require.NoError(t, err)
	require.NoError(t, allowed.Close())
}

func TestPingRefusesAnOlderSchema(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "palaver.db"), t.Context()
	s := openStore(t, path)
	_, err := s.writer.ExecContext(ctx, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	require.NoError(t, err)
	require.ErrorContains(t, s.Ping(ctx), "palaver migrate")
}
