package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestAuditLogIsAppendOnly(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "decision"}}))
	for _, attack := range []string{`UPDATE audit_log SET owner = 'x'`, `DELETE FROM audit_log`} {
		_, err := s.writer.ExecContext(t.Context(), attack)
		require.ErrorContains(t, err, "append-only", attack)
	}
	month := time.Now().Add(-db.AuditKept)
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "old", At: month.Add(-time.Hour)}, {Kind: "young", At: month.Add(time.Hour)}}))
	_, err := s.PruneAudit(t.Context(), time.Now())
	require.ErrorContains(t, err, "append-only", "no retention may be shorter")
	removed := must.Have(s.PruneAudit(t.Context(), month))(t)
	require.EqualValues(t, 1, removed)
	left := must.Have(s.AuditEntries(t.Context(), db.AuditFilter{}, 0, 10))(t)
	require.Len(t, left, 2)
}
