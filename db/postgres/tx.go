package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
)

// Round trips to the database may be slow, so a transaction saves them: it sends
// BEGIN with the first statement, and a statement that returns no rows with the
// next one that does, or with COMMIT.

const (
	// Named, because the default of the database or the role may be another one: a statement
	// after a lock must see what was committed while it waited.
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	beginView   = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	// A client that died keeps its locks until TCP notices, unless the server ends
	// the transaction. Both settings are local to the transaction, so that they
	// work through a transaction pooler and do not outlive it.
	limits = `SELECT set_config('idle_in_transaction_session_timeout', $%d, true), set_config('lock_timeout', $%d, true)`
	// maxUnsent limits the bytes of texts that wait to be sent.
	maxUnsent = 1 << 20
)

// update runs f in a read-committed transaction.
func (s *Store) update(ctx context.Context, f func(q *sqlcgen.Queries) error) error {
	return s.inTx(ctx, beginUpdate, func(tx plain) error { return f(sqlcgen.New(tx)) })
}

// view runs f in a read-only transaction on one snapshot.
func (s *Store) view(ctx context.Context, f func(q *sqlcgen.Queries) error) error {
	return s.inTx(ctx, beginView, func(tx plain) error { return f(sqlcgen.New(tx)) })
}

func (s *Store) inTx(ctx context.Context, begin string, f func(tx plain) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes one that is still in a transaction
	tx := &transaction{conn: conn.Conn(), begin: begin, limits: []any{millis(s.idleLimit(ctx)), millis(lockTimeout(ctx))}}
	defer func() {
		if tx.begun && !tx.over {
			tx.abandon(ctx)
		}
	}()
	if err := f(plain{tx}); err != nil {
		return err
	}
	return tx.commit(ctx)
}

// idleLimit is how long the server lets the transaction wait for its client. It counts the
// upload of a statement as waiting, so a call that may move megabytes has more time.
func (s *Store) idleLimit(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > s.timeouts.short {
		return max(s.timeouts.idle, s.timeouts.long)
	}
	return s.timeouts.idle
}

// lockTimeout is how long a statement waits for a lock: less than the caller's
// deadline, so that the server gives up first and reports why.
func lockTimeout(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok { // every call has one
		return defaultTimeouts.short
	}
	return max(time.Until(deadline)*4/5, time.Millisecond)
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// transaction batches statements that return no rows with the next one that does.
// An error of a batched statement is returned by that next one.
type transaction struct {
	conn   *pgx.Conn
	begin  string
	limits []any // nil: begin and limits are queued
	unsent pgx.Batch
	size   int  // of the unsent texts
	begun  bool // the server may know of it
	over   bool
}

var (
	effectOnly = regexp.MustCompile(`^-- name: \w+ :exec\n`)
	firstLock  = regexp.MustCompile(`^-- name: Lock(?:Thread|ThreadOfTurn|Insert|Cancels) :exec\n+SELECT `)
)

// queue adds a statement to what is sent next. Before the first one it adds the begin and the
// limits; a lock that comes first is taken by the statement that sets the limits, after them.
func (t *transaction) queue(sql string, args ...any) {
	own := t.limits
	if t.limits = nil; own != nil {
		t.unsent.Queue(t.begin)
		if head := firstLock.FindString(sql); head != "" {
			n := len(args)
			t.unsent.Queue(fmt.Sprintf(limits, n+1, n+2)+", "+sql[len(head):], slices.Concat(args, own)...)
			return
		}
		t.unsent.Queue(fmt.Sprintf(limits, 1, 2), own...)
	}
	t.unsent.Queue(sql, args...)
}

func (t *transaction) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	t.queue(sql, args...)
	t.size += textSize(args)
	if effectOnly.MatchString(sql) && t.size < maxUnsent {
		return pgconn.CommandTag{}, nil
	}
	results, err := t.send(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, errors.Join(err, closed(err, results))
}

func (t *transaction) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	t.queue(sql, args...)
	results, err := t.send(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close() // it repeats err
		return nil, err
	}
	return &answer{Rows: rows, results: results}, nil
}

func (t *transaction) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := t.Query(ctx, sql, args...)
	return oneRow{rows, err}
}

func (t *transaction) commit(ctx context.Context) error {
	if t.limits != nil {
		return nil // no statement was queued
	}
	t.queue("COMMIT")
	results, err := t.send(ctx)
	if err != nil {
		return err
	}
	tag, err := results.Exec()
	err = errors.Join(err, closed(err, results))
	t.over = err == nil
	if err == nil && tag.String() == "ROLLBACK" {
		return pgx.ErrTxCommitRollback
	}
	return err
}

// abandon rolls back. If that fails, it closes the connection, which rolls back too.
func (t *transaction) abandon(ctx context.Context) {
	if t.conn.IsClosed() {
		return
	}
	if _, err := t.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = t.conn.Close(context.WithoutCancel(ctx)) // the connection is lost anyway
	}
}

// send sends all queued statements, and reads the results of all but the last.
func (t *transaction) send(ctx context.Context) (pgx.BatchResults, error) {
	batch := t.unsent
	t.unsent, t.size, t.begun = pgx.Batch{}, 0, true
	results := t.conn.SendBatch(ctx, &batch)
	for range batch.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // it repeats err
			return nil, err
		}
	}
	return results, nil
}

// closed closes results; it returns nil if the error is known already.
func closed(known error, results pgx.BatchResults) error {
	if err := results.Close(); known == nil {
		return err
	}
	return nil
}

// answer is the rows of a batch's last statement; closing them closes the batch.
type answer struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

func (a *answer) Next() bool {
	if a.Rows.Next() {
		return true
	}
	a.Close()
	return false
}

func (a *answer) Close() {
	a.Rows.Close()
	if a.results != nil {
		a.err = a.results.Close()
		a.results = nil
	}
}

func (a *answer) Err() error {
	if err := a.Rows.Err(); err != nil {
		return err
	}
	return a.err
}

// oneRow is the first row of an answer.
type oneRow struct {
	rows pgx.Rows
	err  error
}

func (r oneRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

func textSize(args []any) (n int) {
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		case []string:
			for _, s := range v {
				n += len(s)
			}
		case [][]byte:
			for _, b := range v {
				n += len(b)
			}
		}
	}
	return n
}
