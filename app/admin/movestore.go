package admin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/palaver-chat/palaver/db/postgres"
	"github.com/palaver-chat/palaver/db/sqlite"
)

// MoveStore copies a whole installation from a SQLite file, sqlite:PATH, into an empty
// Postgres database, postgres://…, and writes a summary to out. It fails while turns
// are open. The file is not changed.
func MoveStore(ctx context.Context, from, to string, out io.Writer) error {
	path, ok := strings.CutPrefix(from, "sqlite:")
	if !ok || path == "" {
		return errors.New("--from: use sqlite:PATH, such as sqlite:.palaver/palaver.db")
	}
	if !strings.HasPrefix(to, "postgres://") && !strings.HasPrefix(to, "postgresql://") {
		return errors.New("--to: use postgres://USER:PASSWORD@HOST:5432/DATABASE, or set DATABASE_URL to it")
	}
	if _, err := os.Stat(path); err != nil { // opening it would create it
		return fmt.Errorf("--from: %w", err)
	}
	source, err := sqlite.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer func() { _ = source.Close() }()
	target, err := postgres.Open(ctx, to)
	if err != nil {
		return fmt.Errorf("open the database of --to: %w", err)
	}
	defer func() { _ = target.Close() }()

	var moved []postgres.MovedRows
	err = source.Freeze(ctx, func(tx *sql.Tx) error {
		moved, err = target.Import(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("nothing was moved: %w", err)
	}
	for _, m := range moved {
		if err := say(out, "%-22s %8d\n", m.Table, m.Rows); err != nil {
			return err
		}
	}
	return say(out, "All of it is in Postgres, counted on both sides. Start Palaver with DATABASE_URL set to it.\n")
}
