//go:build long

package fullstack

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
)

const (
	// shortOutage is an outage of Temporal that must not affect running work.
	shortOutage = 2 * time.Second
	// heartbeatTimeout is Temporal's heartbeat timeout of an activity.
	heartbeatTimeout = 4 * time.Second
)

// throughLink returns a connection to Temporal that the test can cut or silence.
func throughLink(t *testing.T, s *stacktest.Apart) (stacktest.Option, *stack.Link) {
	link, err := stack.NewLink(s.Servers.Temporal)
	require.NoError(t, err)
	t.Cleanup(link.Close)
	return stacktest.Flag("temporal-address", link.Address()), link
}

// outages are the ways in which a server becomes unreachable.
var outages = map[string]func(*stack.Link){"refusing": (*stack.Link).Cut, "silent": (*stack.Link).Silence}

func isNotice(code string) func(event) bool {
	return func(e event) bool { return e.Type == "notice" && e.Code == code }
}

func TestLongShortOutageOfTemporalDoesNotInterruptAnAnswer(t *testing.T) {
	t.Parallel()
	for name, away := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, model := apart(t, nil)
			option, link := throughLink(t, s)
			s.Worker(option)
			api := s.API(option)
			c := newTalk(t, func() string { return api.URL }, s.NewUser())
			var words []string
			const each = 100 * time.Millisecond
			for i := range (shortOutage + heartbeatTimeout) / each {
				words = append(words, fmt.Sprintf("word%d ", i))
			}
			model.On(answerCall, llmtest.Answer{Chunks: append(words, "done."), Each: each})
			page := c.send("Tell me a story", assistant)
			seen := page.read(isType("token"))
			away(link)
			time.AfterFunc(shortOutage, link.Restore)
			seen = append(seen, page.read(terminal)...)
			require.Equal(t, "response", last(seen).Type, "%+v", last(seen))
			require.Equal(t, 1, model.Count(answerCall), "the model is called once")
			require.Empty(t, model.Disconnected(), "no call is aborted")
			for _, e := range seen {
				require.False(t, isNotice(chat.NoticeRestarted)(e), "the answer must not restart")
			}
			require.Equal(t, last(seen).Response, text(seen))
		})
	}
}

func TestLongShortOutageOfTemporalLeavesNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, away := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, model := apart(t, nil)
			option, link := throughLink(t, s)
			s.Worker(option)
			api := s.API()
			c := newTalk(t, func() string { return api.URL }, s.NewUser())
			model.On(answerCall, llmtest.Calls(llmtest.Call("generate_image", object{"prompt": "a cat"})), llmtest.Text("Here it is."))
			model.On(paintCall, llmtest.Answer{Delay: shortOutage + heartbeatTimeout}, llmtest.Default())
			asked := last(c.ask("Draw a cat", assistant))
			require.Equal(t, string(chat.ToolApproval), asked.Kind)
			page := c.decide(approve(chat.CallID(asked.TurnID, 1)))
			require.Eventually(t, func() bool { return model.Count(paintCall) == 1 }, waitTimeout, 10*time.Millisecond)
			away(link)
			time.AfterFunc(shortOutage, link.Restore)
			end := last(page.all())
			require.Equal(t, "response", end.Type, "%+v", end)
			require.Equal(t, 1, model.Count(paintCall), "the tool runs once")
			require.Empty(t, model.Disconnected(), "the call is not aborted")
		})
	}
}
