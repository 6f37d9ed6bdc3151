package activities

import (
	"context"
	"encoding/json"
	"errors"
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
func (a *Activities) Settle(ctx context.Context, e Ending) (Settled, error) {
	s, err := a.settlement(ctx, e)
	if err != nil {
		return Settled{}, a.unsettled(ctx, e.TurnRef, err)
	}
	stored, err := a.Store.Settle(ctx, s)
	if err != nil {
		return Settled{}, a.unsettled(ctx, e.TurnRef, err)
	}
	return Settled{N: stored.N, Type: stored.Type}, nil
}

// unsettled is the error of a settle. What was accepted is not lost: no budget
// ends its tries.
func (a *Activities) unsettled(ctx context.Context, ref TurnRef, err error) error {
	if errors.Is(err, db.ErrNotFound) { // with its conversation
		return a.fail(ctx, ref, "settle", err)
	}
	log, code := a.logOf(ref).With("attempt", activity.GetInfo(ctx).Attempt, "error", err), chat.CodeInternal
	if away(err) {
		code = chat.CodeDatabase
		log.Warn("the turn is not settled yet")
	} else {
		log.Error("the turn is not settled yet")
	}
	return temporal.NewApplicationError(code+": settle", code)
}

func (a *Activities) settlement(ctx context.Context, e Ending) (db.Settlement, error) {
	if e.Unsaved != nil {
		if _, err := a.save(ctx, &e.TurnRef); err != nil {
			return db.Settlement{}, err
		}
	}
	t, err := a.Store.Turn(ctx, e.Owner, e.TurnID)
	if err != nil {
		return db.Settlement{}, err
	}
	if e.Parent == "" {
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
	if s.Events, err = transcript.Render(ctx, a.Store, ref, e.Log); err != nil {
		return db.Settlement{}, err
	}
	for i := range s.Events {
		s.Events[i].StreamRunID = t.StreamRunID
	}
	s.Terminal.StreamRunID = t.StreamRunID
	s.Metadata = metadata(e, t, text, citations, toolResults(s.Events, texts))
	if s.Prompts, err = transcript.Prompts(ctx, a.Store, ref, e.Log); err != nil {
		return db.Settlement{}, err
	}
	if e.Status == chat.TurnCompleted {
		s.Registry = e.DocIDs
		for _, c := range citations { // what was answered from is known from now on
			s.Registry = append(s.Registry, c.DocID)
		}
		s.Registry = unique(s.Registry)
	}
	return s, nil
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
	out := chat.Event{N: len(e.Log) + 1, TurnID: e.TurnID, ThreadID: e.ThreadID}
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
