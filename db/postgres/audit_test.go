package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
)

func TestAuditLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "decision"}}))
	for _, attack := range []string{`UPDATE audit_log SET owner = 'x'`, `DELETE FROM audit_log`, `TRUNCATE audit_log`} {
		_, err := s.pool.Exec(t.Context(), attack)
		require.ErrorContains(t, err, "append-only", attack)
	}
	month := time.Now().Add(-db.AuditKept)
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "old", At: month.Add(-time.Hour)}, {Kind: "young", At: month.Add(time.Hour)}}))
	_, err := s.PruneAudit(t.Context(), time.Now())
	require.ErrorContains(t, err, "append-only", "no retention may be shorter")
	removed, err := s.PruneAudit(t.Context(), month)
	require.NoError(t, err)
	require.EqualValues(t, 1, removed)
	left, err := s.AuditEntries(t.Context(), db.AuditFilter{}, 0, 10)
	require.NoError(t, err)
	require.Len(t, left, 2)
}
