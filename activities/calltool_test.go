package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/testkit/activitytest"
	"github.com/palaver-chat/palaver/tools"
)

// wanting begins a turn with a tool call.
func (b *bundle) wanting(t tools.Tool, arguments string) activities.CallRequest {
	b.T.Helper()
	b.Equip(t)
	r := b.Ask("Do it")
	id := chat.CallID(r.TurnID, 1)
	b.Put(r.TurnRef, chat.CallKey(id), arguments)
	return activities.CallRequest{TurnRef: r.TurnRef, CallRef: chat.CallRef{ID: id, Name: t.Name}, Agent: chat.AgentAssistant, SideEffects: t.SideEffects}
}

// counting is a tool's Run that counts its calls and returns r and err.
func counting(n *atomic.Int32, r tools.Result, err error) func(context.Context, tools.Call) (tools.Result, error) {
	return func(context.Context, tools.Call) (tools.Result, error) {
		n.Add(1)
		return r, err
	}
}

func (b *bundle) result(r activities.CallRequest) string {
	return b.Texts(r.TurnRef)[chat.ResultKey(r.ID)]
}

func TestCallRunsWithItsArgumentsAndItsResultIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got tools.Call
	r := b.wanting(activitytest.SendTool(func(_ context.Context, c tools.Call) (tools.Result, error) {
		got = c
		return tools.Result{Content: "sent\x00 it", ChunkIDs: []string{"d.1"}, Usage: chat.Usage{CostUSD: 2}}, nil
	}), `{"query":"a"}`)
	require.Equal(t, activities.CallResult{Usage: chat.Usage{CostUSD: 2}}, must[activities.CallResult](b, b.CallTool, r))
	got.Report = nil
	require.Equal(t, tools.Call{Owner: owner, ThreadID: b.Thread, TurnID: r.TurnID, ID: r.ID, Arguments: json.RawMessage(`{"query":"a"}`)}, got)
	require.Equal(t, "sent it", b.result(r), "characters that a database rejects are removed")
	require.JSONEq(t, `["d.1"]`, b.Texts(r.TurnRef)[chat.ShownKey(r.ID)])
}

func TestCallRunsWithEditedArguments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got string
	r := b.wanting(activitytest.SendTool(func(_ context.Context, c tools.Call) (tools.Result, error) {
		got = string(c.Arguments)
		return tools.Result{Content: "ok"}, nil
	}), `{"query":"a"}`)
	b.Put(r.TurnRef, chat.EditedKey(r.ID), `{"query":"b"}`)
	must[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, `{"query":"b"}`, got)
}

func TestCallWithAStoredResultDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&n, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	found := must[*activities.CallResult](b, b.FindResult, r)
	require.Nil(t, found)
	first := must[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, first, must[activities.CallResult](b, b.CallTool, r))
	require.Equal(t, &first, must[*activities.CallResult](b, b.FindResult, r))
	require.EqualValues(t, 1, n.Load())
}

func TestCallWithWrongArgumentsOrAnUnknownToolDoesNotRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&n, tools.Result{}, nil)), `{"query":"a","more":1}`)
	require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.Contains(t, b.result(r), "more: is not allowed")

	r = b.wanting(activitytest.SendTool(counting(&n, tools.Result{}, nil)), `{"query":"a"}`)
	r.Name = "gone"
	require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.Contains(t, b.result(r), "The tool gone is not there any more.")
	require.Zero(t, n.Load())
}

func TestToolTimeoutCancelsTheToolAndIsAResultForTheModel(t *testing.T) {
	for _, sideEffects := range []bool{false, true} {
		b := setup(t)
		slow := activitytest.ReadTool("slow")
		slow.Timeout, slow.SideEffects = time.Millisecond, sideEffects
		slow.Run = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}
		r := b.wanting(slow, `{"query":"a"}`)
		require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
		require.Contains(t, b.result(r), "The tool did not answer within 1ms.")
		require.Equal(t, sideEffects, len(b.result(r)) > 40, "whether it took effect: %s", b.result(r))
	}
}

func TestFailingToolIsRetriedAndThenGivesAnErrorResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	look := activitytest.ReadTool("look")
	look.Run = counting(&n, tools.Result{}, errors.New("line cut: SECRET"))
	r := b.wanting(look, `{"query":"a"}`)
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "SECRET", "the tool's error does not enter the history")
	b.Info.Attempt = activities.ToolTries
	require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.Equal(t, "The tool failed.", b.result(r))
}

func TestFailingToolWithSideEffectsIsNotRetried(t *testing.T) {
	for name, run := range map[string]func(context.Context, tools.Call) (tools.Result, error){
		"fails":  func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, errors.New("cut") },
		"panics": func(context.Context, tools.Call) (tools.Result, error) { panic("at the worst time") },
	} {
		b := setup(t)
		r := b.wanting(activitytest.SendTool(run), `{"query":"a"}`)
		require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError, name)
		require.Contains(t, b.result(r), "it is unknown whether it took effect", name)
	}
}

// Reading the turn's texts panics, and the tool has not run: nobody is asked about its outcome.
func TestPanicBeforeAToolWithSideEffectsRunsIsNoUnknownOutcome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&n, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	b.Store.OnTexts = func() { panic("before the tool runs") }
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, activities.ErrTypeNotRun, activitytest.AppError(t, err).Type())
	require.Zero(t, n.Load())

	b.Store.OnTexts = nil
	b.Store.OnPut = func(key string) error {
		if key == chat.ResultKey(r.ID) {
			panic("after the tool ran")
		}
		return nil
	}
	_, err = run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, activities.ErrTypeUnknownOutcome, activitytest.AppError(t, err).Type())
	require.EqualValues(t, 1, n.Load())
}

func TestStopCancelsTheTool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(activitytest.SendTool(func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		b.Bus.Stops <- struct{}{}
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}), `{"query":"a"}`)
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, activities.ErrTypeStopped, activitytest.AppError(t, err).Type())
	require.Empty(t, b.result(r))
}

func TestStoppingWorkerLetsSideEffectsFinishAndInterruptsOtherCalls(t *testing.T) {
	for _, sideEffects := range []bool{true, false} {
		b := setup(t)
		stop := make(chan struct{})
		b.Env = b.NewEnv(worker.Options{})
		b.Env.SetWorkerStopChannel(stop)
		slow := activitytest.ReadTool("slow")
		slow.SideEffects = sideEffects
		slow.Run = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
			close(stop)
			if !sideEffects {
				<-ctx.Done()
				return tools.Result{}, ctx.Err()
			}
			return tools.Result{Content: "sent"}, nil
		}
		r := b.wanting(slow, `{"query":"a"}`)
		_, err := run[activities.CallResult](b, b.CallTool, r)
		if sideEffects {
			require.NoError(t, err)
			require.Equal(t, "sent", b.result(r))
		} else {
			require.Equal(t, activities.ErrTypeInterrupted, activitytest.AppError(t, err).Type())
		}
	}
}

func TestToolResultIsStoredOnceTheDatabaseIsAvailableAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(activitytest.SendTool(func(context.Context, tools.Call) (tools.Result, error) {
		var once atomic.Bool
		b.Store.Mu.Lock()
		b.Store.OnPut = func(string) error {
			if once.CompareAndSwap(false, true) {
				return db.ErrUnavailable
			}
			return nil
		}
		b.Store.Mu.Unlock()
		return tools.Result{Content: "sent"}, nil
	}), `{"query":"a"}`)
	must[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, "sent", b.result(r))
}

func TestToolResultThatCannotBeStoredIsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(activitytest.SendTool(func(context.Context, tools.Call) (tools.Result, error) {
		b.Store.Mu.Lock()
		b.Store.OnPut = func(string) error { return errors.New("disk full") }
		b.Store.Mu.Unlock()
		return tools.Result{Content: "sent"}, nil
	}), `{"query":"a"}`)
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, activities.ErrTypeUnknownOutcome, activitytest.AppError(t, err).Type())
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.True(t, app.NonRetryable())
}

func (b *bundle) decide(r activities.CallRequest, prompt chat.PromptCode, d chat.Decision, check bool) activities.DecideResult {
	b.T.Helper()
	d.ID = r.ID
	r.Editable = prompt == chat.PromptApproveTools
	return must[activities.DecideResult](b, b.Decide, activities.DecideRequest{
		TurnRef: r.TurnRef, Check: check,
		Question: chat.Question{Type: chat.ToolApproval, Prompt: prompt, Calls: []chat.CallRef{r.CallRef}},
		Value:    chat.ResumeValue{Type: chat.ToolApproval, Decisions: []chat.Decision{d}},
	})
}

// Palaver's database was restored from before the answer: it has the question's arguments only.
func TestApprovalWhoseStoredPartIsLostRunsNothing(t *testing.T) {
	b := setup(t)
	r := b.wanting(activitytest.SendTool(nil), `{"query":"a"}`)
	b.Put(r.TurnRef, chat.SchemaKey("send"), string(activitytest.ReadTool("").Schema))
	got := must[activities.DecideResult](b, b.Decide, activities.DecideRequest{
		TurnRef:  r.TurnRef,
		Question: chat.Question{Type: chat.ToolApproval, Prompt: chat.PromptApproveTools, Calls: []chat.CallRef{r.CallRef}},
		Value: chat.ResumeValue{Type: chat.ToolApproval, Ref: chat.AnswerKey("lost"),
			Decisions: []chat.Decision{{ID: r.ID, Decision: chat.Approved}}},
	})
	require.Empty(t, got.Run)
	require.True(t, got.Misfit)
	require.Equal(t, "The call was not made: what the person decided was lost.", b.result(r))
}

func TestDecideStoresThePersonsDecisions(t *testing.T) {
	const ask, unknown = chat.PromptApproveTools, chat.PromptUnknownOutcome
	for name, c := range map[string]struct {
		prompt   chat.PromptCode
		decision chat.Decision
		run      bool
		misfit   bool
		edited   string
		result   string
	}{
		"approved":                    {ask, chat.Decision{Decision: chat.Approved}, true, false, "", ""},
		"approved as it is":           {ask, chat.Decision{Decision: chat.Approved, Arguments: json.RawMessage(` { "query" : "a" } `)}, true, false, "", ""},
		"edited":                      {ask, chat.Decision{Decision: chat.Approved, Arguments: json.RawMessage(`{"query":"b"}`)}, true, false, `{"query":"b"}`, ""},
		"edited against the schema":   {ask, chat.Decision{Decision: chat.Approved, Arguments: json.RawMessage(`{"query":1}`)}, false, true, "", "The call was not made: the person changed its arguments, and query: got number, want string."},
		"edited though it may not be": {unknown, chat.Decision{Decision: chat.Approved, Arguments: json.RawMessage(`{"query":"b"}`)}, false, true, "", "The call was not made: the person changed its arguments, and the arguments of send cannot be changed."},
		"rejected":                    {ask, chat.Decision{Decision: chat.Rejected}, false, false, "", "The person rejected this call."},
		"rejected with a reason":      {ask, chat.Decision{Decision: chat.Rejected, Reason: "too dear"}, false, false, "", "The person rejected this call: too dear"},
		"nobody answered":             {ask, chat.Decision{Decision: chat.Rejected, Reason: activities.NoAnswerInTime}, false, false, "", "The call was not made: nobody answered in time."},
		"not run again":               {unknown, chat.Decision{Decision: chat.Rejected}, false, false, "", "The outcome is unknown: the process died while the tool ran. The person does not want it run again."},
		"run again":                   {unknown, chat.Decision{Decision: chat.Approved}, true, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			r := b.wanting(activitytest.SendTool(nil), `{"query":"a"}`)
			b.Put(r.TurnRef, chat.SchemaKey("send"), string(activitytest.ReadTool("").Schema))
			before := len(b.Texts(r.TurnRef))
			checked := b.decide(r, c.prompt, c.decision, true)
			require.Equal(t, c.misfit, checked.Misfit)
			require.Len(t, b.Texts(r.TurnRef), before, "a check stores nothing")

			got := b.decide(r, c.prompt, c.decision, false)
			require.Equal(t, c.run, len(got.Run) == 1)
			require.Equal(t, c.misfit, got.Misfit)
			require.Equal(t, c.edited, b.Texts(r.TurnRef)[chat.EditedKey(r.ID)])
			require.Equal(t, c.result, b.result(r))
		})
	}
}

// A worker that was frozen during a model call can go on when the call of another
// attempt has been shown and approved, and try to write its own arguments.
// Rule W8.
func TestToolDoesNotRunWithArgumentsThatWereNotShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var runs atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&runs, tools.Result{Content: "sent"}, nil)), `{"query":"ALPHA"}`)
	r.Hash = tools.Hash([]byte(`{"query":"BETA"}`))
	require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.Equal(t, "The call was not made: its arguments changed after they were shown.", b.result(r))
	require.Zero(t, runs.Load())
}

// TestAttemptThatResumesAfterAFreezeDoesNotChangeCallsOfALaterOne: the person was shown
// BETA, so BETA must run.
// Rule W9.
func TestAttemptThatResumesAfterAFreezeDoesNotChangeCallsOfALaterOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var got []string
	b.Equip(activitytest.SendTool(func(_ context.Context, c tools.Call) (tools.Result, error) {
		got = append(got, string(c.Arguments))
		return tools.Result{Content: "sent"}, nil
	}))
	r := b.Ask("Send it")
	id := chat.CallID(r.TurnID, 1)
	b.Model.Reply.Calls = []llm.ToolCall{activitytest.Call("send", `{"query":"ALPHA"}`)}
	b.Model.OnStream = func(ctx context.Context, _ func(string) error) error { // the second attempt writes meanwhile
		return b.Store.PutTexts(ctx, owner, r.TurnID, []db.Text{{Key: chat.CallKey(id), Text: `{"query":"BETA"}`, Order: 2}})
	}
	_, err := b.tryThink(r)
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, activities.ErrTypeOutdated, app.Type())
	require.NotContains(t, b.Texts(r.TurnRef), chat.SaidKey(1), "its other texts are not written either")

	must[activities.CallResult](b, b.CallTool, activities.CallRequest{TurnRef: r.TurnRef, Agent: chat.AgentAssistant, SideEffects: true,
		CallRef: chat.CallRef{ID: id, Name: "send", Hash: tools.Hash([]byte(`{"query":"BETA"}`))}})
	require.Equal(t, []string{`{"query":"BETA"}`}, got)
}

func TestCallWithoutItsStoredArgumentsDoesNotRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var runs atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&runs, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	r.ID = chat.CallID(r.TurnID, 2)
	require.True(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.Equal(t, "The call was not made: its arguments are not there any more.", b.result(r))
	require.Zero(t, runs.Load())
}

// A workflow that was restored from a backup may be behind the database.
func TestActivitiesOfASettledTurnDoNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var runs atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&runs, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	b.End(activities.Ending{TurnRef: r.TurnRef, Status: chat.TurnCompleted, Log: activitytest.Written1[:1]})
	for what, call := range map[string]func() error{
		"CallTool":   func() error { _, err := run[activities.CallResult](b, b.CallTool, r); return err },
		"FindResult": func() error { _, err := run[*activities.CallResult](b, b.FindResult, r); return err },
		"Decide": func() error {
			_, err := run[activities.DecideResult](b, b.Decide, activities.DecideRequest{TurnRef: r.TurnRef})
			return err
		},
		"Think": func() error { _, err := b.tryThink(activitytest.Step{TurnRef: r.TurnRef}); return err },
		"KeepLog": func() error {
			_, err := run[any](b, b.KeepLog, activities.LogRequest{TurnRef: r.TurnRef, From: 1})
			return err
		},
		"KeepAnswer": func() error {
			_, err := run[string](b, b.KeepAnswer, activities.KeepRequest{TurnRef: r.TurnRef, InterruptID: "i"})
			return err
		},
	} {
		var app *temporal.ApplicationError
		require.ErrorAs(t, call(), &app, what)
		require.Equal(t, activities.ErrTypeSettled, app.Type(), what)
		require.True(t, app.NonRetryable(), what)
	}
	require.Zero(t, runs.Load())
	_, err := b.Store.Texts(context.Background(), owner, r.TurnID)
	require.ErrorIs(t, err, db.ErrSettled)
}

func TestEditedArgumentsRunWithTheHashOfTheDecision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var runs atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&runs, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	r.Hash, r.Editable = tools.Hash([]byte(`{"query":"a"}`)), true
	b.Put(r.TurnRef, chat.SchemaKey("send"), string(activitytest.ReadTool("").Schema))
	got := b.decide(r, chat.PromptApproveTools, chat.Decision{Decision: chat.Approved, Arguments: json.RawMessage(`{ "query": "c", "query": "b" }`)}, false)
	require.Equal(t, map[string]string{r.ID: tools.Hash([]byte(`{"query":"b"}`))}, got.Hashes)
	require.Equal(t, `{"query":"b"}`, b.Texts(r.TurnRef)[chat.EditedKey(r.ID)], "each key once, as it is shown and sent")
	r.Hash = got.Hashes[r.ID]
	require.False(t, must[activities.CallResult](b, b.CallTool, r).IsError)
	require.EqualValues(t, 1, runs.Load())
}

func TestOnlyAnApprovalIsRemembered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.wanting(activitytest.SendTool(nil), `{"query":"a"}`)
	require.Equal(t, []string{"send"}, b.decide(r, chat.PromptApproveTools, chat.Decision{Decision: chat.Approved, Remember: true}, false).Remember)
	require.Empty(t, b.decide(r, chat.PromptApproveTools, chat.Decision{Decision: chat.Rejected, Remember: true}, false).Remember)
}

func TestApprovalsComeFromTheParentTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Equip(activitytest.SendTool(nil))
	first := b.Exchange("One", "1")
	ref := b.Say("Two")
	b.Put(ref, chat.PieceKey(1), "2")
	b.End(activities.Ending{TurnRef: ref, Status: chat.TurnCompleted, Approvals: []string{"send"}, Log: []chat.Entry{
		{N: 1, Type: chat.EventTurnStarted}, {N: 2, Type: chat.EventText, Piece: 1, Ref: chat.PieceKey(1)}}})

	require.Equal(t, []string{"send"}, must[activities.BeginResult](b, b.BeginTurn, b.Insert(chat.Content{Message: "Three"})).Approved)
	branch := must[activities.BeginResult](b, b.BeginTurn, b.Insert(chat.Content{Message: "Two again", ParentRequest: first.TurnID}))
	require.Empty(t, branch.Approved)
	root := must[activities.BeginResult](b, b.BeginTurn, b.Insert(chat.Content{Message: "Zero", ParentRequest: chat.RootCheckpoint}))
	require.Empty(t, root.Approved)
}

// The machine lost power: Temporal does not know that the call began.
func TestCallThatWasAboutToRunDoesNotRunAgainUnlessThePersonWantsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	r := b.wanting(activitytest.SendTool(counting(&n, tools.Result{Content: "sent"}, nil)), `{"query":"a"}`)
	b.Put(r.TurnRef, chat.StartedKey(r.ID), "0")
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, activities.ErrTypeUnknownOutcome, activitytest.AppError(t, err).Type())
	require.Zero(t, n.Load())
	r.Repeat = 1
	must[activities.CallResult](b, b.CallTool, r)
	require.EqualValues(t, 1, n.Load())
	require.Equal(t, "1", b.Texts(r.TurnRef)[chat.StartedKey(r.ID)])
}

// Rule W16.
func TestCallWithSideEffectsIsRecordedAndConfirmedBeforeItRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Info.Heartbeat = longTimeout
	sent := b.answerHeartbeats(nil)
	var r activities.CallRequest
	synced := ""
	b.Store.OnSync = func() { synced = b.Texts(r.TurnRef)[chat.StartedKey(r.ID)] }
	r = b.wanting(activitytest.SendTool(func(context.Context, tools.Call) (tools.Result, error) {
		require.Equal(t, "0", synced, "the record survives a power loss")
		require.Positive(t, sent.Load(), "the server still knows the attempt")
		return tools.Result{Content: "ok"}, nil
	}), `{"query":"a"}`)
	must[activities.CallResult](b, b.CallTool, r)
}

func TestCallWithSideEffectsDoesNotBeginWhenTheTurnEndsBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var n atomic.Int32
	send := activitytest.SendTool(counting(&n, tools.Result{Content: "sent"}, nil))
	send.Timeout = time.Minute
	r := b.wanting(send, `{"query":"a"}`)
	r.Left = 59 * time.Second
	_, err := run[activities.CallResult](b, b.CallTool, r)
	require.Equal(t, chat.CodeDeadline, activitytest.AppError(t, err).Type())
	require.Zero(t, n.Load())
	require.NotContains(t, b.Texts(r.TurnRef), chat.StartedKey(r.ID))
}
