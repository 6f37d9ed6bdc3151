package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/llm"
	"github.com/palaver-chat/palaver/transcript"
)

// Settle ends a turn: message or partial, metadata, prompts, log, registry and
// the terminal event, in one transaction. A second call returns what the first
// one stored.
func (a *Activities) Settle(ctx context.Context, e Ending) (Settled, error) {
	s, err := a.settlement(ctx, e)
	if err != nil {
		return Settled{}, a.fail(ctx, e.TurnRef, "settle", err)
	}
	stored, err := a.Store.Settle(ctx, s)
	if err != nil {
		return Settled{}, a.fail(ctx, e.TurnRef, "settle", err)
	}
	return Settled{N: stored.N, Type: stored.Type}, nil
}

func (a *Activities) settlement(ctx context.Context, e Ending) (db.Settlement, error) {
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
			a.log().Error("citations cannot be read", "turn", e.TurnID, "error", err)
		}
	}
	ref := transcript.Ref{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID}
	s := db.Settlement{
		Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Parent: e.Parent, Status: e.Status, Text: text,
		Metadata: metadata(e, t, text, citations),
		Terminal: terminal(e, texts[TextFailureHint], text, citations),
		Title:    chat.TitleFrom(t.Content.Message),
		Hidden:   e.Hidden,
		At:       a.now().UTC().Truncate(time.Millisecond),
	}
	if s.Events, err = transcript.Render(ctx, a.Store, ref, e.Log); err != nil {
		return db.Settlement{}, err
	}
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
func metadata(e Ending, t chat.Turn, text string, citations []chat.Citation) map[string]any {
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
	if e.Status == chat.TurnCompleted {
		return m
	}
	reason := string(e.Reason)
	m["finished_reason"] = "cancelled"
	if e.Status == chat.TurnFailed {
		m["finished_reason"] = "error"
		reason = e.Code
	}
	if text != "" {
		m["interrupted"] = true
		m["interrupted_reason"] = reason
		m["token_estimate"] = llm.EstimateTokens(text)
	}
	return m
}
