package activities_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
)

// telling is a tool without side effects that reports these lines, then returns err.
func telling(err func() error, lines ...string) tools.Tool {
	t := activitytest.ReadTool("tell")
	t.Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		for _, line := range lines {
			c.Report(chat.NodeImport, messages.Plain(line))
		}
		return tools.Result{Content: "told"}, err()
	}
	return t
}

func noError() error { return nil }

// live lists the reports that were published, and recorded those that are stored.
func (b *bundle) live() (lines []string) {
	for _, p := range b.Bus.Progress() {
		lines = append(lines, p.Text)
	}
	return lines
}

func (b *bundle) recorded(r activities.CallRequest) (lines []string) {
	for _, report := range chat.Reports(b.Texts(r.TurnRef), r.ID) {
		lines = append(lines, report.Text)
	}
	return lines
}

func TestReportsOfAToolAreStoredPublishedAndReturned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(telling(noError, "one", "tw\x00o"), `{"query":"a"}`)
	r.Logged = 7
	nodes := []chat.Node{chat.NodeImport, chat.NodeImport}
	called := activities.CallResult{Progress: nodes}
	require.Equal(t, called, must[activities.CallResult](b, b.CallTool, r))
	require.Equal(t, []string{"one", "two"}, b.recorded(r))
	require.Equal(t, []string{"one", "two"}, b.live())
	last := b.Bus.Progress()[1]
	require.Equal(t, chat.Report{Of: r.ID, Call: true, N: 2, Node: chat.NodeImport, Text: "two"}, last.Report)
	require.Equal(t, []any{r.TurnID, 7}, []any{last.TurnID, last.Logged})
	require.Equal(t, called, must[activities.CallResult](b, b.CallTool, r), "the next attempt returns them, too")
	require.Equal(t, &called, must[*activities.CallResult](b, b.FindResult, r))
}

func TestRepeatedAttemptGoesOnAfterTheReportsOfTheAttemptBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lines := []string{"one", "two"}
	tool := activitytest.ReadTool("tell")
	tool.Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		for _, line := range lines {
			c.Report(chat.NodeImport, messages.Plain(line))
		}
		if len(lines) == 2 {
			return tools.Result{}, errors.New("cut")
		}
		return tools.Result{Content: "told"}, nil
	}
	r := b.wanting(tool, `{"query":"a"}`)
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Error(t, err)
	lines = append(lines, "three")
	b.Info.Attempt = 2
	require.Len(t, must[activities.CallResult](b, b.CallTool, r).Progress, 3)
	require.Equal(t, []string{"one", "two", "three"}, b.recorded(r))
	require.Equal(t, []string{"one", "two", "three"}, b.live(), "each is seen once")
}

func TestReportThatIsNotStoredIsStoredWithTheResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	down := true
	b.Store.OnPut = func(key string) error {
		if down && strings.HasPrefix(key, "progress:") {
			return db.ErrUnavailable
		}
		return nil
	}
	r := b.wanting(telling(func() error { down = false; return nil }, "one", "two"), `{"query":"a"}`)
	require.Len(t, must[activities.CallResult](b, b.CallTool, r).Progress, 2)
	require.Equal(t, []string{"one", "two"}, b.recorded(r))
	require.Empty(t, b.live())
}

func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(telling(noError, slices.Repeat([]string{strings.Repeat("x", activities.MaxReport+1)}, activities.MaxReports+1)...), `{"query":"a"}`)
	require.Len(t, must[activities.CallResult](b, b.CallTool, r).Progress, activities.MaxReports)
	require.LessOrEqual(t, len(b.recorded(r)[0]), activities.MaxReport)
}

func TestReportAfterTheToolHasReturnedIsDropped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var late func(chat.Node, messages.Message)
	tool := activitytest.ReadTool("tell")
	tool.Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		late = c.Report
		return tools.Result{Content: "told"}, nil
	}
	r := b.wanting(tool, `{"query":"a"}`)
	require.Empty(t, must[activities.CallResult](b, b.CallTool, r).Progress)
	late(chat.NodeTool, messages.Plain("late"))
	require.Empty(t, b.recorded(r))
	require.Empty(t, b.live())
}

func TestCallWithoutAResultKeepsItsReports(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(b *bundle, r activities.CallRequest){
		"failed turn": func(b *bundle, r activities.CallRequest) {
			b.End(activities.Ending{TurnRef: r.TurnRef, Status: chat.TurnFailed, Code: chat.CodeInternal, Log: []chat.Entry{
				{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventToolCall, Call: &r.CallRef},
				{N: 3, Type: chat.EventStatus, Node: chat.NodeImport, Ref: chat.ProgressKey(r.ID, 1), Call: &r.CallRef},
			}})
		},
		"lost turn": func(b *bundle, r activities.CallRequest) {
			b.PutJSON(r.TurnRef, chat.SaidKey(1), activities.ModelResult{Calls: []activities.RequestedCall{{CallRef: r.CallRef}}})
			b.lose(r.TurnRef, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			send := telling(func() error { panic("the worker dies") }, "one", "two")
			send.SideEffects = true
			r := b.wanting(send, `{"query":"a"}`)
			b.Store.OnPut = func(key string) error {
				if key == chat.ResultKey(r.ID) {
					return errors.New("disk full")
				}
				return nil
			}
			_, err := run[activities.CallResult](b, b.CallTool, r)
			require.Equal(t, activities.ErrTypeUnknownOutcome, activitytest.AppError(t, err).Type())
			require.Equal(t, &activities.CallResult{Unknown: true, Progress: []chat.Node{chat.NodeImport, chat.NodeImport}}, must[*activities.CallResult](b, b.FindResult, r))
			settle(b, r)
			events, err := b.Store.Events(context.Background(), owner, r.TurnID, 0)
			require.NoError(t, err)
			var shown []string
			for i, e := range events {
				require.Equal(t, i+1, e.N)
				if e.Type == chat.EventStatus {
					require.Equal(t, r.ID, e.ToolCallID)
					shown = append(shown, e.Message)
				}
			}
			require.Equal(t, []string{"one", "two"}, shown)
			require.True(t, events[len(events)-1].Type.Terminal())
		})
	}
}
