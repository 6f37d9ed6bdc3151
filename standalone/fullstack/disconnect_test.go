package fullstack

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/llmtest"
)

// Two clients with on_disconnect=cancel disconnect in mid-answer. A viewer at
// another process follows one of the turns.
// Rule A3.
func TestDisconnectCancelsATurnOnlyWithoutOtherViewers(t *testing.T) {
	t.Parallel() // it mostly waits
	s, model := apart(t, nil)
	s.Worker()
	first, second := s.API(), s.API()
	gate := llmtest.NewGate()
	t.Cleanup(gate.Release)
	model.On(answerCall, llmtest.Answer{Chunks: []string{"Once upon ", "a time"}, Gates: map[int]*llmtest.Gate{1: gate}})
	begin := func() (*talk, *stream) {
		c := newTalk(t, func() string { return first.URL }, s.NewUser())
		page := c.send("Tell me a story", with(assistant, object{"on_disconnect": "cancel", "client_turn_id": "story"}))
		page.until(isType("token"))
		return c, page
	}
	followed, page := begin()
	other := followed.at(second).attach("")
	other.until(isType("token"))
	page.close()
	alone, page := begin()
	page.close() // closed last: when its timeout has passed, so has the other's

	var h history // reading the history does not count as following
	require.Eventually(t, func() bool {
		h = alone.at(second).history()
		return h.Active == nil
	}, waitTimeout, 100*time.Millisecond)
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.Equal(t, "disconnect", h.Messages[1].Metadata["interrupted_reason"])
	require.Equal(t, "Once upon", strings.TrimSpace(h.Messages[1].Content))
	aborted(t, model, 1)
	gate.Release()
	require.Equal(t, "Once upon a time", other.until(terminal).Response)
}
