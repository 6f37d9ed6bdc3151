package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/dbtest/pgtest"
)

// soon is less patience than anybody has, for tests.
var soon = patience{few: 300 * time.Millisecond, large: 300 * time.Millisecond, whole: 300 * time.Millisecond, silent: 50 * time.Millisecond, idle: 300 * time.Millisecond}

// answers waits until the database does: a connection that went silent may be
// in the way for a call or two.
func answers(t *testing.T, s *Store) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Ping(t.Context()) == nil }, time.Minute, time.Millisecond)
}

// calls is one of every kind, none of which gives up by itself.
func calls(t *testing.T, s *Store) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"ping":  func() error { return s.Ping(ctx) },
		"read":  func() error { _, err := s.Turn(ctx, "o", "t"); return err },
		"view":  func() error { _, err := s.History(ctx, "o", "c", "", "", 9); return err },
		"write": func() error { return s.PutProfile(ctx, "o", chat.Profile{}) },
		"change": func() error {
			_, err := s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"})
			return err
		},
		"search": func() error { _, err := s.SearchText(ctx, "o", []string{"x"}, nil, 1); return err },
		"store":  func() error { return s.StoreText(ctx, "o", "d", "x", nil, nil) },
		"delete": func() error { _, err := s.DeleteUser(ctx, "o"); return err },
	}
}

func TestAServerThatGoesSilentIsUnavailableAndAnswersAgainWhenItIsBack(t *testing.T) {
	wire := pgtest.NewWire(t, pgtest.Database(t))
	s := openStore(t, wire.URL)
	require.NoError(t, s.Ping(t.Context()))
	usual := s.patience
	for range 2 {
		wire.Hold()
		s.patience = soon
		for range 2 { // the connections that were open, then new ones
			for name, call := range calls(t, s) {
				err := call()
				require.ErrorIs(t, err, db.ErrUnavailable, name)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "%s: the caller had all the time", name)
			}
		}
		require.True(t, s.silent.Load())
		s.patience = usual
		wire.Release()
		answers(t, s)
		require.False(t, s.silent.Load())
	}
}

func TestConnectionsThatWereCutAreReplacedWithoutARestart(t *testing.T) {
	wire := pgtest.NewWire(t, pgtest.Database(t))
	s := openStore(t, wire.URL)
	for range 3 {
		for name, call := range calls(t, s) {
			if err := call(); err != nil {
				require.ErrorIs(t, err, db.ErrNotFound, name)
			}
		}
		wire.Cut()
		answers(t, s)
	}
}

func TestACallerWithLessPatienceIsToldOfItsOwnTime(t *testing.T) {
	wire := pgtest.NewWire(t, pgtest.Database(t))
	s := openStore(t, wire.URL)
	wire.Hold()
	defer wire.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.Ping(ctx)
	require.ErrorIs(t, err, db.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	cancelled, giveUp := context.WithCancel(t.Context())
	giveUp()
	err = s.Ping(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, db.ErrUnavailable)
}

func TestALockThatIsHeldTooLongIsUnavailable(t *testing.T) {
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	_, err := s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"})
	require.NoError(t, err)
	usual := s.patience
	require.NoError(t, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE conversations SET title = 'held'")
		require.NoError(t, err)
		s.patience = soon
		_, err = s.RenameConversation(ctx, "o", "c", "new")
		require.ErrorIs(t, err, db.ErrUnavailable)
		return nil
	}))
	s.patience = usual
	_, err = s.RenameConversation(ctx, "o", "c", "new")
	require.NoError(t, err)
}
