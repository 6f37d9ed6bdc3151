package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/dbtest/pgtest"
)

func TestAuditLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	require.NoError(t, s.AppendAudit(t.Context(), []db.AuditEntry{{Kind: "decision"}}))
	for _, attack := range []string{`UPDATE audit_log SET owner = 'x'`, `DELETE FROM audit_log`, `TRUNCATE audit_log`} {
		_, err := s.pool.Exec(t.Context(), attack)
		require.ErrorContains(t, err, "append-only", attack)
	}
}
