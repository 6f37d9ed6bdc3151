package workflows_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/workflows"
)

// resumed is the entry of the first answer in a log.
func resumed(t *testing.T, log []chat.Entry) chat.Entry {
	t.Helper()
	i := slices.IndexFunc(log, func(e chat.Entry) bool { return e.Type == chat.EventResumed })
	require.GreaterOrEqual(t, i, 0, "%v", log)
	return log[i]
}

func TestAnswerRecordsItsChannel(t *testing.T) {
	inquire := answer(chat.ActionChoice, "inquire")
	for name, c := range map[string]struct {
		give func(p *harness)
		want chat.Channel
	}{
		"the page": {func(p *harness) {
			p.update(workflows.UpdateResume, "r", workflows.ResumeRequest{Value: inquire, Channel: chat.ByPage})
		}, chat.ByPage},
		"a shell": {func(p *harness) { p.env.SignalWorkflow(workflows.SignalResume, inquire) }, chat.BySignal},
		"a shell that claims to be the page": {func(p *harness) {
			p.env.SignalWorkflow(workflows.SignalResume, map[string]any{"type": "action_choice", "value": "inquire", "channel": "page"})
		}, chat.BySignal},
		"an update without a channel": {func(p *harness) { p.resume(inquire) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, ambiguousTurn())
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() { c.give(p) })
			p.run()
			require.Equal(t, c.want, resumed(t, p.endings[0].Log).Channel)
		})
	}
}

func TestDecisionsAboutToolsRecordTheirChannel(t *testing.T) {
	edited := yes("c1")
	edited.Arguments = json.RawMessage(`{"prompt":"two cats"}`)
	for name, c := range map[string]struct {
		give func(p *harness)
		want chat.Channel
	}{
		"our MCP server": {func(p *harness) {
			p.update(workflows.UpdateResume, "r", workflows.ResumeRequest{Value: decide(yes("c1")), Channel: chat.ByMCP})
		}, chat.ByMCP},
		"a shell":                    {func(p *harness) { p.env.SignalWorkflow(workflows.SignalResume, decide(yes("c1"))) }, chat.BySignal},
		"a shell with own arguments": {func(p *harness) { p.env.SignalWorkflow(workflows.SignalResume, decide(edited)) }, chat.BySignal},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, assistantTurn(toolCalls(1, "draw"), finalCall()))
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() { c.give(p) })
			p.run()
			require.Equal(t, c.want, resumed(t, p.endings[0].Log).Channel)
			taken := p.decided[len(p.decided)-1]
			require.Equal(t, c.want, taken.Channel, "the activity that records it is told")
			require.Equal(t, chat.InterruptID("t1", 1), taken.Question.ID)
		})
	}
}

func TestCancelRecordsItsChannel(t *testing.T) {
	cancel := func(p *harness, c chat.Cancel) { p.env.SignalWorkflow(workflows.SignalCancel, c) }
	for name, c := range map[string]struct {
		script  func() *script
		arrange func(p *harness)
		want    chat.Channel
	}{
		"of the page": {ambiguousTurn, func(p *harness) {
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() { cancel(p, chat.Cancel{TurnID: "t1", Channel: chat.ByPage}) })
		}, chat.ByPage},
		"of a shell": {ambiguousTurn, func(p *harness) {
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() { cancel(p, chat.Cancel{}) })
		}, chat.BySignal},
		"instead of an answer": {ambiguousTurn, func(p *harness) {
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() {
				p.update(workflows.UpdateResume, "r", workflows.ResumeRequest{Value: answer(chat.CancelResume, ""), Channel: chat.ByAPI})
			})
		}, chat.ByAPI},
		"before its submit": {clearTurn, func(p *harness) {
			p.at(0, func() { cancel(p, chat.Cancel{TurnID: "t1", Channel: chat.ByAPI}) })
			p.submitAt(1, "t1", chat.Supersede)
		}, chat.ByAPI},
		"the first counts": {ambiguousTurn, func(p *harness) {
			p.submitAt(0, "t1", chat.Supersede)
			p.at(1, func() {
				cancel(p, chat.Cancel{TurnID: "t1", Channel: chat.ByPage})
				cancel(p, chat.Cancel{TurnID: "t1"})
			})
		}, chat.ByPage},
		"by a later message": {ambiguousTurn, func(p *harness) {
			p.submitAt(0, "t1", chat.Supersede)
			p.submitAt(1, "t2", chat.Supersede)
			p.resumeAt(2, chat.ActionChoice, "inquire")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t, c.script())
			// A cancel may be the first message that a thread receives.
			c.arrange(p)
			p.run()
			require.Equal(t, "t1", p.endings[0].TurnID)
			require.Equal(t, chat.TurnCancelled, p.endings[0].Status)
			require.Equal(t, c.want, p.endings[0].Channel)
		})
	}
}

func TestCancelOfAWaitingTurnRecordsItsChannel(t *testing.T) {
	p := newHarness(t, ambiguousTurn())
	p.submitAt(0, "t1", chat.Supersede)
	p.submitAt(1, "t2", chat.Enqueue)
	p.at(2, func() { p.env.SignalWorkflow(workflows.SignalCancel, chat.Cancel{TurnID: "t2", Channel: chat.ByPage}) })
	p.resumeAt(3, chat.ActionChoice, "inquire")
	p.run()
	i := slices.IndexFunc(p.endings, func(e activities.Ending) bool { return e.TurnID == "t2" })
	require.Equal(t, chat.TurnCancelled, p.endings[i].Status)
	require.Equal(t, chat.ByPage, p.endings[i].Channel)
}
