package postgres

import (
	"io/fs"
	neturl "net/url"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

// firstRelease is a thread as version 2 of the schema holds it.
const firstRelease = `INSERT INTO conversations (id, owner, title, title_folded, listed, created_at, last_message_at) VALUES ('c', 'o', 'T', 't', true, 1, 1);
INSERT INTO turns (id, owner, thread_id, parent, place, status, created_at, settled_at, client_turn_id, stream_run_id, content_hash, registry, content)
VALUES ('t', 'o', 'c', 'root', 1, 'completed', 1, 2, 'ct', '', 'h', '["d"]', '{"message":"hello","agent":"documents"}');
INSERT INTO messages (turn_id, n, role, created_at, content, folded, metadata) VALUES ('t', 0, 'user', 1, 'hello', 'hello', '');
INSERT INTO turn_events (turn_id, n, event) VALUES ('t', 1, '{"n":1,"type":"response"}');
INSERT INTO messages (turn_id, n, role, created_at, content, folded, metadata) VALUES ('t', 1, 'assistant', 2, 'An Étage', 'an étage', '');
INSERT INTO turn_texts (turn_id, key, text) VALUES ('t', 'piece:1', 'An Étage');
INSERT INTO turns (id, owner, thread_id, parent, status, created_at, client_turn_id, stream_run_id, content_hash, content)
VALUES ('open', 'o', 'c', 't', 'running', 3, 'co', '', 'h', '{"message":"and then","agent":"documents"}');
INSERT INTO turn_texts (turn_id, key, text) VALUES ('open', 'piece:1', 'Then');
INSERT INTO documents (id, owner, title, status, source_type, external_id, bytes, created_at) VALUES ('d', 'o', 'D', 'ready', 'pdf', '', 1, 1);
INSERT INTO deleted_conversations (id, deleted_at) VALUES ('gone', 1)`

// ofTheReleaseBefore is a document that a process of it writes after the migration.
const ofTheReleaseBefore = `INSERT INTO documents (id, owner, title, status, source_type, external_id, bytes, created_at) VALUES ('late', 'o', 'L', 'ready', 'html', '', 1, 1)`

const leftovers = `SELECT (SELECT count(*) FROM turn_texts) + (SELECT count(*) FROM messages WHERE folded <> '')`

func TestMigrationKeepsTheDataOfTheFirstRelease(t *testing.T) {
	t.Parallel()
	url, ctx := pgtest.Database(t), t.Context()
	config, err := parse(url)
	require.NoError(t, err)
	pool := stdlib.OpenDB(*config.ConnConfig)
	folder, err := fs.Sub(migrations, "migrations")
	require.NoError(t, err)
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, folder, goose.WithDisableGlobalRegistry(true))
	require.NoError(t, err)
	_, err = provider.UpTo(ctx, 2)
	require.NoError(t, err)
	require.NoError(t, pool.Close())
	pgtest.Exec(t, url, firstRelease)

	s := openStore(t, url)
	h, err := s.History(ctx, "o", "c", "", "", 10)
	require.NoError(t, err)
	require.Equal(t, "t", h.Head)
	require.Len(t, h.Messages, 2)
	found, err := s.ListConversations(ctx, "o", "ÉTAGE", "", 10)
	require.NoError(t, err)
	require.Len(t, found.Items, 1, "search finds messages without their folded copies")
	texts, err := s.Texts(ctx, "o", "open")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"piece:1": "Then"}, texts)
	var left int
	require.NoError(t, s.pool.QueryRow(ctx, leftovers).Scan(&left))
	require.Equal(t, 1, left, "only the open turn keeps texts and folded copies")
	tools, err := s.Approvals(ctx, "o", "c", "t")
	require.NoError(t, err)
	require.Empty(t, tools)
	turn := chat.Turn{ID: "t2", Owner: "o", ThreadID: "c", Content: chat.Content{Message: "more"}}
	_, _, _, err = s.InsertTurn(ctx, turn)
	require.NoError(t, err)
	_, err = s.Settle(ctx, db.Settlement{Owner: "o", ThreadID: "c", TurnID: "t2", Parent: "t", Status: chat.TurnCompleted,
		Approvals: []string{"draw"}, Terminal: chat.Event{N: 1}})
	require.NoError(t, err)
	tools, err = s.Approvals(ctx, "o", "c", "t2")
	require.NoError(t, err)
	require.Equal(t, []string{"draw"}, tools)
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: "a", Owner: "o", ThreadID: "c"}, nil))
	later, err := s.TurnsAfter(ctx, "o", "c", 1, 10)
	require.NoError(t, err)
	require.Len(t, later, 1, "places continue after the migrated ones")
	require.Equal(t, "t2", later[0].ID)
	_, err = s.CreateConversation(ctx, chat.Conversation{ID: "gone", Owner: "o"})
	require.ErrorIs(t, err, db.ErrNotFound, "the former owner is not known")
	pgtest.Exec(t, url, ofTheReleaseBefore)
	for id, format := range map[string]string{"d": "pdf", "late": "html"} {
		d, err := s.Document(ctx, "o", id)
		require.NoError(t, err)
		require.Equal(t, format, d.Format)
		require.Equal(t, chat.SourceUpload, d.SourceType)
	}
}

func TestSearchIgnoresCaseOfAllLettersInLocaleC(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	config, err := parse(url)
	require.NoError(t, err)
	plain := config.ConnConfig.Database + "_c"
	pgtest.Exec(t, url, "CREATE DATABASE "+plain+" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() { pgtest.Exec(t, url, "DROP DATABASE "+plain) })
	s, err := Open(t.Context(), pgtest.With(url, func(u *neturl.URL) { u.Path = "/" + plain }))
	require.NoError(t, err)
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
	s, err := Open(ctx, url)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Ping(ctx))
	pgtest.Exec(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	require.NoError(t, s.Ping(ctx), "a rolling upgrade leaves older processes running")

	_, err = Open(ctx, url)
	var newer *db.NewerSchemaError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, int64(9999), newer.Found)
	allowed, err := OpenWith(ctx, url, db.OpenOptions{AllowNewerSchema: true, Connections: 3})
	require.NoError(t, err)
	require.Equal(t, int32(3), allowed.pool.Config().MaxConns)
	require.NoError(t, allowed.Close())

	pgtest.Exec(t, url, "DELETE FROM goose_db_version WHERE version_id >= (SELECT max(version_id) FROM goose_db_version WHERE version_id < 9999)")
	require.ErrorContains(t, s.Ping(ctx), "palaver migrate")
}
