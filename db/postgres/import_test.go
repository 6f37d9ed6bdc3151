package postgres

import (
	"database/sql"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/sqlite"
	"github.com/palaver-chat/palaver/testkit/dbtest"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

// move imports all of from and returns the rows of every table.
func move(t *testing.T, from *sqlite.Store, to *Store) (map[string]int64, error) {
	t.Helper()
	rows := map[string]int64{}
	return rows, from.Freeze(t.Context(), func(tx *sql.Tx) error {
		moved, err := to.Import(t.Context(), tx)
		for _, m := range moved {
			rows[m.Table] = m.Rows
		}
		return err
	})
}

func TestImportedStoreReadsTheSame(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	for name, url := range map[string]string{"directly": direct, "through a transaction pooler": pgtest.Pooler(t, direct)} {
		t.Run(name, func(t *testing.T) {
			from, to := litetest.Store(t), openStore(t, url)
			pgtest.Exec(t, direct, everything)
			filled := dbtest.Fill(t, from)
			rows := must.Have(move(t, from, to))(t)
			require.Len(t, rows, len(tables()))
			for table, n := range rows {
				require.NotZero(t, n, table)
			}
			require.Equal(t, filled.Snapshot(t, from), filled.Snapshot(t, to))
			filled.AcceptsNewRows(t, to)
		})
	}
}

func TestImportRefusesOpenTurnsAndANonEmptyTarget(t *testing.T) {
	t.Parallel()
	from, to, ctx := litetest.Store(t), openStore(t, pgtest.Database(t)), t.Context()
	dbtest.Fill(t, from)
	turn := chat.Turn{ID: uuid.NewString(), Owner: "o", ThreadID: uuid.NewString(), Content: chat.Content{Message: "hello"}}
	_, _, _, err := from.InsertTurn(ctx, turn)
	require.NoError(t, err)
	for _, status := range []chat.TurnStatus{chat.TurnAccepted, chat.TurnRunning, chat.TurnInterrupted} {
		require.NoError(t, from.MarkTurn(ctx, "o", turn.ID, status, ""))
		require.ErrorIs(t, must.ErrOf(move(t, from, to)), ErrOpenTurns)
	}
	must.Have(from.Settle(ctx, db.Settlement{Owner: "o", ThreadID: turn.ThreadID, TurnID: turn.ID, Status: chat.TurnFailed, Terminal: chat.Event{N: 1}}))(t)

	require.NoError(t, to.PutProfile(ctx, "o", chat.Profile{Industry: "here already"}))
	err = must.ErrOf(move(t, from, to))
	require.ErrorIs(t, err, ErrNotEmpty)
	require.ErrorContains(t, err, "profiles")
	must.Have(to.DeleteUser(ctx, "o"))(t)

	must.Have(move(t, from, to))(t)
	_, err = move(t, from, to)
	require.ErrorIs(t, err, ErrNotEmpty, "a second import")
}
