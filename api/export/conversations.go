package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// conversationJSON describes a conversation; in its file, the turns follow.
type conversationJSON struct {
	ID            string    `json:"id"`
	Title         string    `json:"title"`
	CreatedAt     time.Time `json:"created_at"`
	LastMessageAt time.Time `json:"last_message_at"`
	Pinned        bool      `json:"pinned,omitempty"`
	Archived      bool      `json:"archived,omitempty"`
	Author        string    `json:"author,omitempty"` // of one that is shared with a space
	// Feedback is what the person thinks of answers.
	Feedback []feedbackJSON `json:"feedback,omitempty"`
	// Summaries are the models' summaries of the older parts of its branches.
	Summaries []summaryJSON `json:"summaries,omitempty"`
}

type feedbackJSON struct {
	TurnID    string    `json:"turn_id"`
	Good      bool      `json:"good"`
	Reason    string    `json:"reason,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
}

type summaryJSON struct {
	UpTo      string    `json:"up_to_turn"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// turnJSON is a turn: the person's message, and the events of its answer.
type turnJSON struct {
	ID        string          `json:"id"`
	Author    string          `json:"author,omitempty"` // of a message that was copied
	Parent    string          `json:"parent,omitempty"`
	Status    chat.TurnStatus `json:"status"`
	CreatedAt time.Time       `json:"created_at"`
	SettledAt *time.Time      `json:"settled_at,omitempty"` // nil while it is open
	Content   chat.Content    `json:"content"`
	Events    []chat.Event    `json:"events,omitempty"`
	// Texts are the stored texts of an open turn.
	Texts map[string]string `json:"texts,omitempty"`
}

func (a *archive) conversations(ctx context.Context, have db.UserData) error {
	for _, id := range have.Threads {
		if err := db.IgnoreNotFound(a.conversation(ctx, id)); err != nil {
			return fmt.Errorf("conversation %s: %w", id, err)
		}
		if err := db.IgnoreNotFound(a.repo(ctx, id)); err != nil {
			return fmt.Errorf("message repository of conversation %s: %w", id, err)
		}
	}
	return nil
}

// conversation writes all turns of a conversation, in the order in which they ran: those of
// every branch, and for their author those that were rolled back.
func (a *archive) conversation(ctx context.Context, id string) error {
	v, err := a.store.Conversation(ctx, a.User, id)
	if err != nil {
		return err
	}
	summaries, err := a.store.Summaries(ctx, a.User, id)
	if err != nil {
		return err
	}
	about := conversationJSON{ID: v.ID, Title: v.Title, CreatedAt: v.CreatedAt, LastMessageAt: v.LastMessageAt, Pinned: v.Pinned, Archived: v.Archived}
	var rated []db.Feedback
	var shown map[string]bool
	if !a.shared {
		if rated, err = a.store.Feedback(ctx, a.User, id); err != nil {
			return err
		}
	} else {
		about.Author = a.User
		if shown, err = a.turnsForReaders(ctx, id); err != nil {
			return err
		}
	}
	for _, f := range rated {
		about.Feedback = append(about.Feedback, feedbackJSON{f.TurnID, f.Good, f.Reason, f.UpdatedAt})
	}
	a.Manifest.Feedback += len(rated)
	for _, s := range summaries {
		if s.Text != "" {
			about.Summaries = append(about.Summaries, summaryJSON{s.TurnID, s.Text, s.At})
		}
	}
	head, err := json.Marshal(about)
	if err != nil {
		return err
	}
	w, err := a.create("conversations/" + id + ".json")
	if err != nil {
		return err
	}
	a.Conversations++
	if _, err := w.Write(append(bytes.TrimSuffix(head, []byte("}")), `,"turns":[`...)); err != nil {
		return err
	}
	out := &turnWriter{archive: a, w: w, shown: shown}
	if err := db.IgnoreNotFound(out.all(ctx, id)); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n]}\n")
	return err
}

// turnsForReaders are the turns of a shared conversation that its readers find in its history.
func (a *archive) turnsForReaders(ctx context.Context, thread string) (map[string]bool, error) {
	h, err := a.store.History(ctx, a.User, thread, "", "", 1)
	shown := map[string]bool{}
	for _, branch := range h.Branches {
		for _, id := range branch {
			shown[id] = true
		}
	}
	return shown, err
}

// turnWriter writes the elements of a list of turns.
type turnWriter struct {
	*archive
	w       io.Writer
	written int
	shown   map[string]bool // the turns that other people read; nil: all
}

func (o *turnWriter) all(ctx context.Context, thread string) error {
	for place := 0; ; {
		page, err := o.store.TurnsAfter(ctx, o.User, thread, place, turnsAtOnce)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		if err := o.turns(ctx, page); err != nil {
			return err
		}
		place = page[len(page)-1].Place
	}
	if o.shared {
		return nil
	}
	waiting, err := o.store.OpenTurns(ctx, o.User, thread)
	if err != nil {
		return err
	}
	waiting = slices.DeleteFunc(waiting, func(t chat.Turn) bool { return t.Place > 0 }) // written already
	return o.turns(ctx, waiting)
}

func (o *turnWriter) turns(ctx context.Context, turns []chat.Turn) error {
	var ids []string
	for _, t := range turns {
		if o.shown == nil || o.shown[t.ID] {
			ids = append(ids, t.ID)
		}
	}
	logs, err := o.store.Logs(ctx, o.User, ids)
	if err != nil {
		return err
	}
	for _, l := range logs {
		if err := o.turn(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (o *turnWriter) turn(ctx context.Context, l db.TurnLog) error {
	t := turnJSON{ID: l.Turn.ID, Author: l.Turn.Author, Parent: l.Turn.Parent, Status: l.Turn.Status, CreatedAt: l.Turn.CreatedAt, Content: l.Turn.Content, Events: l.Events}
	if l.Turn.Status.Settled() {
		t.SettledAt = &l.Turn.SettledAt
	} else if texts, err := o.store.Texts(ctx, o.User, l.Turn.ID); err == nil && l.Turn.Space == "" { // it may have ended meanwhile
		t.Texts = texts
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	separator := "\n"
	if o.written > 0 {
		separator = ",\n"
	}
	o.written++
	o.Turns++
	_, err = o.w.Write(append([]byte(separator), b...))
	return err
}

// repo writes a client's own message repository in the form in which the client sent it.
func (a *archive) repo(ctx context.Context, thread string) error {
	r, err := a.store.Repo(ctx, a.User, thread)
	if err != nil {
		return err
	}
	content, err := gzip.NewReader(bytes.NewReader(r.Gzipped))
	if err != nil {
		return err
	}
	w, err := a.create("conversations/" + thread + ".repo.json")
	if err != nil {
		return err
	}
	a.Repos++
	_, err = io.Copy(w, content)
	return err
}
