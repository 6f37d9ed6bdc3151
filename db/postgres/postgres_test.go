package postgres

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// TestMain lets a test start this program as a process of its own.
func TestMain(m *testing.M) {
	if url := os.Getenv("PALAVER_TEST_OPEN"); url != "" {
		os.Exit(openAndWrite(url))
	}
	os.Exit(pgtest.Main(m))
}

func openStore(t testing.TB, url string) *Store {
	t.Helper()
	s := must.Have(Open(t.Context(), url))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// everything empties all tables but the audit log, which cannot be emptied. For few rows it
// is ten times as fast as TRUNCATE, which makes new files.
const everything = `DELETE FROM conversations; DELETE FROM deleted_conversations; DELETE FROM deleted_turns; DELETE FROM profiles;
	DELETE FROM cancels; DELETE FROM documents; DELETE FROM document_sets; DELETE FROM attachments; DELETE FROM boards; DELETE FROM imports; DELETE FROM connections; DELETE FROM access_keys;
	DELETE FROM spaces; DELETE FROM person_groups; DELETE FROM limits; DELETE FROM anonymous_owners; DELETE FROM claims; DELETE FROM spending; DELETE FROM model_usage`

func TestStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	keepsTheContract(t, url, url)
}

func TestStoreThatKeepsAnswersShowsThemToTheirOwnersOnly(t *testing.T) {
	t.Parallel()
	s := must.Have(OpenWith(t.Context(), pgtest.Database(t), db.OpenOptions{KeepAnswers: true}))(t)
	t.Cleanup(func() { _ = s.Close() })
	dbtest.RunKeeping(t, s)
}

func TestStoreKeepsTheContractThroughATransactionPooler(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	keepsTheContract(t, pgtest.Pooler(t, direct), direct)
}

// keepsTheContract runs the suite at url; direct is the same database without a pooler. All
// tests use the same connections, because a new one takes longer than most tests: Postgres
// reads its catalogs again.
func keepsTheContract(t *testing.T, url, direct string) {
	store := openStore(t, url)
	cleaner := must.Have(pgx.Connect(t.Context(), direct))(t)
	t.Cleanup(func() { _ = cleaner.Close(context.Background()) })
	dbtest.Run(t, func(t *testing.T) db.Store {
		must.Have(cleaner.Exec(t.Context(), everything, pgx.QueryExecModeSimpleProtocol))(t)
		return store
	})
}

// A pooler may run the next statement on another connection, which has not prepared it.
func TestStatementsArePreparedUnlessAPoolerStandsBetween(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	prepared := func(url string) (n int) {
		conn := must.Have(openStore(t, url).pool.Acquire(t.Context()))(t)
		defer conn.Release()
		for range 2 {
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_prepared_statements").Scan(&n))
		}
		return n
	}
	require.Equal(t, 1, prepared(direct))
	require.Zero(t, prepared(pgtest.With(direct, func(u *url.URL) { u.RawQuery += "&default_query_exec_mode=exec" })), "the URL decides")
	require.Zero(t, prepared(pgtest.Pooler(t, direct)))
}
