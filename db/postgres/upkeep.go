package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
)

// UsageByTable counts indexes and long values with their tables.
func (s *Store) UsageByTable(ctx context.Context) (usage []db.TableUsage, err error) {
	ctx, end := s.Call(ctx, "sum up the tables", rules.Long)
	defer end(&err)
	rows, err := s.pool.Query(ctx, `SELECT c.relname::text, pg_total_relation_size(c.oid) FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC, 1`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[db.TableUsage])
}

// Compact does nothing: autovacuum makes the room of deleted rows usable again.
func (s *Store) Compact(context.Context) (int64, error) { return 0, nil }
