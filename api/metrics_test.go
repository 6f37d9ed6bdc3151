package api

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/testkit/must"
)

// waits returns how many waits were measured, by "dialect agent until".
func waits(t *testing.T, b *bundle) map[string]int {
	t.Helper()
	families := must.Have(b.server.metrics.registry.Gather())(t)
	found := map[string]int{}
	for _, f := range families {
		if f.GetName() != "palaver_stream_wait_seconds" {
			continue
		}
		for _, series := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range series.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			found[strings.Join([]string{labels["dialect"], labels["agent"], labels["until"]}, " ")] = int(series.GetHistogram().GetSampleCount())
		}
	}
	return found
}

func TestEveryDialectMeasuresHowLongItsClientsWait(t *testing.T) {
	t.Parallel()
	ofDialects := map[string]struct {
		name  string
		agent chat.Agent // the dialect's own when the message names none
	}{
		"native": {"native", chat.AgentDocuments}, "AI SDK": {"ai_sdk", chat.AgentDocuments}, "LangGraph": {"langgraph", chat.AgentAssistant},
		"OpenAI": {"openai", chat.AgentDocuments}, "AG-UI": {"ag_ui", chat.AgentAssistant}, "agent v2": {"agent_v2", chat.AgentAssistant},
		"discovery": {"discovery", chat.AgentDiscovery},
	}
	require.Len(t, ofDialects, len(builtInDialects))
	for name, want := range ofDialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path, body, headers := "/chat/message", m{"message": "x", "discovery_context": m{"title": "Churn"}}, []string(nil)
			if d, is := sendInDialects[name]; is {
				path, body = d.path, d.body(d.thread, "c1", "x")
				if d.headers != nil {
					headers = d.headers(d.thread, "c1")
				}
			}
			must.Have(io.ReadAll(b.client().stream("POST", path, body, headers...).r))(t)
			series := want.name + " " + string(want.agent) + " "
			require.Equal(t, map[string]int{series + "first_event": 1, series + "first_token": 1, series + "terminal": 1}, waits(t, b))
		})
	}
}

func TestAQuestionEndsTheWaitAndItsAnswerIsNoMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.script = asking
	c := b.client()
	c.ask(m{"thread_id": someThread}).until("interrupt")
	c.stream("POST", "/api/chat/resume", m{"thread_id": someThread, "resume_value": m{"type": "cancel", "value": nil}}).rest()
	require.Equal(t, map[string]int{"native documents first_event": 1, "native documents terminal": 1}, waits(t, b))
}
