package postgres

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/postgres/sqlcgen"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

func TestLockOfADeadClientIsReleased(t *testing.T) {
	direct := pgtest.Database(t)
	for name, url := range map[string]string{"directly": direct, "through a transaction pooler": pgtest.Pooler(t, direct)} {
		t.Run(name, func(t *testing.T) {
			openStore(t, direct)
			pgtest.Exec(t, direct, everything)
			proxy := pgtest.NewProxy(t, url)
			dead, other := openStore(t, proxy.URL), openStore(t, url)
			dead.timeouts.idle = 500 * time.Millisecond
			turn := chat.Turn{ID: "t", Owner: "o", ThreadID: "c", Content: chat.Content{Message: "Hello"}}
			_, _, _, err := other.InsertTurn(t.Context(), turn)
			require.NoError(t, err)

			var lost error
			require.Error(t, dead.update(t.Context(), func(q *sqlcgen.Queries) error {
				if err := q.LockThread(t.Context(), "c"); err != nil {
					return err
				}
				if _, err := q.ConversationState(t.Context(), "c"); err != nil { // the lock was sent along
					return err
				}
				proxy.Silence() // like a machine that lost power: its connection stays open
				other.timeouts.short = 250 * time.Millisecond
				err := other.MarkTurn(t.Context(), "o", "t", chat.TurnRunning, chat.RootCheckpoint)
				require.ErrorIs(t, err, db.ErrUnavailable, "the lock is held")
				other.timeouts.short = defaultTimeouts.short
				require.NoError(t, other.MarkTurn(t.Context(), "o", "t", chat.TurnRunning, chat.RootCheckpoint))
				proxy.Restore()
				_, lost = q.ConversationState(t.Context(), "c")
				return nil
			}), "the server has rolled it back")
			dead.wrap(t.Context(), "go on", &lost)
			require.ErrorIs(t, lost, db.ErrUnavailable, "the lost transaction is a retryable error")
			answers(t, dead)
		})
	}
}

// Quotas and places are counted after a lock, also where the default is another level.
func TestStatementAfterALockSeesWhatOthersHaveCommitted(t *testing.T) {
	database := pgtest.Database(t)
	strict := openStore(t, pgtest.With(database, func(u *url.URL) {
		q := u.Query()
		q.Set("default_transaction_isolation", "repeatable read")
		u.RawQuery = q.Encode()
	}))
	other := openStore(t, database)
	require.NoError(t, strict.update(t.Context(), func(q *sqlcgen.Queries) error {
		if err := q.LockThread(t.Context(), "another"); err != nil {
			return err
		}
		c, err := q.ConversationState(t.Context(), "c")
		require.NoError(t, err)
		require.Empty(t, c.Owner)
		_, _, _, err = other.InsertTurn(t.Context(), chat.Turn{ID: "t", Owner: "o", ThreadID: "c", Content: chat.Content{Message: "Hello"}})
		require.NoError(t, err)
		c, err = q.ConversationState(t.Context(), "c")
		require.Equal(t, "o", c.Owner)
		return err
	}))
}

func TestTransactionBatchesStatementsWithoutRows(t *testing.T) {
	meter := pgtest.NewMeter(t, pgtest.Database(t), 0)
	s, ctx := openStore(t, meter.URL), t.Context()
	require.NoError(t, s.Ping(ctx))
	meter.Reset()
	require.NoError(t, s.update(ctx, func(*sqlcgen.Queries) error { return nil }))
	require.Empty(t, meter.Trips(), "nothing to do")
	require.NoError(t, s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := q.LockThread(ctx, "c"); err != nil {
			return err
		}
		return q.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: "o", Industry: "x"})
	}))
	require.Len(t, meter.Trips(), 1)
	p := must.Have(s.Profile(ctx, "o"))(t)
	require.Equal(t, "x", p.Industry)
	meter.Reset()
	require.ErrorIs(t, s.update(ctx, func(q *sqlcgen.Queries) error {
		if err := q.PutProfile(ctx, sqlcgen.PutProfileParams{Owner: "o", Industry: "y"}); err != nil {
			return err
		}
		return db.ErrForbidden
	}), db.ErrForbidden)
	require.Empty(t, meter.Trips(), "BEGIN was not sent")
	p = must.Have(s.Profile(ctx, "o"))(t)
	require.Equal(t, "x", p.Industry)
}

func TestStatementsOfADirectConnectionArePlannedOnce(t *testing.T) {
	s := openStore(t, pgtest.Database(t))
	var mode string
	require.NoError(t, s.pool.QueryRow(t.Context(), "SHOW plan_cache_mode").Scan(&mode))
	require.Equal(t, "force_generic_plan", mode)
}
