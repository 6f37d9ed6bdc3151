package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/tools"
)

// Types of application errors of CallTool, beside those of every activity.
const (
	// ErrTypeUnknownOutcome: the tool ran, and nobody knows how that ended.
	ErrTypeUnknownOutcome = "unknown_outcome"
	// ErrTypeNotRun: the worker went away before the tool ran.
	ErrTypeNotRun = "not_run"
)

// toolTries is how often a tool without side effects is tried when it fails for
// a reason of ours.
const toolTries = 3

// CallTool makes a tool call. Whatever the tool does, its result is a text for
// the model to read: also that it took too long, or failed. A tool with side
// effects runs once in one activity, and when nobody knows whether it did, the
// error says so; where the result of an earlier run stands, that is it.
func (a *Activities) CallTool(parent context.Context, r CallRequest) (_ Called, err error) {
	defer func() {
		if p := recover(); p != nil {
			if err = a.panicked(parent, []any{r}, p); r.SideEffects { // it may have run
				err = unknownOutcome(r)
			}
		}
	}()
	watch := a.watch
	if r.SideEffects {
		watch = a.watchPatiently
	}
	ctx, w := watch(parent, r.TurnID)
	defer w.end()

	texts, err := a.callTexts(ctx, r)
	if err != nil {
		if r.SideEffects && !w.stopped() && ctx.Err() != nil {
			return Called{}, expected("not run", r.Name, ErrTypeNotRun, temporal.ApplicationErrorOptions{NonRetryable: true})
		}
		return Called{}, a.outcome(w, ctx, r.TurnRef, "tool "+r.Name, err)
	}
	if done, ok := called(texts, r.ID); ok {
		return done, nil
	}
	if _, known := texts[chat.CallKey(r.ID)]; !known { // {} would be other arguments than those that were shown
		return a.conclude(ctx, w, r, tools.Failed("The call was not made: its arguments are not there any more."))
	}
	arguments := json.RawMessage(calledWith(texts, r.ID))
	tool, known := a.Tools.Find(ctx, r.Owner, r.Agent, r.Name)
	if !known {
		return a.conclude(ctx, w, r, tools.Failed("The tool "+r.Name+" is not there any more."))
	}
	if r.Hash != "" && tools.Hash(arguments) != r.Hash {
		a.logOf(r.TurnRef).Error("tool call refused: its arguments are not those that were shown", "tool", r.Name, "call", r.ID)
		return a.conclude(ctx, w, r, tools.Failed("The call was not made: its arguments changed after they were shown."))
	}
	if wrong := tools.Misfit(tool.Schema, arguments); wrong != "" {
		return a.conclude(ctx, w, r, tools.Failed("The call was not made: "+wrong+"."))
	}
	if err := w.held(); err != nil {
		return Called{}, a.outcome(w, ctx, r.TurnRef, "tool "+r.Name, err)
	}
	result, err := a.runTool(ctx, tool, tools.Call{
		Owner: r.Owner, ThreadID: r.ThreadID, TurnID: r.TurnID, ID: r.ID, Arguments: arguments,
	})
	switch {
	case err == nil:
	case w.stopped():
		return Called{Usage: result.Usage}, stoppedError("tool " + r.Name)
	case ctx.Err() != nil && r.SideEffects:
		return Called{}, unknownOutcome(r)
	case ctx.Err() != nil:
		return Called{}, a.outcome(w, ctx, r.TurnRef, "tool "+r.Name, err)
	default:
		result = a.failedRun(parent, r, result, err)
		if !result.IsError {
			return Called{}, a.fail(parent, r.TurnRef, "tool "+r.Name, err)
		}
	}
	return a.conclude(ctx, w, r, result)
}

// called recognises a call whose result stands.
func called(texts map[string]string, callID string) (c Called, ok bool) {
	raw, ok := texts[doneKey(callID)]
	return c, ok && json.Unmarshal([]byte(raw), &c) == nil
}

// callTexts reads the turn's texts; a database that is away is waited for, since
// nothing has happened yet and a call with side effects has no second try.
func (a *Activities) callTexts(ctx context.Context, r CallRequest) (texts map[string]string, err error) {
	read := func(ctx context.Context) (err error) {
		texts, err = a.Store.Texts(ctx, r.Owner, r.TurnID)
		return err
	}
	if !r.SideEffects {
		err = read(ctx)
		return texts, err
	}
	err = lasting(ctx, databasePatience, read)
	return texts, err
}

// errToolTimeout is the end of a call that took longer than its tool may.
var errToolTimeout = errors.New("the tool took too long")

// runTool runs a tool within its time. A tool that panics has failed.
func (a *Activities) runTool(ctx context.Context, t tools.Tool, c tools.Call) (r tools.Result, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, errToolTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	r, err = t.Run(ctx, c)
	if errors.Is(context.Cause(ctx), errToolTimeout) && (err != nil || r.IsError) {
		why := fmt.Sprintf("The tool did not answer within %s.", t.Timeout)
		if t.SideEffects {
			why += " Nobody knows whether it took effect."
		}
		return tools.Result{Content: why, IsError: true, Usage: r.Usage}, nil
	}
	return r, err
}

// failedRun is what a model reads of a tool that failed for a reason of ours, a
// result without error when it is to be tried again.
func (a *Activities) failedRun(ctx context.Context, r CallRequest, got tools.Result, err error) tools.Result {
	attempt := activity.GetInfo(ctx).Attempt
	if !r.SideEffects && attempt < toolTries {
		return tools.Result{}
	}
	a.logOf(r.TurnRef).Error("a tool failed", "tool", r.Name, "attempt", attempt, "error", err)
	why := "The tool failed."
	if r.SideEffects {
		why = "The tool failed in mid-call, and nobody knows whether it took effect."
	}
	return tools.Result{Content: why, IsError: true, Usage: got.Usage}
}

func unknownOutcome(r CallRequest) error {
	return temporal.NewNonRetryableApplicationError("unknown outcome: "+r.Name, ErrTypeUnknownOutcome, nil)
}

// conclude keeps a result. It waits for a database that is away: what a tool did
// must not be forgotten, not even when the call was ended meanwhile.
func (a *Activities) conclude(ctx context.Context, w *watch, r CallRequest, result tools.Result) (Called, error) {
	out, patience := Called{IsError: result.IsError, Usage: result.Usage}, SavePatience
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = w.last(lastWrite)
		defer cancel()
		patience = lastWrite
	}
	err := lasting(ctx, patience, func(ctx context.Context) error { return a.storeResult(ctx, r, result, out) })
	if err != nil {
		return out, a.lost(w, ctx, r, err)
	}
	return out, nil
}

// lost is the error of a call whose result could not be kept.
func (a *Activities) lost(w *watch, ctx context.Context, r CallRequest, err error) error {
	if r.SideEffects && !w.stopped() && !errors.Is(err, db.ErrSettled) && !errors.Is(err, db.ErrOutdated) {
		a.logOf(r.TurnRef).Error("a result was lost", "tool", r.Name, "error", err)
		return unknownOutcome(r)
	}
	return a.outcome(w, ctx, r.TurnRef, "tool "+r.Name, err)
}

// storeResult writes a result and that it stands, at once.
func (a *Activities) storeResult(ctx context.Context, r CallRequest, result tools.Result, out Called) error {
	done, err := json.Marshal(out)
	if err != nil {
		return err
	}
	texts := []db.Text{{Key: chat.ResultKey(r.ID), Text: kept(result.Content)}, {Key: doneKey(r.ID), Text: string(done)}}
	if len(result.ChunkIDs) > 0 {
		ids, err := json.Marshal(result.ChunkIDs)
		if err != nil {
			return err
		}
		texts = append(texts, db.Text{Key: shownKey(r.ID), Text: string(ids)})
	}
	return a.putTexts(ctx, r.TurnRef, texts...)
}

// kept is what of a result can be stored.
func kept(content string) string {
	content = strings.ReplaceAll(strings.ToValidUTF8(content, "\uFFFD"), "\x00", "")
	if head := cut(content, tools.MaxResult); head != content {
		return head + "\n[The rest was too long to keep.]"
	}
	if strings.TrimSpace(content) == "" {
		return "(The tool returned nothing.)"
	}
	return content
}

// FindResult looks whether the result of a call stands whose run ended in the
// dark.
func (a *Activities) FindResult(ctx context.Context, r CallRequest) (*Called, error) {
	texts, err := a.Store.Texts(ctx, r.Owner, r.TurnID)
	if err != nil {
		return nil, a.fail(ctx, r.TurnRef, "find result", err)
	}
	if c, ok := called(texts, r.ID); ok {
		return &c, nil
	}
	return nil, nil
}
