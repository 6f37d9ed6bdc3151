package fullstack

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// attemptOf returns the attempt that wrote a token.
func attemptOf(t *testing.T, token event) int {
	t.Helper()
	parts := strings.Split(token.EventID, ".") // turn, n, piece, attempt, offset
	require.Len(t, parts, 5, token.EventID)
	n, err := strconv.Atoi(parts[3])
	require.NoError(t, err)
	return n
}

// SIGSTOP leaves the worker's connections open, as a power cut or a partition does.
// Without a short keep-alive timeout, its long polls received seven attempts (48 s)
// before another worker got one.
func TestTurnOfAFrozenWorkerContinuesAtAnother(t *testing.T) {
	t.Parallel()
	turnOfAFrozenWorkerContinues(t)
}

func turnOfAFrozenWorkerContinues(t *testing.T, options ...stacktest.Option) {
	s, _ := apart(t, options)
	type host struct {
		*stacktest.Role
		model *llmtest.Server
		gate  *llmtest.Gate
	}
	hosts := make([]host, 2)
	for i := range hosts {
		model, gate := llmtest.New(t), llmtest.NewGate()
		t.Cleanup(gate.Release)
		model.On(answerCall, llmtest.Answer{Chunks: []string{"Said by ", "worker " + strconv.Itoa(i) + "."}, Gates: map[int]*llmtest.Gate{1: gate}})
		hosts[i] = host{s.Worker(stacktest.Model(model.URL)), model, gate}
	}
	api := s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	page := c.send("Who are you?", assistant)
	page.until(isType("token"))
	frozen, other := hosts[0], hosts[1]
	if other.model.Count(answerCall) == 1 {
		frozen, other = other, frozen
	}
	frozen.Freeze()
	began := time.Now()
	other.gate.Release()
	frozen.gate.Release() // the rest of its answer is ready when it thaws
	page.until(isNotice(chat.NoticeRestarted))
	token := page.until(isType("token"))
	t.Logf("continued after %v, at attempt %d", time.Since(began), attemptOf(t, token))
	require.LessOrEqual(t, attemptOf(t, token), 4)
	end := page.until(terminal)
	require.Equal(t, "response", end.Type)

	frozen.Thaw()
	other.Kill()
	again := last(c.ask("And now?", assistant))
	require.Equal(t, "response", again.Type)
	require.NotEqual(t, end.Response, again.Response, "the thawed worker works again")
	h := c.history()
	require.Equal(t, []string{"user", "assistant", "user", "assistant"}, h.roles())
	require.Equal(t, end.Response, h.Messages[1].Content, "the thawed worker changed nothing")
	require.Equal(t, 2, frozen.model.Count(answerCall), "the thawed worker ran none of the attempts in its long polls")
}

// A stale workflow task would run local activities on an old state, for example
// undo the start of a turn that another worker has started since.
func TestThawedWorkerDropsStaleWorkflowTasks(t *testing.T) {
	t.Parallel()
	s, _ := apart(t, nil)
	first, api := s.Worker(), s.API()
	c := newTalk(t, func() string { return api.URL }, s.NewUser())
	require.Equal(t, "response", last(c.ask("Hello", assistant)).Type) // caches the thread at this worker
	s.Worker()
	first.Freeze()
	end := last(c.ask("And now?", assistant))
	require.Equal(t, "response", end.Type)
	first.Thaw()
	require.Eventually(t, func() bool { return strings.Contains(first.Logged(), "dropped a stale workflow task") }, waitTimeout, 50*time.Millisecond)
	require.Equal(t, "response", last(c.ask("Are you well?", assistant)).Type)
	require.Equal(t, []string{"user", "assistant", "user", "assistant", "user", "assistant"}, c.history().roles())
}
