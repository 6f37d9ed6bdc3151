package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/testkit/dbtest/pgtest"
	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/must"
)

func openAndWrite(url string) int {
	s, err := Open(context.Background(), url)
	if err == nil {
		_, err = s.CreateConversation(context.Background(), chat.Conversation{ID: fmt.Sprint(os.Getpid()), Owner: "o"})
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestProcessesOpeningAtOnceMigrateOnceAndAllWrite(t *testing.T) {
	direct := pgtest.Database(t)
	for name, url := range map[string]string{"directly": direct, "through a transaction pooler": pgtest.Pooler(t, direct)} {
		t.Run(name, func(t *testing.T) {
			pgtest.Exec(t, direct, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
			var wg sync.WaitGroup
			var outputs [6][]byte // more than the pooler has connections
			var errs [6]error
			for i := range outputs {
				wg.Go(func() {
					cmd := exec.CommandContext(t.Context(), os.Args[0])
					cmd.Env = append(os.Environ(), "PALAVER_TEST_OPEN="+url)
					outputs[i], errs[i] = cmd.CombinedOutput()
				})
			}
			wg.Wait()
			for i, err := range errs {
				require.NoError(t, err, string(outputs[i]))
			}
			s := openStore(t, url)
			var applied, different int
			require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT version_id) FROM goose_db_version").Scan(&applied, &different))
			entries := must.Have(migrations.ReadDir("migrations"))(t)
			require.Equal(t, len(entries)+1, applied, "goose's own row and one for each migration")
			require.Equal(t, different, applied)
			p := must.Have(s.ListConversations(t.Context(), "o", "", "", 10))(t)
			require.Len(t, p.Items, len(outputs))
		})
	}
}

func TestWaitForTheMigrationLockEndsAtTheDeadline(t *testing.T) {
	url := pgtest.Database(t)
	config := must.Have(parse(url))(t)
	_, unlock, err := lock(t.Context(), config.ConnConfig)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, must.ErrOf(Open(ctx, url)), context.DeadlineExceeded)
	require.NoError(t, unlock())
	openStore(t, url)
}

func TestOpenErrorIsOneLineWithoutThePassword(t *testing.T) {
	server := pgtest.Server(t)
	port := must.Have(freeport.Get())(t)
	for name, c := range map[string]struct {
		url         string
		unavailable bool
		says        string
	}{
		"connection refused": {fmt.Sprintf("postgres://u:geheim@127.0.0.1:%d/d", port), true, fmt.Sprintf("cannot connect to 127.0.0.1:%d: connect: connection refused", port)},
		"no such database":   {pgtest.With(server, func(u *url.URL) { u.Path = "/palaver_absent" }), false, `database "palaver_absent" does not exist`},
		"no such host":       {"postgres://u:geheim@palaver.invalid/d", true, "cannot connect to palaver.invalid:5432: "},
		"no URL":             {"postgres://u:geheim@h:port/d", false, "not a Postgres URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), c.url)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, c.unavailable, errors.Is(err, db.ErrUnavailable))
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "geheim")
		})
	}
}

func TestLostConnectionIsUnavailableAndTheNextCallReconnects(t *testing.T) {
	url := pgtest.Database(t)
	s := openStore(t, url)
	require.NoError(t, s.Ping(t.Context()))
	held := make(chan struct{})
	pids := make(chan int, 1)
	result := make(chan error, 1)
	go func() {
		result <- func() (err error) {
			defer s.wrap(t.Context(), "hold", &err)
			return pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
				pids <- int(tx.Conn().PgConn().PID())
				<-held
				_, err := tx.Exec(t.Context(), "SELECT 1")
				return err
			})
		}()
	}()
	pgtest.Exec(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", <-pids)) // as an admin's shutdown does
	close(held)
	require.ErrorIs(t, <-result, db.ErrUnavailable)
	require.NoError(t, s.Ping(t.Context()))
}

func TestStoppedServerIsUnavailable(t *testing.T) {
	for _, name := range []string{"directly", "through a transaction pooler"} {
		t.Run(name, func(t *testing.T) {
			url, stop := pgtest.Private(t)
			if name != "directly" {
				url = pgtest.Pooler(t, url)
			}
			s := openStore(t, url)
			require.NoError(t, s.Ping(t.Context()))
			stop()
			for range 3 { // the connections that were open, then new ones
				for name, call := range map[string]func(ctx context.Context) error{
					"ping":  s.Ping,
					"read":  func(ctx context.Context) error { _, err := s.Turn(ctx, "o", "t"); return err },
					"write": func(ctx context.Context) error { return s.PutProfile(ctx, "o", chat.Profile{}) },
					"change": func(ctx context.Context) error {
						_, err := s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"})
						return err
					},
					"search": func(ctx context.Context) error {
						_, err := s.SearchText(ctx, "o", db.Words("x"), nil, 1)
						return err
					},
				} {
					ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // a pooler keeps calls waiting
					require.ErrorIs(t, call(ctx), db.ErrUnavailable, name)
					cancel()
				}
			}
		})
	}
}

func TestLockWaitEndsAtStatementTimeoutOrDeadline(t *testing.T) {
	url := pgtest.Database(t)
	other := openStore(t, url)
	limited := openStore(t, url+"&pool_max_conns=1")
	_, err := limited.pool.Exec(t.Context(), "SET statement_timeout = 200") // now, so that opening the store has the time it takes
	require.NoError(t, err)
	must.Have(other.CreateConversation(t.Context(), chat.Conversation{ID: "c", Owner: "o"}))(t)
	tx := must.Have(other.pool.Begin(t.Context()))(t)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }() // after a failure, closing the store would wait for it
	must.Have(tx.Exec(t.Context(), "UPDATE conversations SET title = 'held'"))(t)

	err = must.ErrOf(limited.ChangeConversation(t.Context(), "o", "c", db.ConversationChange{Title: new("new")}))
	require.ErrorIs(t, err, db.ErrUnavailable)
	require.ErrorContains(t, err, "statement timeout")
	ctx := announced{t.Context(), time.Now().Add(200 * time.Millisecond)}
	_, err = other.ChangeConversation(ctx, "o", "c", db.ConversationChange{Title: new("new")})
	require.ErrorIs(t, err, db.ErrUnavailable, "the server gives up before the caller does")
	require.ErrorContains(t, err, "lock timeout")
	require.NoError(t, tx.Rollback(t.Context()))
	must.Have(other.ChangeConversation(t.Context(), "o", "c", db.ConversationChange{Title: new("new")}))(t)
}

// announced has a deadline that never ends it, so that only the server can give up.
type announced struct {
	context.Context
	deadline time.Time
}

func (a announced) Deadline() (time.Time, bool) { return a.deadline, true }

func TestCancelledCallReturnsContextCanceled(t *testing.T) {
	s := openStore(t, pgtest.Database(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := must.ErrOf(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, db.ErrUnavailable)
}

func TestTextThatPostgresCannotHoldKeepsItsOffsets(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	text := "a\x00b\xff\xfec apple"
	require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: "d", Owner: "o", Title: "T\x00"}, []byte(text)))
	require.NoError(t, s.StoreText(ctx, "o", "d", text, []chat.Chunk{{Text: text[:5], End: 5}, {Text: text[5:], Start: 5, End: 12}}, nil))
	hits := must.Have(s.SearchText(ctx, "o", db.Words("apple"), nil, 5))(t)
	require.Len(t, hits, 1)
	stored := must.Have(s.DocumentText(ctx, "o", "d"))(t)
	require.Equal(t, "a\ufffdb\ufffd\ufffdc apple", stored)
	require.Equal(t, "c apple", string([]rune(stored)[hits[0].Start:hits[0].End]))

	turn := chat.Turn{ID: "t", Owner: "o", ThreadID: "c", ClientTurnID: "ct", Content: chat.Content{Message: "nul \x00 and \xff"}}
	_, _, _, err := s.InsertTurn(ctx, turn)
	require.NoError(t, err)
	require.NoError(t, s.PutText(ctx, "o", "t", "piece:1", "x\x00"))
	require.NoError(t, s.SaveDraft(ctx, "o", db.Draft{TurnID: "t", Piece: 1, Text: "x\x00"}))
	_, err = s.Settle(ctx, db.Settlement{Owner: "o", ThreadID: "c", TurnID: "t", Status: chat.TurnCompleted, Text: "x\x00\xff", Title: "\x00",
		Metadata: map[string]any{"note": "\x00"}, Events: []chat.Event{{N: 1, Text: "\x00\xff"}}, Terminal: chat.Event{N: 2}})
	require.NoError(t, err)
	h := must.Have(s.History(ctx, "o", "c", "", "", 9))(t)
	require.Equal(t, "x\ufffd\ufffd", h.Messages[1].Content)
	require.Equal(t, map[string]any{"note": "\x00"}, h.Messages[1].Metadata)
}

func TestChunkLargerThanTheIndexLimitIsStoredInFull(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	var b strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	require.NoError(t, s.CreateDocument(ctx, chat.Document{ID: "d", Owner: "o"}, nil))
	require.NoError(t, s.StoreText(ctx, "o", "d", b.String(), []chat.Chunk{{Text: b.String(), End: b.Len()}}, nil))
	hits := must.Have(s.SearchText(ctx, "o", db.Words("w17"), nil, 5))(t)
	require.Len(t, hits, 1)
	require.Len(t, hits[0].Text, b.Len())
}

func TestOldCancelsArePruned(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.Database(t))
	for _, id := range []string{"old", "new"} {
		require.NoError(t, s.Cancel(t.Context(), "o", db.CancelRef{TurnID: id}, chat.UserCancelled))
		if id == "old" {
			must.Have(s.pool.Exec(t.Context(), "UPDATE cancels SET created_at = created_at - 25 * 3600 * 1000000::bigint"))(t)
		}
	}
	var kept []string
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT array_agg(ref) FROM cancels").Scan(&kept))
	require.Equal(t, []string{"new"}, kept)
}

func TestPicturesUnusedForADayArePruned(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))(t)
	put := func(a chat.Attachment) {
		a.Owner = "o"
		require.NoError(t, s.PutAttachment(ctx, a, []byte("x")))
	}
	put(chat.Attachment{ID: "old"})
	put(chat.Attachment{ID: "old, used", ThreadID: "c"})
	must.Have(s.pool.Exec(ctx, "UPDATE attachments SET created_at = created_at - 25 * 3600 * 1000000::bigint"))(t)
	put(chat.Attachment{ID: "new"})
	put(chat.Attachment{ID: "newer"})
	var kept []string
	require.NoError(t, s.pool.QueryRow(ctx, `SELECT array_agg(id ORDER BY id COLLATE "C") FROM attachments`).Scan(&kept))
	require.Equal(t, []string{"new", "newer", "old, used"}, kept)
}

func TestCountsAreKeyedByDigestAndPrunedAfterTheirWindow(t *testing.T) {
	t.Parallel()
	s, ctx := openStore(t, pgtest.Database(t)), t.Context()
	now := time.Now()
	keys := func() (list []string) {
		require.NoError(t, s.pool.QueryRow(ctx, "SELECT array_agg(key) FROM limits").Scan(&list))
		return list
	}
	for key, window := range map[string]time.Duration{"192.0.2.1": time.Second, "192.0.2.2": time.Hour} {
		must.Have(s.Count(ctx, key, 1, window, now))(t)
	}
	require.Len(t, keys(), 2)
	for _, key := range keys() {
		require.NotContains(t, key, "192.0.2")
	}
	must.Have(s.Count(ctx, "192.0.2.3", 1, time.Second, now.Add(2*record.PruneCountsAfter)))(t)
	require.ElementsMatch(t, []string{record.Digest("192.0.2.2"), record.Digest("192.0.2.3")}, keys())
}

// tables are the names of all imported tables.
func tables() []string {
	var names []string
	for _, t := range all() {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

func TestImportCoversEveryTable(t *testing.T) {
	s := openStore(t, pgtest.Database(t))
	rows := must.Have(s.pool.Query(t.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version' ORDER BY 1"))(t)
	names := must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	slices.Sort(names)
	require.Equal(t, tables(), slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains([]string{"leases", "tool_servers", "limits", "audit_log"}, name)
	}), "neither what processes say of themselves nor counts nor the audit log are copied")
}

// Some columns exist in Postgres only: importChunks fills them, or each store numbers its rows.
func TestImportCoversEveryColumn(t *testing.T) {
	s := openStore(t, pgtest.Database(t))
	own := map[string][]string{"documents": {"words", "names"}}
	for _, table := range moving {
		rows := must.Have(s.pool.Query(t.Context(), "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1", table.name))(t)
		columns := must.Have(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
		require.ElementsMatch(t, append(strings.Split(table.columns, ", "), own[table.name]...), columns, table.name)
	}
}
