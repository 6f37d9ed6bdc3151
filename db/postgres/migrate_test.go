package postgres

import (
	"io/fs"
	neturl "net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestMigrationAppliesOnceAndKeepsDataAndSchema(t *testing.T) {
	t.Parallel()
	url, ctx := pgtest.Database(t), t.Context()
	s := openStore(t, url)
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))(t)
	before := schemaOf(t, s)
	require.Contains(t, before, "conversations.title text")
	require.NoError(t, s.Close())

	s = openStore(t, url)
	require.Equal(t, before, schemaOf(t, s))
	must.Have(s.Conversation(ctx, "o", "c"))(t)
	var applied int
	require.NoError(t, s.pool.QueryRow(ctx, "SELECT count(*) FROM goose_db_version WHERE version_id > 0").Scan(&applied))
	files := must.Have(fs.Glob(migrations, "migrations/*.sql"))(t)
	require.Len(t, files, applied)
}

// schemaOf lists all columns, indexes and policies.
func schemaOf(t *testing.T, s *Store) (all string) {
	t.Helper()
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT string_agg(x.line, E'\n' ORDER BY x.line) FROM (
		SELECT concat_ws(' ', table_name || '.' || column_name, data_type, is_nullable, column_default) AS line
			FROM information_schema.columns WHERE table_schema = 'public'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT concat_ws(' ', tablename, policyname, cmd, qual) FROM pg_policies WHERE schemaname = 'public') x`).Scan(&all))
	return all
}

func TestSearchIgnoresCaseOfAllLettersInLocaleC(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	config := must.Have(parse(url))(t)
	plain := config.ConnConfig.Database + "_c"
	pgtest.Exec(t, url, "CREATE DATABASE "+plain+" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { pgtest.Exec(t, url, "DROP DATABASE "+plain) })
	s := must.Have(Open(t.Context(), pgtest.With(url, func(u *neturl.URL) { u.Path = "/" + plain })))(t)
	defer s.Close()
	for _, text := range []string{"Étage ÜBER", "İSTANBUL Iğdır", "ΟΔΟΣ οδος", "УЛИЦА ẞ", "Ǆ Ⅷ Ⓐ Ａ"} {
		var folded string
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT palaver_fold($1)", text).Scan(&folded))
		require.Equal(t, record.Fold(text), folded)
	}
}

func TestNewerSchemaIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	url, ctx := pgtest.Database(t), t.Context()
	s := must.Have(Open(ctx, url))(t)
	defer s.Close()
	require.NoError(t, s.Ping(ctx))
	pgtest.Exec(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	require.NoError(t, s.Ping(ctx), "a rolling upgrade leaves older processes running")

	_, err := Open(ctx, url)
	var newer *db.NewerSchemaError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, int64(9999), newer.Found)
	allowed := must.Have(OpenWith(ctx, url, db.OpenOptions{AllowNewerSchema: true, Connections: 3}))(t)
	require.Equal(t, int32(3), allowed.pool.Config().MaxConns)
	require.NoError(t, allowed.Close())

	pgtest.Exec(t, url, "DELETE FROM goose_db_version WHERE version_id >= (SELECT max(version_id) FROM goose_db_version WHERE version_id < 9999)")
	require.ErrorContains(t, s.Ping(ctx), "palaver migrate")
}
