package postgres

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/dbtest"
	"github.com/palaver-chat/palaver/internal/dbtest/pgtest"
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
	s, err := Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// everything empties all tables.
const everything = `TRUNCATE conversations, deleted_conversations, deleted_turns, profiles, cancels, documents, imports, connections, boards, document_sets, attachments, limits, anonymous_owners, spending CASCADE`

func TestStoreKeepsTheContract(t *testing.T) {
	url := pgtest.Database(t)
	keepsTheContract(t, url, url)
}

func TestStoreKeepsTheContractThroughATransactionPooler(t *testing.T) {
	direct := pgtest.Database(t)
	keepsTheContract(t, pgtest.Pooler(t, direct), direct)
}

// keepsTheContract runs the suite at url; direct is the same database without a pooler.
func keepsTheContract(t *testing.T, url, direct string) {
	openStore(t, url)
	dbtest.Run(t, func(t *testing.T) db.Store {
		pgtest.Exec(t, direct, everything)
		return openStore(t, url)
	})
}
