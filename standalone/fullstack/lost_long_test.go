//go:build long

package fullstack

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/workflows"
)

// Temporal has lost the first workflow task of a thread: no worker gets it, although all of them
// are alive.
func TestLongThreadWhoseWorkflowTaskIsLostTakesTheMessage(t *testing.T) {
	t.Parallel()
	s, _, c := scripted(t, stacktest.Env("REPAIR_INTERVAL=0s")) // no sweep ends the thread
	_, err := s.Temporal().ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflows.ThreadWorkflowID(c.thread), TaskQueue: "nobody polls this",
	}, workflows.ThreadType, workflows.ThreadInput{Owner: c.me(), ThreadID: c.thread})
	require.NoError(t, err)
	message := object{"message": "Hello", "thread_id": c.thread, "client_turn_id": "m1"}
	send := func() int {
		resp := c.request(t.Context(), http.MethodPost, "/api/chat", message)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	require.Eventually(t, func() bool { return send() != http.StatusServiceUnavailable }, waitTimeout, 20*time.Millisecond)
	require.Len(t, c.history().Messages, 2)
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
	require.Empty(t, isNew.history().Messages)
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
