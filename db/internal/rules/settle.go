package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/db/internal/record"
	"github.com/palaver-chat/palaver/db/internal/sqlcgen"
)

func (s *Store) Settle(ctx context.Context, e db.Settlement) (settled db.SettledTurn, err error) {
	size := Short
	if bytesOf(e) > largeSettlement {
		size = Long
	}
	ctx, end := s.Call(ctx, "settle turn", size)
	defer end(&err)
	if !e.Status.Settled() {
		return db.SettledTurn{}, fmt.Errorf("status %q is not final: a turn cannot settle with it", e.Status)
	}
	e.At = record.OrNow(e.At)
	err = s.db.Update(ctx, func(q Queries) error {
		rows, newest, err := q.TurnsForSettle(ctx, e.Owner, e.ThreadID, e.TurnID, chat.TurnOf(e.Parent))
		if err != nil {
			return err
		}
		known := byID(rows)
		row, ok := known[e.TurnID]
		if !ok || row.ThreadID != e.ThreadID {
			return db.ErrNotFound
		}
		if row.SettledAt != 0 {
			stored, err := q.LastEvent(ctx, e.TurnID)
			if err != nil {
				return err
			}
			settled.Again = true
			settled.Event, err = event(stored)
			return err
		}
		if e.Newest != 0 && e.Newest != newest {
			return db.ErrOutdated
		}
		settled = db.SettledTurn{Event: e.Terminal}
		return settle(ctx, q, known, row, e)
	})
	return settled, err
}

func settle(ctx context.Context, q Queries, known turnsByID, row sqlcgen.Turn, e db.Settlement) error {
	if row.Place == 0 { // it never began, or its workflow could not save that it did
		if err := placeAnywhere(ctx, q, known, &row, e.Parent); err != nil {
			return err
		}
	}
	registry, tools, err := inherited(ctx, q, known, row)
	if err != nil {
		return err
	}
	row.Registry = record.Strings(merge(registry, e.Registry))
	row.Approvals = record.Strings(merge(tools, e.Approvals))
	row.Status, row.Hidden, row.SettledAt = string(e.Status), e.Hidden, record.Micros(e.At)
	ending, err := endingOf(row, e)
	if err != nil {
		return err
	}
	if err := q.SettleTurn(ctx, ending); err != nil {
		return err
	}
	if e.Hidden {
		return clearTitle(ctx, q, row)
	}
	return titleWithAnswer(ctx, q, row, e.Title)
}

func endingOf(row sqlcgen.Turn, e db.Settlement) (_ Ending, err error) {
	ending := Ending{Turn: row, Show: sqlcgen.ShowConversationParams{Owner: row.Owner, ID: row.ThreadID, At: row.SettledAt}}
	if !e.Hidden {
		ending.Show.Title, ending.Show.TitleFolded = e.Title, record.Fold(e.Title)
	}
	ending.Spent = spentBy(row, e)
	messages := furtherMessages(e)
	ending.Messages = make([]sqlcgen.Message, len(messages))
	for i, m := range messages { // the user's has number 0
		if ending.Messages[i], err = storedMessage(row.ID, i+1, m); err != nil {
			return Ending{}, err
		}
	}
	for _, ev := range logOf(e) {
		text, err := record.JSON(ev)
		if err != nil {
			return Ending{}, fmt.Errorf("event %d: %w", ev.N, err)
		}
		ending.Events = append(ending.Events, Event{TurnID: row.ID, N: int64(ev.N), Event: text})
	}
	return ending, nil
}

func storedMessage(turnID string, n int, m chat.Message) (sqlcgen.Message, error) {
	stored := sqlcgen.Message{TurnID: turnID, N: int64(n), Role: m.Role, CreatedAt: record.Micros(m.CreatedAt), Content: m.Content}
	if m.Metadata == nil {
		return stored, nil
	}
	var err error
	if stored.Metadata, err = record.JSON(m.Metadata); err != nil {
		return sqlcgen.Message{}, fmt.Errorf("metadata: %w", err)
	}
	return stored, nil
}

// furtherMessages are what a settlement adds after the user's message.
func furtherMessages(e db.Settlement) []chat.Message {
	var list []chat.Message
	for _, p := range e.Prompts {
		list = append(list, chat.Message{Role: "system", Content: p.Message, CreatedAt: p.At, Metadata: promptMetadata(p)})
		if p.Answer != "" {
			list = append(list, chat.Message{Role: "user", Content: p.Answer, CreatedAt: cmp.Or(p.AnsweredAt, p.At), Metadata: answerMetadata(p)})
		}
	}
	// The next turn needs the results of tools even if the answer is empty, and a turn
	// without an answer says why there is none.
	if e.Text != "" || e.Status != chat.TurnCompleted || len(chat.ToolResults(e.Metadata)) > 0 {
		list = append(list, chat.Message{Role: "assistant", Content: e.Text, CreatedAt: e.At, Metadata: e.Metadata})
	}
	return list
}

func promptMetadata(p db.Prompt) map[string]any {
	m := map[string]any{}
	p.Coded.Put(m)
	if p.Type == "" {
		m["kind"], m["code"] = "notice", p.Code
		return m
	}
	m["kind"], m["interrupt_id"], m["interrupt_type"], m["outcome"] = "question", p.ID, p.Type, p.Outcome
	if p.Outcome == chat.OutcomeCancelled {
		m["outcome_at"] = p.AnsweredAt.UTC()
		if p.Channel != "" {
			m["channel"] = p.Channel
		}
	}
	return m
}

func answerMetadata(p db.Prompt) map[string]any {
	m := map[string]any{"kind": "answer", "interrupt_id": p.ID}
	if p.Names {
		m[chat.NamesDocuments] = true
	}
	if p.Channel != "" {
		m["channel"] = p.Channel
	}
	return m
}

// logOf is a settlement's whole log, the terminal event last.
func logOf(e db.Settlement) []chat.Event {
	return append(e.Events[:len(e.Events):len(e.Events)], e.Terminal)
}

// merge is the union of both lists; what was added is last.
func merge(known, added []string) []string {
	merged := slices.DeleteFunc(slices.Clone(known), func(id string) bool { return slices.Contains(added, id) })
	for _, id := range added {
		if !slices.Contains(merged, id) {
			merged = append(merged, id)
		}
	}
	return merged
}

// largeSettlement is the number of bytes from which a settlement gets the time of a Long call.
const largeSettlement = 1 << 20

// bytesOf returns about how many bytes of texts a settlement has.
func bytesOf(e db.Settlement) int {
	n := len(e.Text)
	for _, ev := range e.Events {
		n += len(ev.Text)
	}
	return n
}
