//go:build long

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
