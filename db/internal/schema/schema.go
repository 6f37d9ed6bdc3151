// Package schema brings a database's schema up to date, and compares it with what this
// release knows.
package schema

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/palaver-chat/palaver/db"
)

// Migrate runs the migrations that the database lacks and returns the newest version that
// this release knows. It returns a db.NewerSchemaError when a newer release has migrated the
// database, unless allowNewer.
func Migrate(ctx context.Context, provider *goose.Provider, allowNewer bool) (known int64, err error) {
	known = newest(provider)
	found, err := provider.GetDBVersion(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if found > known {
		if allowNewer {
			return known, nil
		}
		return 0, &db.NewerSchemaError{Found: found, Known: known}
	}
	if _, err := provider.Up(ctx); err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return known, nil
}

func newest(provider *goose.Provider) int64 {
	all := provider.ListSources() // in order
	return all[len(all)-1].Version
}

// Version is the query for a database's version. Check judges it.
const Version = "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied"

// Check refuses a schema older than this release knows: a backup may have been restored
// under a running process. It accepts a newer one: during a rolling upgrade, processes of
// the older release use it.
func Check(found, known int64) error {
	if found < known {
		return fmt.Errorf("the schema has version %d and this release needs %d: run palaver migrate", found, known)
	}
	return nil
}
