package api

import (
	"context"
	"errors"
	"slices"

	"github.com/palaver-chat/palaver/activities/transcript"
	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// threadDeadline limits workflow queries for a page of a conversation: the messages
// come from the database, without a worker.
func threadDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return request.FractionOfDeadline(ctx, 3)
}

// Question returns the interrupt that the owner's thread waits on, nil when there is
// none.
func (s *server) Question(ctx context.Context, owner, thread string) (*chat.Event, error) {
	ctx, cancel := threadDeadline(ctx)
	defer cancel()
	state, err := s.Threads.State(ctx, thread)
	if err != nil || state.Pending == nil || state.Owner != owner {
		return nil, err
	}
	if t, err := s.Store.Turn(ctx, owner, state.TurnID); err == nil {
		if ctx, err = s.readsFor(ctx, t); err != nil { // asked in another place
			return nil, db.IgnoreNotFound(err)
		}
	}
	events, err := s.render(ctx, follow.Ref{Owner: owner, ThreadID: thread, TurnID: state.TurnID},
		[]chat.Entry{{Type: chat.EventInterrupt, Question: state.Pending, Ref: state.Pending.Ref}}, nil)
	if errors.Is(err, db.ErrSettled) { // its turn has ended meanwhile
		return nil, nil
	}
	if err != nil || len(events) == 0 || events[0].Interrupt == nil {
		return nil, err
	}
	return &events[0], nil
}

// readsFor returns the context in which an open turn is read: its space, or its scope. It is
// ErrNotFound elsewhere, and for an owner who does not read there any more.
func (s *server) readsFor(ctx context.Context, t chat.Turn) (context.Context, error) {
	if chat.Home(t.Space) != db.SpaceOf(ctx) {
		return ctx, db.ErrNotFound
	}
	ctx = db.InSpace(ctx, t.Space)
	_, err := s.Store.ThisSpace(ctx, t.Owner)
	return ctx, err
}

// render completes log entries with their texts.
func (s *server) render(ctx context.Context, ref follow.Ref, entries []chat.Entry, known []chat.Document) ([]chat.Event, error) {
	return transcript.Render(db.InThread(ctx, ref.ThreadID), knownFirst{s.Store, known}, transcript.Ref{Owner: ref.Owner, ThreadID: ref.ThreadID, TurnID: ref.TurnID}, entries)
}

// knownFirst is a store that does not read documents again that are known.
type knownFirst struct {
	db.Store
	known []chat.Document
}

func (k knownFirst) DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	var docs []chat.Document
	for _, id := range ids {
		i := slices.IndexFunc(k.known, func(d chat.Document) bool { return d.ID == id })
		if i < 0 {
			return k.Store.DocumentsByID(ctx, owner, ids)
		}
		docs = append(docs, k.known[i])
	}
	return docs, nil
}

// eventsOf returns the events of a turn that is over or waits for a person. For
// running turns the client uses the stream. ask limits workflow queries.
func (s *server) eventsOf(ctx, ask context.Context, l db.TurnLog) ([]chat.Event, error) {
	t := l.Turn
	if len(l.Events) > 0 || t.Status == chat.TurnAccepted { // a waiting turn has no question
		return l.Events, nil
	}
	ctx, err := s.readsFor(ctx, t)
	if err != nil {
		return l.Events, db.IgnoreNotFound(err)
	}
	progress, err := s.Threads.Progress(ask, t.ThreadID, t.ID, 0)
	if err != nil {
		s.Log.Warn("querying an open turn failed; sending the conversation without it", "turn", t.ID, "run", t.StreamRunID, "error", err)
		return nil, nil
	}
	if !progress.Waiting {
		return nil, nil
	}
	events, err := s.render(ctx, follow.Ref{Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID}, progress.Entries, nil)
	if errors.Is(err, db.ErrSettled) { // settled after its row was read
		return s.Store.Events(ctx, t.Owner, t.ID, 0)
	}
	return events, err
}
