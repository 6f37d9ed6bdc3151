package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// keptAfterClaim are the tables in which a former owner may still have rows: which cookies
// are valid, a token that is encrypted for its owner (package connections moves it), and
// the audit log. Groups are those of an account's token: a person without an account has none.
var keptAfterClaim = map[string]bool{"profiles": true, "connections": true, "audit_log": true, "claims": true, "person_groups": true}

// A new table with an owner has to be in queries/claims.sql.
func TestClaimLeavesNoRowOfTheFormerOwner(t *testing.T) {
	s, ctx := openStore(t, filepath.Join(t.TempDir(), "palaver.db")), t.Context()
	dbtest.Fill(t, s)
	var from string
	require.NoError(t, s.reader.QueryRow("SELECT owner FROM turns LIMIT 1").Scan(&from))
	d := must.Have(s.UserData(ctx, from))(t)
	for _, id := range d.Documents {
		_ = s.FailDocument(ctx, from, id, "unreadable") // documents that are still being processed
	}
	for _, id := range d.Threads {
		require.NoError(t, s.ClaimThread(ctx, from, "account", id))
	}
	require.NoError(t, s.AdvanceImports(ctx, from, "k", chat.ImportStep{State: chat.ImportFailed}, time.Now()))
	_, done, err := s.ClaimRest(ctx, from, "account")
	require.NoError(t, err)
	require.True(t, done)
	tables := 0
	for _, table := range tablesWithOwner(t, s) {
		var left int
		require.NoError(t, s.reader.QueryRow("SELECT count(*) FROM "+table+" WHERE owner = ?", from).Scan(&left))
		if !keptAfterClaim[table] {
			require.Zero(t, left, table)
			tables++
		}
	}
	require.Greater(t, tables, 12)
}

func tablesWithOwner(t *testing.T, s *Store) (names []string) {
	t.Helper()
	rows := must.Have(s.reader.Query("SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'owner' WHERE m.type = 'table'"))(t)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	return names
}
