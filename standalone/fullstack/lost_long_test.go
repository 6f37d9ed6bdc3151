//go:build long

package fullstack

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/workflows"
)

func TestLongThreadsRecoverWhenTheirWorkflowsAreTerminated(t *testing.T) {
	t.Parallel()
	eachRepair(t, func(s *scene) {
		s.busy()
		page := s.threads["writing"].attach("")
		page.until(isType("token"))
		for _, c := range s.threads {
			s.terminate(workflows.ThreadWorkflowID(c.thread))
		}
		s.wantLost(page.until(terminal), "Once upon a time")
		if s.sweeps {
			anHourLater(s.t, s.stack.Dir)
		}
		s.recovered()
	})
}

func TestLongThreadsRecoverWhenTemporalIsRestoredFromABackup(t *testing.T) {
	t.Parallel()
	eachRepair(t, func(s *scene) {
		// The copy has a question that is answered later, a turn that ends later, and
		// idle threads.
		s.ask("answered later")
		s.ask("answered too")
		s.ask("still asks")
		s.story("ends later")
		for _, name := range []string{"writing", "queue", "asked"} { // the backup will not have the other threads
			s.exchange(name, "Good morning")
		}
		restore := s.backup()
		for _, name := range []string{"answered later", "answered too"} {
			require.Equal(s.t, "response", last(s.threads[name].resume(chat.ActionChoice, "summarize")).Type)
		}
		s.threads["ends later"].stop(nil)
		s.settled("answered later", "answered too", "ends later")
		s.busy()
		s.restart(func(dir string) {
			restore(only(temporalFile))
			anHourLater(s.t, dir)
		})
		s.answer("still asks")
		// A question that is open only in the workflow blocks nothing.
		require.Equal(s.t, "response", last(s.send("answered later", "Behind a question", object{"on_busy": "enqueue"}).all()).Type)
		require.Equal(s.t, "response", last(s.send("answered too", "If nothing runs", object{"on_busy": "reject"}).all()).Type)
		s.recovered()
	})
}

func TestLongThreadsRecoverWhenPalaversDatabaseIsRestoredFromABackup(t *testing.T) {
	t.Parallel()
	eachRepair(t, func(s *scene) {
		s.exchange("asks later", "Hello")
		s.exchange("says more", "Hello")
		s.ask("still asks")
		s.busy()
		s.drafted("writing", "writing too", "and too", "queue")
		restore := s.backup()
		// Open turns end and new ones start.
		for _, name := range []string{"writing", "writing too", "and too", "queue"} {
			c := s.threads[name]
			require.Eventually(s.t, func() bool { c.stop(nil); return c.history().Active == nil }, waitTimeout, 20*time.Millisecond)
		}
		require.Equal(s.t, "response", last(s.threads["asked"].resume(chat.ActionChoice, "summarize")).Type)
		known := s.sent
		s.sent = map[string][]string{}
		s.ask("asks later")
		s.ask("is new and asks")
		require.Equal(s.t, "response", last(s.send("says more", "Is this kept?", object{"client_turn_id": "again"}).all()).Type)
		s.sent = known
		s.restart(func(dir string) {
			restore(only(palaverFile))
			anHourLater(s.t, dir)
		})
		s.answer("still asks")
		// A client without an answer sends its message again.
		require.Equal(s.t, "response", last(s.send("says more", "Is this kept?", object{"client_turn_id": "again"}).all()).Type)
		// Questions of turns that are not in the database block nothing.
		for _, name := range []string{"asks later", "is new and asks"} {
			require.Equal(s.t, "response", last(s.send(name, "Behind a question", object{"on_busy": "enqueue"}).all()).Type)
		}
		s.recovered()
	})
}

func TestLongRestoreOfAWholeBackupBringsItsStateBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, "by the sweep")
	for _, name := range []string{"idle", "says more", "is deleted"} {
		s.exchange(name, "Hello")
	}
	s.ask("asked")
	s.ask("is answered")
	s.story("writing")
	s.story("is stopped")
	s.drafted("writing", "is stopped")
	restore := s.backup()

	kept := map[string][]string{}
	for name, messages := range s.sent {
		kept[name] = slices.Clone(messages)
	}
	s.exchange("says more", "Is this kept?")
	s.exchange("is new", "Hello")
	s.threads["is deleted"].do(http.StatusNoContent, http.MethodDelete, "/api/conversations/"+s.threads["is deleted"].thread, nil, nil)
	require.Equal(t, "response", last(s.threads["is answered"].resume(chat.ActionChoice, "summarize")).Type)
	s.threads["is stopped"].stop(nil)
	s.settled("is answered", "is stopped")
	s.sent = kept
	s.model.On(storyCall, llmtest.Text("Once upon ", "a time", " there was a bank."))
	s.restart(func(dir string) {
		// The secret of a new installation, to which the backup is moved.
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cookie_secret"), []byte(strings.Repeat("0", 64)), 0o600))
		restore()
	})

	require.Equal(t, s.owner, s.threads["idle"].me(), "the cookie is still valid")
	isNew := s.threads["is new"]
	isNew.do(http.StatusNotFound, http.MethodGet, "/api/chat/history/"+isNew.thread, nil, nil)
	delete(s.threads, "is new")
	for name := range kept {
		require.Equal(t, kept[name], s.shown(name), "thread %q", name)
	}
	for _, name := range []string{"writing", "is stopped"} { // an answer that is open in the backup continues
		s.settled(name)
		end := s.end(name, "Tell me a story")
		require.Equal(t, "response", end.Type)
		require.Equal(t, "Once upon a time there was a bank.", end.Response)
	}
	s.answer("asked")
	s.answer("is answered")
	for name := range s.threads {
		s.usable(name)
	}
}

// backup runs palaver backup while the stack runs. restore runs palaver restore for the folder
// of the stopped stack, with flags such as --only.
func (s *scene) backup() (restore func(flags ...string)) {
	s.t.Helper()
	archive := filepath.Join(s.t.TempDir(), "backup.tar.gz")
	code, said := s.stack.Palaver("backup", "--to="+archive)
	require.Zero(s.t, code, said)
	require.Contains(s.t, said, temporalFile)
	return func(flags ...string) {
		s.t.Helper()
		code, said := s.stack.Palaver(append([]string{"restore", archive}, flags...)...)
		require.Zero(s.t, code, said)
		require.Contains(s.t, said, "before-restore-")
	}
}

// only is the flag of a restore of one database.
func only(name string) string { return "--only=" + name }

// answer answers a question that is open in the workflow and in the database.
func (s *scene) answer(name string) {
	s.t.Helper()
	require.NotNil(s.t, s.threads[name].history().Pending)
	require.Equal(s.t, "response", last(s.threads[name].resume(chat.ActionChoice, "summarize")).Type)
}

// drafted waits until the database has what the threads have written so far.
func (s *scene) drafted(names ...string) {
	s.t.Helper()
	pool := rowsOf(s.t, s.stack.Dir)
	defer func() { _ = pool.Close() }()
	for _, name := range names {
		require.Eventually(s.t, func() bool {
			var n int
			require.NoError(s.t, pool.QueryRow("SELECT count(*) FROM drafts d JOIN turns t ON t.id = d.turn_id WHERE t.thread_id = ? AND d.text = 'Once upon a time'", s.threads[name].thread).Scan(&n))
			return n > 0
		}, waitTimeout, 50*time.Millisecond, "thread %q", name)
	}
}
