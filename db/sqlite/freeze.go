package sqlite

import (
	"context"
	"database/sql"
)

// Freeze runs f while nobody else can write to the file. f reads only.
func (s *Store) Freeze(ctx context.Context, f func(tx *sql.Tx) error) error {
	return inTx(ctx, s.writer, f)
}
