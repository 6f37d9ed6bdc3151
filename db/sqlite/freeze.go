package sqlite

import (
	"context"
	"database/sql"
)

// Freeze runs f, which must only read, while the file is locked against writes.
func (s *Store) Freeze(ctx context.Context, f func(tx *sql.Tx) error) error {
	return inTx(ctx, s.writer, f)
}
