package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/palaver-chat/palaver/activities/transcript"
	"github.com/palaver-chat/palaver/agents/prompt"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/chat/messages"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/internal/language"
	"github.com/palaver-chat/palaver/llm"
)

// Settle stores a turn's end in one transaction: message or partial answer, metadata,
// prompts, log, registry and the terminal event. It is idempotent: a second call
// returns what the first one stored. Every error is retryable, unless the turn was
// deleted.
//
// An error other than an unavailable database may come back at every attempt and block
// the thread, and so may a timeout while the database answers other queries. So after maxSettleTries failures the turn is settled as failed, without
// the details that may be the cause. If that fails as often, the error is final and the
// thread goes on.
//
// As a regular activity it sends heartbeats, so that another worker soon settles the turn when
// this one dies. It goes on without them: both would store the same.
func (a *Activities) Settle(ctx context.Context, e Ending) (SettleResult, error) {
	if !activity.GetInfo(ctx).IsLocalActivity {
		_, w := a.WatchFor(ctx, "", WorkerStopGrace)
		defer w.End()
		ctx = w.Parent
	}
	build, tries := a.settlement, previousFailure(ctx).Tries
	if tries >= maxSettleTries {
		build = a.plainSettlement
	}
	var events []chat.Event
	stored, err := a.settle(ctx, e, func(ctx context.Context, e Ending) (db.Settlement, error) {
		s, err := build(ctx, e)
		events = append(s.Events[:len(s.Events):len(s.Events)], s.Terminal)
		return s, err
	})
	switch {
	case err == nil:
		a.Bus.Settled(e.TurnID, endFor(e, stored, events))
		a.writeTitle(e)
		a.reportSettled(ctx, e, stored)
		return SettleResult{N: stored.N, Type: stored.Type}, nil
	case errors.Is(err, db.ErrNotFound): // the conversation was deleted
		return SettleResult{}, a.Fail(ctx, e.TurnRef, "settle", err)
	}
	log := a.LogOf(e.TurnRef).With("attempt", activity.GetInfo(ctx).Attempt, "error", err)
	if db.Unavailable(err) { // retried without limit: an accepted turn is not lost
		if errors.Is(err, db.ErrTimeout) && !activity.GetInfo(ctx).IsLocalActivity && a.databaseAnswers(ctx) {
			recordRetry(ctx) // this settlement may be too large for the connection
		}
		log.Warn("settling failed: the database is unavailable; retrying")
		return SettleResult{}, temporal.NewApplicationError(chat.CodeDatabase+": settle", chat.CodeDatabase)
	}
	if tries < 2*maxSettleTries {
		log.Error("settling failed; retrying")
	} else {
		log.Error("settling failed and is not retried")
	}
	return SettleResult{}, internal(ctx, "settle", 2*maxSettleTries+1)
}

// endFor is what followers get of a turn's end. It is empty when they have to read the log: of a
// turn in a space because each reader's rights count, and of one that was settled before because
// it may be another log.
func endFor(e Ending, stored db.SettledTurn, events []chat.Event) bus.End {
	if e.Space != "" || stored.Again {
		return bus.End{}
	}
	return bus.End{Owner: e.Owner, Events: events}
}

// databaseAnswers reports whether the database answers a short query.
func (a *Activities) databaseAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, FinalWriteTimeout)
	defer cancel()
	return a.Store.Ping(ctx) == nil
}

// maxSettleTries is the number of attempts with all details, and then of those by
// plainSettlement.
const maxSettleTries = 5

// settle stores the settlement that build returns, and returns the stored terminal
// event. It needs the Store only and runs outside of activities, too (SettleLost).
func (a *Activities) settle(ctx context.Context, e Ending, build func(context.Context, Ending) (db.Settlement, error)) (_ db.SettledTurn, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := a.dropGiven(ctx, e.Owner, e.Taken); err != nil {
		return db.SettledTurn{}, err
	}
	s, err := build(ctx, e)
	if errors.Is(err, db.ErrSettled) { // its texts are deleted; the store returns the first end
		s, err = db.Settlement{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Status: e.Status}, nil
	}
	if err != nil {
		return db.SettledTurn{}, err
	}
	end, err := a.Store.Settle(ctx, s)
	if errors.Is(err, db.ErrOutdated) { // another process has written a text: read them
		a.reads.forget(e.TurnID)
		if s, err = build(ctx, e); err == nil {
			end, err = a.Store.Settle(ctx, s)
		}
	}
	if err == nil {
		a.begun.forget(e.TurnID)
		a.reads.forget(e.TurnID)
	}
	return end, err
}

// reportSettled calls OnSettled, unless the turn was settled before.
func (a *Activities) reportSettled(ctx context.Context, e Ending, end db.SettledTurn) {
	if a.OnSettled == nil || end.Again {
		return
	}
	switch end.Type {
	case chat.EventResponse:
		e.Status = chat.TurnCompleted
	case chat.EventCancelled:
		e.Status = chat.TurnCancelled
	default: // also by plainSettlement
		e.Status = chat.TurnFailed
	}
	e.Code, e.Reason = end.Code, end.Reason
	a.OnSettled(ctx, e)
}

// saveFirst writes the row of an unsaved turn. If a cancel came before, that is how the turn
// ends.
func (a *Activities) saveFirst(ctx context.Context, e Ending) (Ending, error) {
	if e.Unsaved == nil {
		return e, nil
	}
	_, cancelled, err := a.save(ctx, &e.TurnRef)
	if err == nil && cancelled && e.Status != chat.TurnCancelled {
		e.Status, e.Code, e.Reason, e.DocIDs = chat.TurnCancelled, "", chat.UserCancelled, nil
	}
	return e, err
}

// plainSettlement settles a turn as failed, with only the basic fields of its events, and
// with its text and what people have written if these can be read. A turn that was stopped stays
// cancelled.
func (a *Activities) plainSettlement(ctx context.Context, e Ending) (db.Settlement, error) {
	e, err := a.saveFirst(ctx, e)
	if err != nil {
		return db.Settlement{}, err
	}
	if e.Status == chat.TurnCompleted {
		e.Status, e.Code = chat.TurnFailed, chat.CodeInternal
	}
	text, prompts := "", []db.Prompt(nil)
	if texts, err := a.Store.Texts(ctx, e.Owner, e.TurnID); err == nil {
		if whole, err := e.wholeLog(texts); err == nil {
			e = whole
		}
		text, _ = a.endText(ctx, e, texts) // empty when it cannot be read
		prompts = a.plainPrompts(e, texts)
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	reason := string(e.Reason)
	finished := "cancelled"
	if e.Status == chat.TurnFailed {
		finished, reason = "error", e.Code
	}
	s := db.Settlement{
		Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Parent: e.Parent, Status: e.Status, Text: text, Prompts: prompts,
		Metadata: map[string]any{"finished_reason": finished, "interrupted": true, "interrupted_reason": reason},
		Terminal: terminal(e, nil, text, nil, nil), Hidden: e.Hidden, At: a.Time().UTC().Truncate(time.Millisecond),
	}
	addFailure(s.Metadata, s.Terminal)
	for _, entry := range e.Log {
		if !entry.Type.Terminal() {
			s.Events = append(s.Events, chat.Event{Type: entry.Type, N: entry.N, TurnID: e.TurnID, ThreadID: e.ThreadID, Node: entry.Node, Code: entry.Code})
		}
	}
	return s, nil
}

// plainPrompts returns the questions, answers and further messages of a turn: none if an entry
// cannot be rendered.
func (a *Activities) plainPrompts(e Ending, texts map[string]string) (prompts []db.Prompt) {
	defer func() {
		if p := recover(); p != nil {
			a.LogOf(e.TurnRef).Error("a turn is settled without what people have written in it", "panic", p)
		}
	}()
	return transcript.Prompts(transcript.Ref{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID}, e.Log, texts)
}

func (a *Activities) settlement(ctx context.Context, e Ending) (db.Settlement, error) {
	e, err := a.saveFirst(ctx, e)
	if err != nil {
		return db.Settlement{}, err
	}
	t, err := a.Turn(ctx, e.TurnRef)
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
	texts, newest, err := a.textsToSettle(ctx, e)
	if err != nil {
		return db.Settlement{}, err
	}
	if e, err = e.wholeLog(texts); err != nil {
		return db.Settlement{}, err
	}
	e.Log = withReports(e.Log, texts, a.Time())
	text, err := a.endText(ctx, e, texts)
	if err != nil {
		return db.Settlement{}, err
	}
	var citations []chat.Citation
	if raw := texts[chat.TextCitations]; raw != "" && text != "" {
		if err := json.Unmarshal([]byte(raw), &citations); err != nil {
			a.LogOf(e.TurnRef).Error("stored citations cannot be decoded", "error", err)
		}
	}
	unverified := unverifiedIn(text, texts)
	ref := transcript.Ref{Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID}
	s := db.Settlement{
		Owner: e.Owner, ThreadID: e.ThreadID, TurnID: e.TurnID, Parent: e.Parent, Status: e.Status, Text: text,
		Terminal: terminal(e, texts, text, citations, unverified),
		Title:    titleFor(t, citations),
		Hidden:   e.Hidden, Approvals: e.Approvals, Newest: newest,
		At: a.Time().UTC().Truncate(time.Millisecond),
	}
	if s.Events, s.Prompts, err = transcript.End(ctx, readStore{a.Store, a.Kit, e.TurnRef}, ref, e.Log, texts); err != nil {
		return db.Settlement{}, err
	}
	if e.Status == chat.TurnCancelled && e.Reason == chat.UserCancelled {
		cancelOpenQuestion(s.Prompts, e.Channel, s.At)
	}
	for i := range s.Events {
		s.Events[i].StreamRunID = t.StreamRunID
	}
	s.Terminal.StreamRunID = t.StreamRunID
	s.Metadata = metadata(e, t, text, citations, toolResults(s.Events, texts))
	if len(unverified) > 0 {
		s.Metadata["unverified"] = unverified
	}
	addFailure(s.Metadata, s.Terminal)
	if e.Status == chat.TurnCompleted {
		// The latest is last: the documents that were meant, after those that were only cited.
		for _, c := range slices.Backward(citations) {
			if !slices.Contains(e.DocIDs, c.DocID) {
				s.Registry = append(s.Registry, c.DocID)
			}
		}
		s.Registry = language.Distinct(append(s.Registry, e.DocIDs...))
	}
	return s, nil
}

// cancelOpenQuestion records that a person ended the turn instead of answering.
func cancelOpenQuestion(prompts []db.Prompt, by chat.Channel, at time.Time) {
	for i, p := range prompts {
		if p.Outcome == chat.OutcomeUnanswered {
			prompts[i].Outcome, prompts[i].Channel, prompts[i].AnsweredAt = chat.OutcomeCancelled, by, at
		}
	}
}

// KeepLog stores entries of an open turn's log, which the workflow then drops.
func (a *Activities) KeepLog(ctx context.Context, r LogRequest) error {
	b, err := json.Marshal(r.Entries)
	if err == nil {
		err = a.PutTexts(ctx, r.TurnRef, db.Text{Key: chat.LogKey(r.From), Text: string(b)})
	}
	return a.Fail(ctx, r.TurnRef, "store the log", err)
}

// wholeLog returns e with the stored entries before its own.
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

// withReports returns a turn's log with the reports of calls that ended without a result:
// their activities could not return them.
func withReports(log []chat.Entry, texts map[string]string, now time.Time) []chat.Entry {
	logged, done := map[string]bool{}, map[string]bool{}
	for _, e := range log {
		logged[e.Ref] = true
		if e.Type == chat.EventToolResult {
			done[e.Call.ID] = true
		}
	}
	whole := log
	for _, e := range log {
		if e.Type != chat.EventToolCall || done[e.Call.ID] {
			continue
		}
		for _, r := range chat.Reports(texts, e.Call.ID) {
			if !logged[r.Key()] {
				whole = append(whole, chat.Entry{N: len(whole) + 1, At: now.UTC().Truncate(time.Millisecond),
					Type: chat.EventStatus, Node: r.Node, Ref: r.Key(), Call: e.Call})
			}
		}
	}
	return whole
}

// endText returns the answer. For a turn that did not complete it is the partial answer:
// the finished pieces, and the draft of the last one.
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

// unverifiedIn returns the words of an answer that were a quotation and are in no source.
func unverifiedIn(text string, texts map[string]string) (out []string) {
	rest := text
	for n := 1; rest != "" && n <= len(texts); n++ {
		var words []string
		_ = json.Unmarshal([]byte(texts[chat.UnverifiedKey(n)]), &words) // our own JSON; most pieces have none
		for _, w := range words {
			if i := strings.Index(rest, w); i >= 0 { // a partial answer may end before it
				out, rest = append(out, w), rest[i+len(w):]
			}
		}
	}
	return out
}

func terminal(e Ending, texts map[string]string, text string, citations []chat.Citation, unverified []string) chat.Event {
	out := chat.Event{N: e.Kept + len(e.Log) + 1, TurnID: e.TurnID, ThreadID: e.ThreadID}
	switch e.Status {
	case chat.TurnCompleted:
		out.Type = chat.EventResponse
		out.Response = &chat.Response{
			Text: text, Citations: orNone(citations), Unverified: unverified, Action: e.Action,
			InferenceConfidence: e.Inference, RetrievalConfidence: e.Retrieval, Model: e.Model, Usage: e.Usage, Finish: chat.FinishOf(e.Log),
		}
	case chat.TurnCancelled:
		out.Type, out.Reason, out.Channel, out.Partial, out.Citations, out.Unverified, out.Usage = chat.EventCancelled, e.Reason, e.Channel, text, citations, unverified, &e.Usage
	default:
		out.Type, out.Code, out.Partial, out.Citations, out.Unverified, out.Usage = chat.EventFailed, e.Code, text, citations, unverified, &e.Usage
		message, retryable := chat.FailureMessage(e.Code)
		out.Retryable = retryable
		if strings.HasPrefix(e.Code, "model_") {
			if texts[chat.TextOperatorHint] != "" {
				message = messages.ModelNotAvailable
			} else if hint := texts[chat.TextFailureHint]; hint != "" {
				message = message.Then(messages.Read(hint))
			}
		}
		out.Say(message)
	}
	return out
}

// metadata is stored with the assistant's message.
func metadata(e Ending, t chat.Turn, text string, citations []chat.Citation, results []chat.ToolResult) map[string]any {
	m := map[string]any{
		"action":               e.Action,
		"citations":            orNone(citations),
		"inference_confidence": e.Inference,
		"retrieval_confidence": e.Retrieval,
		"tokens_used":          e.Usage.Tokens(),
		"cost_usd":             e.Usage.Cost(),
		"client_turn_id":       t.ClientTurnID,
		"stream_run_id":        t.StreamRunID,
		"finished_reason":      "stop",
	}
	if len(results) > 0 {
		m[chat.MetaToolResults] = results
	}
	if e.Model != "" {
		m["model"] = e.Model
	}
	if e.Usage.Searches > 0 {
		m["web_searches"] = e.Usage.Searches
	}
	if e.Status == chat.TurnCompleted {
		return m
	}
	reason := string(e.Reason)
	m["finished_reason"] = "cancelled"
	if e.Channel != "" {
		m["cancelled_by"] = e.Channel
	}
	if e.Status == chat.TurnFailed {
		m["finished_reason"] = "error"
		reason = e.Code
	}
	m["interrupted"] = true
	m["interrupted_reason"] = reason
	m["token_estimate"] = llm.EstimateTokens(text)
	return m
}

// orNone returns an empty list for nil, which JSON would write as null.
func orNone(citations []chat.Citation) []chat.Citation {
	if citations == nil {
		return []chat.Citation{}
	}
	return citations
}

// addFailure adds to a message's metadata why its turn failed.
func addFailure(metadata map[string]any, end chat.Event) {
	if end.Type == chat.EventFailed {
		failure := map[string]any{"code": end.Code, "message": end.Message, "retryable": end.Retryable}
		end.Coded.Put(failure)
		metadata["error"] = failure
	}
}

// maxStoredResult bounds a tool's result in a message's metadata, in characters.
const maxStoredResult = 4000

// toolResults returns the tool calls of a turn's log with their results. A call without
// a result when the turn ended gets messages.ToolStopped.
func toolResults(events []chat.Event, texts map[string]string) []chat.ToolResult {
	var out []chat.ToolResult
	at := map[string]int{}
	for _, e := range events {
		switch e.Type {
		case chat.EventToolCall:
			if _, known := at[e.ToolCallID]; !known {
				at[e.ToolCallID] = len(out)
				out = append(out, chat.ToolResult{
					ToolCallID: e.ToolCallID, Name: e.ToolName, Arguments: json.RawMessage(argumentsOf(texts, e.ToolCallID)),
					Content: messages.ToolStopped.Text, IsError: true,
				})
			}
		case chat.EventToolResult:
			if i, known := at[e.ToolCallID]; known {
				out[i].Content, out[i].IsError = prompt.Shorten(e.Text, maxStoredResult), e.IsError // the log has all of it
			}
		}
	}
	return out
}
