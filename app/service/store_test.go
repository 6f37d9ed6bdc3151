package service_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestDatabaseURLSelectsPostgres(t *testing.T) {
	cfg := settings(t)
	cfg.DatabaseURL = pgtest.Database(t)
	store := must.Have(service.OpenStore(t.Context(), cfg))(t)
	defer func() { _ = store.Close() }()
	require.IsType(t, &postgres.Store{}, store)

	cfg.MemoryBackend = "sqlite"
	file := must.Have(service.OpenStore(t.Context(), cfg))(t)
	defer func() { _ = file.Close() }()
	require.IsType(t, &sqlite.Store{}, file)
}

func TestUnreachableDatabaseIsAOneLineErrorThatNamesTheSetting(t *testing.T) {
	cfg := settings(t)
	cfg.DatabaseURL = "postgres://u:geheim@127.0.0.1:1/d"
	_, err := service.OpenStore(t.Context(), cfg)
	require.EqualError(t, err, "open the database of DATABASE_URL: cannot connect to 127.0.0.1:1: connect: connection refused")
}
