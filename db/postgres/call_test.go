package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/must"
)

var shortTimeouts = timeouts{short: 300 * time.Millisecond, long: 300 * time.Millisecond, bulk: 300 * time.Millisecond, unresponsive: 50 * time.Millisecond, idle: 300 * time.Millisecond}

// answers waits until the database answers: the pool may still hold a dead
// connection for a call or two.
func answers(t *testing.T, s *Store) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Ping(t.Context()) == nil }, time.Minute, time.Millisecond)
}

// calls has one call of every kind, without deadlines of their own.
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
		"search": func() error { _, err := s.SearchText(ctx, "o", db.Words("x"), nil, 1); return err },
		"store":  func() error { return s.StoreText(ctx, "o", "d", "x", nil, nil) },
		"delete": func() error { _, err := s.DeleteUser(ctx, "o"); return err },
	}
}

func TestUnresponsiveServerIsUnavailableUntilItAnswersAgain(t *testing.T) {
	t.Parallel()
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	s := openStore(t, proxy.URL)
	require.NoError(t, s.Ping(t.Context()))
	usual := s.timeouts
	for range 2 {
		proxy.Silence()
		s.timeouts = shortTimeouts
		for range 2 { // the connections that were open, then new ones
			for name, call := range calls(t, s) {
				err := call()
				require.ErrorIs(t, err, db.ErrUnavailable, name)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "%s: the caller has no deadline", name)
			}
		}
		require.True(t, s.unresponsive.Load())
		s.timeouts = usual
		proxy.Restore()
		answers(t, s)
		require.False(t, s.unresponsive.Load())
	}
}

func TestCutConnectionsAreReplaced(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	s := openStore(t, proxy.URL)
	for range 3 {
		for name, call := range calls(t, s) {
			if err := call(); err != nil {
				require.ErrorIs(t, err, db.ErrNotFound, name)
			}
		}
		proxy.Reset()
		answers(t, s)
	}
}

func TestCallerGetsItsOwnDeadlineOrCancellation(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	s := openStore(t, proxy.URL)
	proxy.Silence()
	defer proxy.Restore()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.Ping(ctx)
	require.ErrorIs(t, err, db.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	cancelled, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	err = s.Ping(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, db.ErrUnavailable)
}

func TestLockTimeoutIsUnavailable(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))(t)
	usual := s.timeouts
	require.NoError(t, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		must.Have(tx.Exec(ctx, "UPDATE conversations SET title = 'held'"))(t)
		s.timeouts = shortTimeouts
		require.ErrorIs(t, must.ErrOf(s.ChangeConversation(ctx, "o", "c", db.ConversationChange{Title: new("new")})), db.ErrUnavailable)
		return nil
	}))
	s.timeouts = usual
	must.Have(s.ChangeConversation(ctx, "o", "c", db.ConversationChange{Title: new("new")}))(t)
}

// It may have to go over a slow link.
func TestLargeSettlementHasMoreTimeThanOtherCalls(t *testing.T) {
	s := openStore(t, pgtest.Database(t))
	for _, id := range []string{"large", "small"} {
		_, _, _, err := s.InsertTurn(t.Context(), chat.Turn{ID: id, Owner: "o", ThreadID: id, Content: chat.Content{Message: "Hello"}})
		require.NoError(t, err)
	}
	s.timeouts.short = time.Nanosecond
	settle := func(id string, words int) error {
		_, err := s.Settle(t.Context(), db.Settlement{Owner: "o", ThreadID: id, TurnID: id, Status: chat.TurnCompleted, Text: strings.Repeat("word ", words), Terminal: chat.Event{Type: chat.EventResponse, N: 1}})
		return err
	}
	require.ErrorIs(t, settle("small", 1), db.ErrTimeout)
	require.NoError(t, settle("large", 1<<20))
}
