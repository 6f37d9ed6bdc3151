package admin

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// FeedbackStore is what Feedback reads.
type FeedbackStore interface {
	db.FeedbackLog
	Turn(ctx context.Context, owner, id string) (chat.Turn, error)
	Events(ctx context.Context, owner, turnID string, after int) ([]chat.Event, error)
}

// FeedbackFilter says what Feedback writes, and how.
type FeedbackFilter struct {
	Since time.Time // changes after this time
	CSV   bool      // else JSON lines
	Texts bool      // with the question and the answer
}

const feedbackAtOnce = 500

// feedbackLine is one line that Feedback writes.
type feedbackLine struct {
	At           time.Time  `json:"at"`
	Owner        string     `json:"owner"`
	Conversation string     `json:"conversation_id"`
	Turn         string     `json:"turn_id"`
	Rating       string     `json:"rating"`
	Reason       string     `json:"reason,omitempty"`
	Agent        chat.Agent `json:"agent,omitempty"`
	Question     string     `json:"question,omitempty"`
	Answer       string     `json:"answer,omitempty"`
}

// Feedback writes what people think of answers, in the order of its last change.
func Feedback(ctx context.Context, store FeedbackStore, f FeedbackFilter, out io.Writer) error {
	write, flush := jsonLines(out), func() error { return nil }
	if f.CSV {
		write, flush = csvLines(out)
	}
	for last := (db.Feedback{UpdatedAt: f.Since}); ; {
		page, err := store.FeedbackAfter(ctx, last.UpdatedAt, last.TurnID, feedbackAtOnce)
		if err != nil {
			return err
		}
		for _, one := range page {
			line, err := describeFeedback(ctx, store, one, f.Texts)
			if errors.Is(err, db.ErrNotFound) { // deleted meanwhile
				continue
			}
			if err != nil {
				return fmt.Errorf("turn %s: %w", one.TurnID, err)
			}
			if err := write(line); err != nil {
				return err
			}
		}
		if len(page) < feedbackAtOnce {
			return flush()
		}
		last = page[len(page)-1]
	}
}

func describeFeedback(ctx context.Context, store FeedbackStore, f db.Feedback, texts bool) (feedbackLine, error) {
	line := feedbackLine{At: f.UpdatedAt, Owner: f.Owner, Conversation: f.ThreadID, Turn: f.TurnID, Rating: "down", Reason: f.Reason}
	if f.Good {
		line.Rating = "up"
	}
	turn, err := store.Turn(ctx, f.Owner, f.TurnID)
	if err != nil {
		return line, err
	}
	line.Agent = turn.Content.Agent
	if !texts {
		return line, nil
	}
	line.Question = turn.Content.Message
	events, err := store.Events(ctx, f.Owner, f.TurnID, 0)
	if err != nil || len(events) == 0 {
		return line, err
	}
	end := events[len(events)-1]
	line.Answer = end.Partial
	if end.Response != nil {
		line.Answer = end.Response.Text
	}
	return line, nil
}

func jsonLines(out io.Writer) func(feedbackLine) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return func(l feedbackLine) error { return e.Encode(l) }
}

func csvLines(out io.Writer) (write func(feedbackLine) error, flush func() error) {
	w := csv.NewWriter(out)
	err := w.Write([]string{"at", "owner", "conversation_id", "turn_id", "rating", "reason", "agent", "question", "answer"})
	return func(l feedbackLine) error {
			if err != nil {
				return err
			}
			return w.Write([]string{l.At.UTC().Format(time.RFC3339), l.Owner, l.Conversation, l.Turn, l.Rating, cell(l.Reason), string(l.Agent), cell(l.Question), cell(l.Answer)})
		}, func() error {
			w.Flush()
			return w.Error()
		}
}

// cell keeps a spreadsheet from reading a person's text as a formula.
func cell(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' || s[0] == '\r') {
		return "'" + s
	}
	return s
}
