package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/transcript"
)

// Settle ends a turn: message or partial, metadata, prompts, log, registry and
// the terminal event, in one transaction. A second call returns what the first
// one stored. Whatever goes wrong, it is to be tried again, unless the turn is
// gone.
//
// A settle that fails for another reason than the database's absence would fail
// for ever, and its thread would run nothing more. After some tries the turn is
// settled as failed, with nothing but what can be stored for sure; if even that
// fails, the error is final and the thread goes on without it.
func (a *Activities) Settle(ctx context.Context, e Ending) (Settled, error) {
	make, tries := a.settlement, failedBefore(ctx).Tries
	if tries >= settleTries {
		make = a.plainSettlement
	}
	stored, err := a.settle(ctx, e, make)
	switch {
	case err == nil:
		a.Bus.Settled(e.TurnID)
		return Settled{N: stored.N, Type: stored.Type}, nil
	case errors.Is(err, db.ErrNotFound): // with its conversation
		return Settled{}, a.fail(ctx, e.TurnRef, "settle", err)
	}
	log := a.logOf(e.TurnRef).With("attempt", activity.GetInfo(ctx).Attempt, "error", err)
	if away(err) { // what was accepted is not lost: no number of tries ends this
		log.Warn("turn not settled: the database cannot be reached")
		return Settled{}, temporal.NewApplicationError(chat.CodeDatabase+": settle", chat.CodeDatabase)
	}
	if tries < 2*settleTries {
		log.Error("turn not settled")
	} else {
		log.Error("turn given up: it cannot be settled")
	}
	return Settled{}, internal(ctx, "settle", 2*settleTries+1)
}

// settleTries is how often a turn is settled as it ended before it is settled
// plainly, and how often that is tried.
const settleTries = 5

// settle writes a turn's end as make has it, and returns the terminal event as it
// is stored. It needs the Store only and runs outside of activities, too
// (SettleLost).
func (a *Activities) settle(ctx context.Context, e Ending, make func(context.Context, Ending) (db.Settlement, error)) (_ chat.Event, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	s, err := make(ctx, e)
	if errors.Is(err, db.ErrSettled) { // what it was made of is gone, and its end stands
		s, err = db.Settlement{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Status: e.Status}, nil
	}
	if err != nil {
		return chat.Event{}, err
	}
	end, err := a.Store.Settle(ctx, s)
	if err == nil {
		a.begun.forget(e.TurnID)
	}
	return end, err
}

// plainSettlement ends a turn as failed, with the events of its log by type and
// number only, and with its text if that can be read. A turn that was stopped
// stays cancelled.
func (a *Activities) plainSettlement(ctx context.Context, e Ending) (db.Settlement, error) {
	if e.Unsaved != nil {
		if _, err := a.save(ctx, &e.TurnRef); err != nil {
			return db.Settlement{}, err
		}
	}
	if e.Status == chat.TurnCompleted {
		e.Status, e.Code = chat.TurnFailed, chat.CodeInternal
	}
	text := ""
	if texts, err := a.Store.Texts(ctx, e.Owner, e.TurnID); err == nil {
		if whole, err := e.wholeLog(texts); err == nil {
			e = whole
		}
		text, _ = a.endText(ctx, e, texts) // none where it cannot be read
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	reason := string(e.Reason)
	finished := "cancelled"
	if e.Status == chat.TurnFailed {
		finished, reason = "error", e.Code
	}
	s := db.Settlement{
		Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Parent: e.Parent, Status: e.Status, Text: text,
		Metadata: map[string]any{"finished_reason": finished, "interrupted": true, "interrupted_reason": reason},
		Terminal: terminal(e, "", text, nil), Hidden: e.Hidden, At: a.now().UTC().Truncate(time.Millisecond),
	}
	for _, entry := range e.Log {
		if !entry.Type.Terminal() {
			s.Events = append(s.Events, chat.Event{Type: entry.Type, N: entry.N, TurnID: e.TurnID, ThreadID: e.ThreadID, Node: entry.Node, Code: entry.Code})
		}
	}
	return s, nil
}

func (a *Activities) settlement(ctx context.Context, e Ending) (db.Settlement, error) {
	if e.Unsaved != nil {
		if _, err := a.save(ctx, &e.TurnRef); err != nil {
			return db.Settlement{}, err
		}
	}
	t, err := a.turn(ctx, e.TurnRef)
	if err != nil {
		return db.Settlement{}, err
	}
	if e.Parent == "" {
		if t, err = a.Store.Turn(ctx, e.Owner, e.TurnID); err != nil {
			return db.Settlement{}, err
		}
		if e.Parent = t.Parent; e.Parent == "" {
			if e.Parent, err = a.parent(ctx, t, ""); err != nil {
				return db.Settlement{}, err
			}
		}
	}
	texts, err := a.Store.Texts(ctx, e.Owner, e.TurnID)
	if err != nil {
		return db.Settlement{}, err
	}
	if e, err = e.wholeLog(texts); err != nil {
		return db.Settlement{}, err
	}
	text, err := a.endText(ctx, e, texts)
	if err != nil {
		return db.Settlement{}, err
	}
	citations := []chat.Citation{}
	if raw := texts[chat.TextCitations]; raw != "" && text != "" {
		if err := json.Unmarshal([]byte(raw), &citations); err != nil {
			a.logOf(e.TurnRef).Error("citations cannot be read", "error", err)
		}
	}
	ref := transcript.Ref{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID}
	s := db.Settlement{
		Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Parent: e.Parent, Status: e.Status, Text: text,
		Terminal: terminal(e, texts[TextFailureHint], text, citations),
		Title:    chat.TitleFrom(t.Content.Message),
		Hidden:   e.Hidden, Approvals: e.Approvals,
		At: a.now().UTC().Truncate(time.Millisecond),
	}
	if s.Events, s.Prompts, err = transcript.End(ctx, a.Store, ref, e.Log, texts); err != nil {
		return db.Settlement{}, err
	}
	for i := range s.Events {
		s.Events[i].StreamRunID = t.StreamRunID
	}
	s.Terminal.StreamRunID = t.StreamRunID
	s.Metadata = metadata(e, t, text, citations, toolResults(s.Events, texts))
	if e.Status == chat.TurnCompleted {
		s.Registry = e.DocIDs
		for _, c := range citations { // what was answered from is known from now on
			s.Registry = append(s.Registry, c.DocID)
		}
		s.Registry = unique(s.Registry)
	}
	return s, nil
}

// KeepLog stores entries of an open turn's log, which its thread then forgets.
func (a *Activities) KeepLog(ctx context.Context, r LogRequest) error {
	b, err := json.Marshal(r.Entries)
	if err == nil {
		err = a.putTexts(ctx, r.TurnRef, db.Text{Key: chat.LogKey(r.From), Text: string(b)})
	}
	return a.fail(ctx, r.TurnRef, "store the log", err)
}

// wholeLog is e with the entries that stand in texts before its own.
func (e Ending) wholeLog(texts map[string]string) (Ending, error) {
	if e.Kept == 0 {
		return e, nil
	}
	kept, err := chat.KeptLog(texts, 0)
	if err != nil {
		return e, fmt.Errorf("read the log: %w", err)
	}
	if len(kept) < e.Kept {
		return e, fmt.Errorf("read the log: %d of %d entries are there", len(kept), e.Kept)
	}
	e.Log, e.Kept = append(kept[:e.Kept], e.Log...), 0
	return e, nil
}

// endText is the answer, or what there is of it: the finished pieces, and of
// one that was cut short its draft.
func (a *Activities) endText(ctx context.Context, e Ending, texts map[string]string) (string, error) {
	var pieces []string
	for _, entry := range e.Log {
		if entry.Type == chat.EventText {
			pieces = append(pieces, texts[entry.Ref])
		}
	}
	if e.Status != chat.TurnCompleted {
		next := len(pieces) + 1
		text, finished := texts[chat.PieceKey(next)]
		if !finished {
			d, err := a.Store.Draft(ctx, e.Owner, e.TurnID, next)
			if err != nil && !errors.Is(err, db.ErrNotFound) {
				return "", err
			}
			text = d.Text
		}
		pieces = append(pieces, text)
	}
	return strings.TrimSpace(strings.Join(pieces, "\n\n")), nil
}

func terminal(e Ending, hint, text string, citations []chat.Citation) chat.Event {
	out := chat.Event{N: e.Kept + len(e.Log) + 1, TurnID: e.TurnID, ThreadID: e.ThreadID}
	switch e.Status {
	case chat.TurnCompleted:
		out.Type = chat.EventResponse
		out.Response = &chat.Response{
			Text: text, Citations: citations, Action: e.Action,
			InferenceConfidence: e.Inference, RetrievalConfidence: e.Retrieval, Usage: e.Usage,
		}
	case chat.TurnCancelled:
		out.Type, out.Reason, out.Partial, out.Usage = chat.EventCancelled, e.Reason, text, &e.Usage
	default:
		out.Type, out.Code, out.Partial, out.Usage = chat.EventFailed, e.Code, text, &e.Usage
		out.Message, out.Retryable = chat.FailureMessage(e.Code)
		if hint != "" && strings.HasPrefix(e.Code, "model_") {
			out.Message += " " + hint
		}
	}
	return out
}

// metadata is what history keeps with the assistant's message.
func metadata(e Ending, t chat.Turn, text string, citations []chat.Citation, results []chat.ToolResult) map[string]any {
	m := map[string]any{
		"action":               e.Action,
		"citations":            citations,
		"inference_confidence": e.Inference,
		"retrieval_confidence": e.Retrieval,
		"tokens_used":          e.Usage.Tokens(),
		"cost_usd":             e.Usage.CostUSD,
		"client_turn_id":       t.ClientTurnID,
		"stream_run_id":        t.StreamRunID,
		"finished_reason":      "stop",
	}
	if len(results) > 0 {
		m[chat.MetaToolResults] = results
	}
	if e.Status == chat.TurnCompleted {
		return m
	}
	reason := string(e.Reason)
	m["finished_reason"] = "cancelled"
	if e.Status == chat.TurnFailed {
		m["finished_reason"] = "error"
		reason = e.Code
	}
	if text != "" || len(results) > 0 {
		m["interrupted"] = true
		m["interrupted_reason"] = reason
		m["token_estimate"] = llm.EstimateTokens(text)
	}
	return m
}

// maxKeptResult is how much of a tool's result stands with a message, in characters.
const maxKeptResult = 4000

// toolResults are the calls of a turn's log with their results; a call that the
// turn's end left without one says so.
func toolResults(events []chat.Event, texts map[string]string) []chat.ToolResult {
	var out []chat.ToolResult
	at := map[string]int{}
	for _, e := range events {
		switch e.Type {
		case chat.EventToolCall:
			if _, known := at[e.ToolCallID]; !known {
				at[e.ToolCallID] = len(out)
				out = append(out, chat.ToolResult{
					ToolCallID: e.ToolCallID, Name: e.ToolName, Arguments: json.RawMessage(calledWith(texts, e.ToolCallID)),
					Content: chat.NoToolResult, IsError: true,
				})
			}
		case chat.EventToolResult:
			if i, known := at[e.ToolCallID]; known {
				out[i].Content, out[i].IsError = shorten(e.Text, maxKeptResult), e.IsError // the log has all of it
			}
		}
	}
	return out
}
