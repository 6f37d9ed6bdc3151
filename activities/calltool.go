package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/tools"
)

// Types of application errors of CallTool, beside those of every activity.
const (
	// ErrTypeUnknownOutcome: the tool may have taken effect or not.
	ErrTypeUnknownOutcome = "unknown_outcome"
	// ErrTypeNotRun: the activity ended before the tool ran.
	ErrTypeNotRun = "not_run"
)

// toolTries is the number of attempts of a tool without side effects that returns a Go
// error or panics.
const toolTries = 3

// CallTool makes a tool call and stores its result, a text for the model. A timeout
// or a failure of the tool is a result, too. A tool with side effects runs at most
// once per activity; if its outcome is unknown, the error has ErrTypeUnknownOutcome.
// When an earlier attempt has stored a result, CallTool returns that.
func (a *Activities) CallTool(parent context.Context, r CallRequest) (_ CallResult, err error) {
	mayHaveRun := false
	defer func() {
		if p := recover(); p != nil {
			err = a.Panicked(parent, []any{r}, p)
			switch {
			case r.SideEffects && mayHaveRun:
				err = unknownOutcome(r)
			case r.SideEffects:
				err = notRun(r)
			}
		}
	}()
	watch := a.Watch
	if r.SideEffects {
		watch = a.WatchWithGrace
	}
	ctx, w := watch(parent, r.TurnID)
	defer w.End()

	texts, err := a.callTexts(ctx, r)
	if err != nil {
		if r.SideEffects && !w.Stopped() && ctx.Err() != nil {
			return CallResult{}, notRun(r)
		}
		return CallResult{}, a.EndError(w, ctx, r.TurnRef, "tool "+r.Name, err)
	}
	if done, ok := storedCall(texts, r.ID); ok {
		return done, nil
	}
	if r.SideEffects && startedBefore(texts, r) {
		return CallResult{}, unknownOutcome(r)
	}
	shown := a.recordCall(ctx, w, r, texts)
	if _, known := texts[chat.CallKey(r.ID)]; !known { // {} would not be the arguments that were shown
		return a.storeToolResult(ctx, w, r, shown, tools.Failed(messages.ToolNoArguments))
	}
	arguments := json.RawMessage(argumentsOf(texts, r.ID))
	agent, _ := a.Agents.Find(r.Agent)
	allowed := a.toolsOf(ctx, r.Owner, agent)
	at := slices.IndexFunc(allowed, func(t tools.Tool) bool { return t.Name == r.Name })
	if at < 0 {
		return a.storeToolResult(ctx, w, r, shown, tools.Failed(messages.ToolNotThere.With(messages.Params{"tool": r.Name})))
	}
	tool := allowed[at]
	if r.Pin != "" && tool.Pin != r.Pin {
		a.LogOf(r.TurnRef).Warn("tool call refused: the tool's definition changed after the model read it", "tool", r.Name, "call", r.ID)
		return a.storeToolResult(ctx, w, r, shown, tools.Failed(messages.ToolRedefined.With(messages.Params{"tool": r.Name})))
	}
	if r.Hash != "" && tools.Hash(arguments) != r.Hash {
		a.LogOf(r.TurnRef).Error("tool call refused: its arguments changed after they were shown", "tool", r.Name, "call", r.ID)
		return a.storeToolResult(ctx, w, r, shown, tools.Failed(messages.ToolOtherArguments))
	}
	if wrong := tools.Misfit(tool.Schema, arguments); wrong != "" {
		return a.storeToolResult(ctx, w, r, shown, tools.Failed(messages.Plain("The call was not made: "+wrong+".")))
	}
	if r.SideEffects {
		if err := a.announceEffect(ctx, w, r, tool); err != nil {
			return CallResult{}, err
		}
	}
	if err := w.checkLease(); err != nil {
		return CallResult{}, a.EndError(w, ctx, r.TurnRef, "tool "+r.Name, err)
	}
	mayHaveRun = true
	result, err := a.runTool(ctx, tool, tools.Call{
		Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.TurnID, ID: r.ID, Arguments: arguments, Failed: failedBefore(texts, r.ID), Report: shown.Report,
	})
	switch {
	case err == nil:
	case w.Stopped():
		return CallResult{Usage: result.Usage}, stoppedError("tool " + r.Name)
	case ctx.Err() != nil && r.SideEffects:
		return CallResult{}, unknownOutcome(r)
	case ctx.Err() != nil:
		return CallResult{}, a.EndError(w, ctx, r.TurnRef, "tool "+r.Name, err)
	default:
		result = a.failedRun(parent, r, result, err)
		if !result.IsError {
			return CallResult{}, a.Fail(parent, r.TurnRef, "tool "+r.Name, err)
		}
	}
	return a.storeToolResult(ctx, w, r, shown, result)
}

// startedBefore reports whether the call was about to run, at this or a later repeat: Temporal
// was restored from before, or lost with the machine's power that the call had begun.
func startedBefore(texts map[string]string, r CallRequest) bool {
	raw, started := texts[chat.StartedKey(r.ID)]
	n, err := strconv.Atoi(raw)
	return started && (err != nil || n >= r.Repeat)
}

// announceEffect stores durably that a call with side effects is about to run. An error says
// that it must not run: the turn has less time left than the tool may take, or the attempt is
// lost. A machine that was paused notices that only when it asks the server.
func (a *Activities) announceEffect(ctx context.Context, w *Watch, r CallRequest, tool tools.Tool) error {
	if r.Left > 0 && tool.Timeout > r.Left {
		a.LogOf(r.TurnRef).Warn("tool call not begun: the turn has less time left than the tool may take", "tool", r.Name, "call", r.ID, "left", r.Left, "timeout", tool.Timeout)
		return temporal.NewNonRetryableApplicationError("no time left: "+r.Name, chat.CodeDeadline, nil)
	}
	w.confirmLease(ctx)
	err := w.checkLease()
	if err == nil {
		err = retryUntilStored(ctx, databaseRetryBudget, func(ctx context.Context) error {
			if err := a.PutTexts(ctx, r.TurnRef, db.Text{Key: chat.StartedKey(r.ID), Text: strconv.Itoa(r.Repeat)}); err != nil {
				return err
			}
			return a.Store.Sync(ctx)
		})
		if err != nil && ctx.Err() != nil && !w.Stopped() {
			return notRun(r)
		}
	}
	return a.EndError(w, ctx, r.TurnRef, "tool "+r.Name, err)
}

// storedCall finds the stored outcome of a call.
func storedCall(texts map[string]string, callID string) (c CallResult, ok bool) {
	raw, ok := texts[chat.DoneKey(callID)]
	return c, ok && json.Unmarshal([]byte(raw), &c) == nil
}

// callTexts reads the turn's texts. For a call with side effects, which has no second
// attempt, it retries while the database is unavailable.
func (a *Activities) callTexts(ctx context.Context, r CallRequest) (texts map[string]string, err error) {
	read := func(ctx context.Context) (err error) {
		texts, err = a.Store.Texts(ctx, r.Owner, r.TurnID)
		return err
	}
	if !r.SideEffects {
		err = read(ctx)
		return texts, err
	}
	err = retryUntilStored(ctx, databaseRetryBudget, read)
	return texts, err
}

// errToolTimeout is the cause when a call takes longer than its tool's timeout.
var errToolTimeout = errors.New("the tool took too long")

// runTool runs a tool with its timeout, and turns a panic into an error.
func (a *Activities) runTool(ctx context.Context, t tools.Tool, c tools.Call) (r tools.Result, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, max(t.Timeout, t.MaxTimeout), errToolTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	ctx, metered := llm.WithMeter(ctx)
	r, err = t.Run(ctx, c)
	r.Usage = r.Usage.Add(metered.Usage())
	if errors.Is(context.Cause(ctx), errToolTimeout) && (err != nil || r.IsError) {
		why := messages.ToolTimeout
		if t.SideEffects {
			why = messages.ToolTimeoutUnknown
		}
		failed := tools.Failed(why.With(messages.Params{"timeout": max(t.Timeout, t.MaxTimeout).String()}))
		failed.Usage = r.Usage
		return failed, nil
	}
	return r, err
}

// failedRun returns the result of a call whose tool returned a Go error or panicked.
// IsError is false when the call is to be retried.
func (a *Activities) failedRun(ctx context.Context, r CallRequest, got tools.Result, err error) tools.Result {
	attempt := activity.GetInfo(ctx).Attempt
	if !r.SideEffects && attempt < toolTries {
		return tools.Result{}
	}
	a.LogOf(r.TurnRef).Error("tool call failed", "tool", r.Name, "call", r.ID, "attempt", attempt, "error", err)
	why := messages.ToolFailed
	if r.SideEffects {
		why = messages.ToolFailedUnknown
	}
	failed := tools.Failed(why)
	failed.Usage = got.Usage
	return failed
}

func notRun(r CallRequest) error {
	return expected("not run", r.Name, ErrTypeNotRun, temporal.ApplicationErrorOptions{NonRetryable: true})
}

func unknownOutcome(r CallRequest) error {
	return temporal.NewNonRetryableApplicationError("unknown outcome: "+r.Name, ErrTypeUnknownOutcome, nil)
}

// storeToolResult stores a result, also when the call was ended meanwhile. It retries
// while the database is unavailable, because what a tool did must not be lost.
func (a *Activities) storeToolResult(ctx context.Context, w *Watch, r CallRequest, shown *Progress, result tools.Result) (CallResult, error) {
	nodes, reports := shown.End()
	out, timeout := CallResult{IsError: result.IsError, Usage: result.Usage, Progress: nodes}, SaveTimeout
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = w.FinalContext(FinalWriteTimeout)
		defer cancel()
		timeout = FinalWriteTimeout
	}
	err := retryUntilStored(ctx, timeout, func(ctx context.Context) error { return a.storeResult(ctx, r, result, out, reports) })
	if err != nil {
		return out, a.resultNotStored(w, ctx, r, err)
	}
	return out, nil
}

// resultNotStored returns the error of a call whose result could not be stored.
func (a *Activities) resultNotStored(w *Watch, ctx context.Context, r CallRequest, err error) error {
	if r.SideEffects && !w.Stopped() && !errors.Is(err, db.ErrSettled) && !errors.Is(err, db.ErrOutdated) {
		a.LogOf(r.TurnRef).Error("storing a tool result failed; the outcome of the call is unknown", "tool", r.Name, "call", r.ID, "error", err)
		return unknownOutcome(r)
	}
	return a.EndError(w, ctx, r.TurnRef, "tool "+r.Name, err)
}

// storeResult writes a result, its outcome, and reports that are not stored yet, in one
// transaction.
func (a *Activities) storeResult(ctx context.Context, r CallRequest, result tools.Result, out CallResult, reports []db.Text) error {
	done, err := json.Marshal(out)
	if err != nil {
		return err
	}
	texts := append(reports, CodedText(chat.ResultKey(r.ID), messages.Message{Coded: result.Coded, Text: storableResult(result.Content)})...)
	texts = append(texts, db.Text{Key: chat.DoneKey(r.ID), Text: string(done)})
	if len(result.ChunkIDs) > 0 {
		ids, err := json.Marshal(result.ChunkIDs)
		if err != nil {
			return err
		}
		texts = append(texts, db.Text{Key: chat.ShownKey(r.ID), Text: string(ids)})
		if result.Note != "" {
			texts = append(texts, db.Text{Key: chat.NoteKey(r.ID), Text: storableResult(result.Note)})
		}
	}
	return a.PutTexts(ctx, r.TurnRef, texts...)
}

// storableResult makes a result valid UTF-8, bounded and not empty.
func storableResult(content string) string {
	content = strings.ReplaceAll(strings.ToValidUTF8(content, "\uFFFD"), "\x00", "")
	if head := language.Truncate(content, tools.MaxResult); head != content {
		return head + "\n[The rest was too long to keep.]"
	}
	if strings.TrimSpace(content) == "" {
		return "(The tool returned nothing.)"
	}
	return content
}

// FindResult returns the stored outcome of a call that may have run. Without one, it
// returns what the call has reported, if anything, as an unknown outcome, else nil.
func (a *Activities) FindResult(ctx context.Context, r CallRequest) (*CallResult, error) {
	texts, err := a.Store.Texts(ctx, r.Owner, r.TurnID)
	if err != nil {
		return nil, a.Fail(ctx, r.TurnRef, "find result", err)
	}
	if c, ok := storedCall(texts, r.ID); ok {
		return &c, nil
	}
	if nodes := reportedNodes(texts, r.ID); len(nodes) > 0 {
		return &CallResult{Unknown: true, Progress: nodes}, nil
	}
	return nil, nil
}
