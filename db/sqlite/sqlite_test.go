package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/testkit/must"
)

func openStore(t *testing.T, path string) *Store {
	t.Helper()
	s := must.Have(Open(t.Context(), path))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestOpenCreatesAFileThatOnlyItsUserCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a b?#%20", "palaver.db")
	s := openStore(t, path)
	info := must.Have(os.Stat(path))(t)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	version := int64(0)
	require.NoError(t, s.reader.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&version))
	entries := must.Have(migrations.ReadDir("migrations"))(t)
	require.True(t, strings.HasPrefix(entries[len(entries)-1].Name(), fmt.Sprintf("%05d_", version)), "version %d of %v", version, entries)

	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "5000"} {
		for _, pool := range []*sql.DB{s.writer, s.reader} {
			var got string
			require.NoError(t, pool.QueryRow("PRAGMA "+pragma).Scan(&got))
			require.Equal(t, want, got, pragma)
		}
	}
}

func TestOpeningAtOnceMigratesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	var wg sync.WaitGroup
	var stores [4]*Store
	var errs [4]error
	for i := range stores {
		wg.Go(func() { stores[i], errs[i] = Open(t.Context(), path) })
	}
	wg.Wait()
	for i, s := range stores {
		require.NoError(t, errs[i])
		defer s.Close()
	}
	var applied, different int
	require.NoError(t, stores[0].reader.QueryRow("SELECT count(*), count(DISTINCT version_id) FROM goose_db_version").Scan(&applied, &different))
	require.Equal(t, different, applied)
}

// TestMain lets the test below start this program as a process of its own.
func TestMain(m *testing.M) {
	if path := os.Getenv("PALAVER_TEST_OPEN"); path != "" {
		os.Exit(openAndWrite(path))
	}
	os.Exit(m.Run())
}

func openAndWrite(path string) int {
	s, err := Open(context.Background(), path)
	if err == nil {
		_, err = s.CreateConversation(context.Background(), chat.Conversation{ID: strconv.Itoa(os.Getpid()), Owner: "o"})
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestProcessesOpeningAtOnceMigrateOnceAndAllWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	var wg sync.WaitGroup
	var outputs [4][]byte
	var errs [4]error
	for i := range outputs {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "PALAVER_TEST_OPEN="+path)
			outputs[i], errs[i] = cmd.CombinedOutput()
		})
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, string(outputs[i]))
	}
	s := openStore(t, path)
	var applied, different int
	require.NoError(t, s.reader.QueryRow("SELECT count(*), count(DISTINCT version_id) FROM goose_db_version").Scan(&applied, &different))
	require.Equal(t, different, applied)
	p := must.Have(s.ListConversations(t.Context(), "o", "", "", 10))(t)
	require.Len(t, p.Items, len(outputs))
}

func TestAbortedIngestLeavesNoRows(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	for name, end := range map[string]func(id string) error{
		"stored again": func(id string) error {
			return s.StoreText(t.Context(), "o", id, "text", []chat.Chunk{{Text: "text", End: 4}}, nil)
		},
		"failed":  func(id string) error { return s.FailDocument(t.Context(), "o", id, "no") },
		"deleted": func(id string) error { return s.DeleteDocument(t.Context(), "o", id) },
	} {
		require.NoError(t, s.CreateDocument(t.Context(), chat.Document{ID: name, Owner: "o"}, nil))
		edition := must.Have(s.beginEdition(t.Context(), "o", name, nil, "half"))(t)
		must.Have(s.storeChunks(t.Context(), edition, "", 0, []chat.Chunk{{Text: "half"}}, [][]float32{{1}}))(t)
		hits := must.Have(s.SearchText(t.Context(), "o", db.Words("half"), nil, 9))(t)
		require.Empty(t, hits, "a partly stored text is invisible")
		require.NoError(t, end(name))
		for _, table := range []string{
			"editions WHERE text = 'half'", "chunks WHERE text = 'half'", "chunk_vectors", "chunk_index WHERE chunk_index MATCH 'half'",
		} {
			var n int
			require.NoError(t, s.reader.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
			require.Zero(t, n, "%s: %s", name, table)
		}
	}
}

func TestDeletingAConversationDeletesItsRowsInEveryTable(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	ctx := t.Context()
	turn := chat.Turn{ID: "t", Owner: "o", ThreadID: "c", ClientTurnID: "ct", StreamRunID: "r", Content: chat.Content{Message: "hello"}}
	for _, ref := range []db.CancelRef{{TurnID: "t"}, {ThreadID: "c", ClientTurnID: "ct"}, {StreamRunID: "r"}} {
		require.NoError(t, s.Cancel(ctx, "o", ref, chat.UserCancelled))
	}
	_, _, _, err := s.InsertTurn(ctx, turn)
	require.NoError(t, err)
	must.Have(s.Settle(ctx, db.Settlement{Owner: "o", ThreadID: "c", TurnID: "t", Status: chat.TurnCompleted, Text: "x", Terminal: chat.Event{N: 1}}))(t)
	turn.ID, turn.ClientTurnID = "t2", "ct2"
	_, _, _, err = s.InsertTurn(ctx, turn)
	require.NoError(t, err)
	require.NoError(t, s.PutText(ctx, "o", "t2", "k", "x"))
	require.NoError(t, s.SaveDraft(ctx, "o", db.Draft{TurnID: "t2", Piece: 1, Text: "x"}))
	require.NoError(t, s.PutAttachment(ctx, chat.Attachment{ID: "a", Owner: "o", ThreadID: "c"}, nil))
	must.Have(s.PutRepo(ctx, "o", "c", nil, "", nil))(t)
	tables := []string{"conversations", "turns", "messages", "turn_events", "turn_texts", "drafts", "stream_runs", "cancels", "attachments", "repos"}
	count := func(table string) (n int) {
		require.NoError(t, s.reader.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		return n
	}
	for _, table := range tables {
		require.NotZero(t, count(table), table)
	}
	require.NoError(t, s.DeleteConversation(ctx, "o", "c"))
	for _, table := range tables {
		require.Zero(t, count(table), table)
	}
}

func TestOldCancelsArePruned(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	for _, id := range []string{"old", "new"} {
		require.NoError(t, s.Cancel(t.Context(), "o", db.CancelRef{TurnID: id}, chat.UserCancelled))
		if id == "old" {
			must.Have(s.writer.Exec("UPDATE cancels SET created_at = created_at - 25 * 3600 * 1000000"))(t)
		}
	}
	var kept string
	require.NoError(t, s.reader.QueryRow("SELECT group_concat(ref) FROM cancels").Scan(&kept))
	require.Equal(t, "new", kept)
}

func TestPicturesUnusedForADayArePruned(t *testing.T) {
	s, ctx := openStore(t, filepath.Join(t.TempDir(), "palaver.db")), t.Context()
	must.Have(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))(t)
	put := func(a chat.Attachment) {
		a.Owner = "o"
		require.NoError(t, s.PutAttachment(ctx, a, []byte("x")))
	}
	put(chat.Attachment{ID: "old"})
	put(chat.Attachment{ID: "old, used", ThreadID: "c"})
	must.Have(s.writer.Exec("UPDATE attachments SET created_at = created_at - 25 * 3600 * 1000000"))(t)
	put(chat.Attachment{ID: "new"})
	put(chat.Attachment{ID: "newer"})
	var kept string
	require.NoError(t, s.reader.QueryRow("SELECT group_concat(id, ';') FROM (SELECT id FROM attachments ORDER BY id)").Scan(&kept))
	require.Equal(t, "new;newer;old, used", kept)
}

func TestCountsAreKeyedByDigestAndPrunedAfterTheirWindow(t *testing.T) {
	s, ctx := openStore(t, filepath.Join(t.TempDir(), "palaver.db")), t.Context()
	now := time.Now()
	keys := func() (list []string) {
		rows := must.Have(s.reader.Query("SELECT key FROM limits"))(t)
		defer rows.Close()
		for rows.Next() {
			var key string
			require.NoError(t, rows.Scan(&key))
			list = append(list, key)
		}
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

func TestWritesSurviveReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	s := openStore(t, path)
	want := must.Have(s.CreateConversation(t.Context(), chat.Conversation{ID: "c", Owner: "o", Title: "T"}))(t)
	require.NoError(t, s.Close())
	got := must.Have(openStore(t, path).Conversation(t.Context(), "o", "c"))(t)
	require.Equal(t, want, got)
}

func TestTwoStoresShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	one, two := openStore(t, path), openStore(t, path)
	var wg sync.WaitGroup
	var errs [2]error
	for i, s := range []*Store{one, two} {
		wg.Go(func() {
			for range 50 {
				if errs[i] == nil {
					errs[i] = s.PutProfile(t.Context(), "o", chat.Profile{Industry: "x"})
				}
				if errs[i] == nil {
					_, errs[i] = s.CreateConversation(t.Context(), chat.Conversation{ID: "c", Owner: "o"})
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
}

func TestALockedDatabaseIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	other := openStore(t, path)
	s := must.Have(open(t.Context(), path, time.Millisecond, db.OpenOptions{}))(t)
	defer s.Close()
	tx := must.Have(other.writer.Begin())(t)
	require.ErrorIs(t, must.ErrOf(s.CreateConversation(t.Context(), chat.Conversation{ID: "c", Owner: "o"})), db.ErrUnavailable)
	require.ErrorIs(t, s.PutProfile(t.Context(), "o", chat.Profile{}), db.ErrUnavailable)
	require.NoError(t, s.Ping(t.Context()), "reads still work")
	require.NoError(t, tx.Rollback())
	require.NoError(t, s.PutProfile(t.Context(), "o", chat.Profile{}))
}

func TestDeadlineExceededIsUnavailable(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	err := must.ErrOf(s.ListConversations(ctx, "o", "", "", 10))
	require.ErrorIs(t, err, db.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// interrupted is SQLITE_INTERRUPT, which the driver returns when a context ends during BEGIN.
type interrupted struct{ error }

func (interrupted) Code() int { return 9 }

func TestBeginThatIsInterruptedReturnsTheReason(t *testing.T) {
	err := fmt.Errorf("begin: %w", interrupted{errors.New("interrupted (9)")})
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorAs(t, reasonOf(ctx, err), new(interrupted))
	cancel()
	require.ErrorIs(t, reasonOf(ctx, err), context.Canceled)
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	require.ErrorIs(t, reasonOf(late, err), context.DeadlineExceeded)
}

func TestCancelledCallReturnsContextCanceled(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "palaver.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := must.ErrOf(s.CreateConversation(ctx, chat.Conversation{ID: "c", Owner: "o"}))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, db.ErrUnavailable)
}

func TestOpenFailsWhenTheFolderCannotBeCreated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(t.Context(), filepath.Join(file, "palaver.db"))
	require.ErrorContains(t, err, file)
}

func TestOpenFailsForAFileThatIsNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "palaver.db")
	require.NoError(t, os.WriteFile(path, []byte("this is no database, however long it may be"), 0o600))
	_, err := Open(t.Context(), path)
	require.ErrorContains(t, err, "not a database")
}

// SQLite plans with the value of a bare parameter after LIMIT, so it parses the
// statement again each time it is bound: 3 % of a turn's CPU.
func TestLimitParametersAreCastSoThatStatementsAreNotReparsed(t *testing.T) {
	files := must.Have(filepath.Glob("queries/*.sql"))(t)
	require.NotEmpty(t, files)
	alone := regexp.MustCompile(`(?i)(LIMIT|OFFSET)\s+[@?:$]`)
	for _, file := range append(files, "search.go") {
		text := must.Have(os.ReadFile(file))(t)
		require.Empty(t, alone.FindString(string(text)), "%s: write LIMIT CAST(@max_rows AS INTEGER)", file)
	}
}

func TestCompactGivesDeletedRowsBackToTheFileSystem(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "palaver.db")
	s := openStore(t, path)
	size := func() int64 {
		info := must.Have(os.Stat(path))(t)
		return info.Size()
	}
	freed := must.Have(s.Compact(t.Context()))(t)
	require.Zero(t, freed, "nothing is free")
	d := chat.Document{ID: "big", Owner: "o", Title: "big", SourceType: chat.SourceUpload, Format: "txt", Status: chat.DocProcessing, CreatedAt: time.Now()}
	require.NoError(t, s.CreateDocument(t.Context(), d, make([]byte, 24<<20)))
	require.NoError(t, s.DeleteDocument(t.Context(), "o", d.ID))
	usage := must.Have(s.UsageByTable(t.Context()))(t)
	require.Equal(t, FreePages, usage[0].Table)
	freed = must.Have(s.Compact(t.Context()))(t)
	require.Greater(t, freed, int64(23<<20))
	require.Less(t, size(), int64(4<<20))
	require.NoError(t, s.Ping(t.Context()), "the open connections still work")
	require.NoError(t, s.CreateDocument(t.Context(), d, []byte("again")))
}
