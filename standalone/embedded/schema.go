package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/schema/sqlite"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DatabaseError is a Temporal database that this version cannot use.
type DatabaseError struct {
	Path    string
	Problem string // what is wrong and what the operator can do; follows the path
	Err     error
}

func (e *DatabaseError) Error() string { return e.Path + " " + e.Problem }
func (e *DatabaseError) Unwrap() error { return e.Err }

// startAfresh is advice that always works, because conversations are in another file.
const startAfresh = "or move it away together with its -wal and -shm files: conversations stay, running turns fail"

// serverVersion is the version of the Temporal server in this program. Each
// database stores it as SQLite's user_version: 1.32.0 is 1032000.
var serverVersion = semver.MustParse(headers.ServerVersion)

func stampOf(v semver.Version) int {
	return int(v.Major)*1_000_000 + int(v.Minor)*1_000 + int(v.Patch)
}

func versionOf(stamp int) semver.Version {
	return semver.Version{Major: uint64(stamp / 1_000_000), Minor: uint64(stamp / 1_000 % 1_000), Patch: uint64(stamp % 1_000)}
}

// verdict says what to do with an existing database.
type verdict int

const (
	use verdict = iota
	stampIt
	migrateIt
)

// judge decides by a database's stamp (0: none) and by whether it has exactly our
// tables. Temporal supports upgrades by one minor version at a time, and no
// downgrades.
func judge(stamp int, ours semver.Version, same bool) (verdict, string) {
	theirs := versionOf(stamp)
	switch older := int(ours.Minor) - int(theirs.Minor); {
	case stamp == 0:
		return 0, "has no version, so Palaver has not created it: restore a backup, " + startAfresh
	case theirs.Major != ours.Major || older < 0:
		return 0, fmt.Sprintf("was created by Temporal %s, and this release of Palaver has %s: start the newer release, %s", theirs, ours, startAfresh)
	case older > 1:
		return 0, fmt.Sprintf("was created by Temporal %s, and this release of Palaver has %s: start the releases in between first, %s", theirs, ours, startAfresh)
	case older == 1:
		return migrateIt, ""
	case !same:
		return 0, fmt.Sprintf("has the version of Temporal %s and other tables: restore a backup, %s", theirs, startAfresh)
	case stamp < stampOf(ours):
		return stampIt, ""
	}
	return use, ""
}

// checkDatabase checks that this version's server can use the database at path,
// and migrates one of the previous version. The server itself checks nothing.
func checkDatabase(ctx context.Context, path string) error {
	stamp, tables, err := readDatabase(ctx, path)
	if err != nil {
		return damaged(path, err)
	}
	expected, err := expectedTables(ctx)
	if err != nil {
		return err
	}
	what, problem := judge(stamp, serverVersion, maps.Equal(tables, expected))
	if problem != "" {
		return &DatabaseError{Path: path, Problem: problem}
	}
	switch what {
	case stampIt:
		err = stampDatabase(ctx, path)
	case migrateIt:
		err = migrateDatabase(ctx, path, versionOf(stamp), tables)
	}
	return damaged(path, err)
}

// damage is the result of SQLite's check.
type damage string

func (d damage) Error() string { return strings.ReplaceAll(string(d), "\n", "; ") }

// damaged turns the error of a corrupt file into a DatabaseError.
func damaged(path string, err error) error {
	var sqliteErr *modernc.Error
	broken := errors.As(err, &sqliteErr) && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}, sqliteErr.Code()&0xff)
	if broken || errors.As(err, new(damage)) {
		return &DatabaseError{Path: path, Problem: "is damaged: restore a backup, " + startAfresh, Err: err}
	}
	return err
}

// readDatabase returns a database's stamp and its schema by name.
func readDatabase(ctx context.Context, path string) (stamp int, schema map[string]string, err error) {
	db, err := openFile(path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil { // takes 1 ms per MB
		return 0, nil, err
	}
	if found != "ok" {
		return 0, nil, damage(found)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&stamp); err != nil {
		return 0, nil, err
	}
	schema, err = readSchema(ctx, db)
	return stamp, schema, err
}

// readSchema returns the statements that created a database, by name, without
// comments and line breaks, and without SQLite's internal tables.
func readSchema(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT name, sql FROM sqlite_master
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	all := map[string]string{}
	for rows.Next() {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			return nil, err
		}
		all[name] = strings.TrimSpace(space.ReplaceAllString(comment.ReplaceAllString(statement, ""), " "))
	}
	return all, rows.Err()
}

var (
	comment = regexp.MustCompile(`--[^\n]*`)
	space   = regexp.MustCompile(`\s+`)
)

// expectedTables returns the schema that this program's server creates.
func expectedTables(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := makeTables(ctx, db); err != nil {
		return nil, err
	}
	return readSchema(ctx, db)
}

// makeTables creates the server's tables in an empty database and stamps it.
func makeTables(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := sqlite.SetupSchemaOnDB(schemaTx{tx: tx}); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, setStamp); err != nil {
		return err
	}
	return tx.Commit()
}

var setStamp = fmt.Sprintf("PRAGMA user_version = %d", stampOf(serverVersion))

// schemaTx is the part of a database that SetupSchemaOnDB uses.
type schemaTx struct {
	sqlplugin.AdminDB
	tx *sql.Tx
}

func (e schemaTx) Exec(statement string, args ...any) error {
	_, err := e.tx.Exec(statement, args...)
	return err
}

func stampDatabase(ctx context.Context, path string) (err error) {
	db, err := openFile(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, setStamp)
	return err
}

// migrateDatabase copies every row of a database into a new one that has this
// version's tables. The new database replaces the old one, which is kept under a
// name with its version.
func migrateDatabase(ctx context.Context, path string, version semver.Version, tables map[string]string) error {
	draft, err := newDatabase(ctx, path)
	if err != nil {
		return err
	}
	if err := copyRows(ctx, path, draft, tables); err != nil {
		return &DatabaseError{Path: path, Err: err,
			Problem: fmt.Sprintf("cannot be migrated from Temporal %s to %s (%v): start the previous release of Palaver, %s", version, serverVersion, err, startAfresh)}
	}
	kept := strings.TrimSuffix(path, filepath.Ext(path)) + "-" + version.String() + filepath.Ext(path)
	if err := os.Remove(kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Link(path, kept); err != nil { // a link, so that the database exists at all times
		return err
	}
	return os.Rename(draft, path)
}

// copyRows empties the old database's write-ahead log and copies the tables and
// columns that both databases have.
func copyRows(ctx context.Context, from, to string, tables map[string]string) (err error) {
	db, err := openFile(from)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // ATTACH applies to one connection
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "ATTACH DATABASE ? AS new", to); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		columns, err := sharedColumns(ctx, tx, table)
		if err != nil {
			return err
		}
		if len(columns) == 0 {
			continue
		}
		list := strings.Join(columns, ", ")
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT OR REPLACE INTO new.%q (%s) SELECT %s FROM main.%q`, table, list, list, table)); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	return tx.Commit()
}

// sharedColumns returns the stored columns of a table that both databases have;
// none unless it is an ordinary table in both.
func sharedColumns(ctx context.Context, tx *sql.Tx, table string) (columns []string, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT n.name FROM pragma_table_xinfo(?1, 'new') n JOIN pragma_table_xinfo(?1, 'main') o ON o.name = n.name
		WHERE n.hidden = 0 AND o.hidden = 0
		AND EXISTS (SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'new' AND type = 'table')
		AND EXISTS (SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type = 'table')`, table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, fmt.Sprintf("%q", name))
	}
	return columns, rows.Err()
}

// newDatabase creates an empty database next to the one at path and returns the new
// one's path.
func newDatabase(ctx context.Context, path string) (draft string, err error) {
	draft = path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) { // a killed process may have left one
		return "", err
	}
	// SQLite gives its other files the same mode.
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	db, err := openFile(draft)
	if err != nil {
		return "", err
	}
	db.SetMaxOpenConns(1) // the pragma applies to one connection
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil { // before the first table
		return "", err
	}
	return draft, makeTables(ctx, db)
}

// createDatabase builds a new database under another name first, so that a
// killed process leaves no partial database.
func createDatabase(ctx context.Context, path string) error {
	draft, err := newDatabase(ctx, path)
	if err != nil {
		return err
	}
	for _, left := range []string{"-wal", "-shm"} { // of a database that was moved: SQLite would apply them to the new one
		if err := os.Remove(path + left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(draft, path)
}

func openFile(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=rw"}).String())
}
