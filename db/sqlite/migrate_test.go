package sqlite

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestMigrationAppliesOnceAndKeepsDataAndSchema(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "palaver.db"), t.Context()
	s := openStore(t, path)
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))(t)
	before := schemaOf(t, s)
	require.Contains(t, before, "conversations")
	require.NoError(t, s.Close())

	s = openStore(t, path)
	require.Equal(t, before, schemaOf(t, s))
	must.Have(s.Conversation(ctx, "o", "c"))(t)
	var applied int
	require.NoError(t, s.reader.QueryRowContext(ctx, "SELECT count(*) FROM goose_db_version WHERE version_id > 0").Scan(&applied))
	files := must.Have(fs.Glob(migrations, "migrations/*.sql"))(t)
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
	must.Have(s.writer.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)"))(t)
	require.NoError(t, s.Ping(ctx), "a rolling upgrade leaves older processes running")

	_, err := Open(ctx, path)
	var newer *db.NewerSchemaError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, int64(9999), newer.Found)
	allowed := must.Have(OpenWith(ctx, path, db.OpenOptions{AllowNewerSchema: true}))(t)
	require.NoError(t, allowed.Close())
}

func TestPingRefusesAnOlderSchema(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "palaver.db"), t.Context()
	s := openStore(t, path)
	must.Have(s.writer.ExecContext(ctx, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)"))(t)
	require.ErrorContains(t, s.Ping(ctx), "palaver migrate")
}
