package sqlite

import (
	"context"
	"database/sql"

	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/rules"
)

// FreePages is the name under which UsageByTable lists the space that Compact can free.
const FreePages = "(free)"

// UsageByTable reads every page of the file. It lists the tables of the full-text index one
// by one.
func (s *Store) UsageByTable(ctx context.Context) (usage []db.TableUsage, err error) {
	ctx, end := s.Call(ctx, "sum up the tables", rules.Long)
	defer end(&err)
	rows, err := s.reader.QueryContext(ctx, `SELECT coalesce(m.tbl_name, d.name), sum(d.pgsize) AS bytes FROM dbstat d
		LEFT JOIN sqlite_master m ON m.name = d.name WHERE d.aggregate = TRUE GROUP BY 1
		UNION ALL SELECT '`+FreePages+`', f.freelist_count * p.page_size FROM pragma_freelist_count f, pragma_page_size p
		ORDER BY 2 DESC, 1`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var u db.TableUsage
		if err := rows.Scan(&u.Table, &u.Bytes); err != nil {
			return nil, err
		}
		usage = append(usage, u)
	}
	return usage, rows.Err()
}

// Compact rewrites the file when much of it is free. It uses its own connection, which
// writes the temporary copy to a file: the store's connections would keep it in memory.
func (s *Store) Compact(ctx context.Context) (freed int64, err error) {
	ctx, end := s.Call(ctx, "compact the database", rules.Bulk)
	defer end(&err)
	f, err := readFreeSpace(ctx, s.reader)
	if err != nil || !f.worth() {
		return 0, err
	}
	err = withConn(ctx, s.path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "VACUUM")
		return err
	})
	if err != nil {
		return 0, err
	}
	// The file shrinks when the log is written back.
	_, err = s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return f.bytes(), err
}
