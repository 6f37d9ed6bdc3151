package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
)

func TestAuditLogIsAppendOnly(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "decision"}}))
	for _, attack := range []string{`UPDATE audit_log SET owner = 'x'`, `DELETE FROM audit_log`} {
		_, err := s.writer.ExecContext(t.Context(), attack)
		require.ErrorContains(t, err, "append-only", attack)
	}
}
