package api

import (
	"context"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

// another starts a second API process on the same store, engine and bus.
func (b *bundle) another(change ...func(*Deps)) string {
	b.t.Helper()
	d := b.server.Deps
	d.Metrics = nil
	for _, f := range change {
		f(&d)
	}
	s, err := newServer(d)
	if err != nil {
		b.t.Fatal(err)
	}
	web := httptest.NewServer(s.routes())
	b.t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL
}

// at returns the same user as a client of another API process.
func (c *client) at(url string) *client {
	other := *c
	other.url = url
	return &other
}

const wholeThread = "/api/chat/stream/" + someThread + "?follow=thread"

// shown returns the next n turns of a stream. Events of different turns must not mix.
func shown(s *events, n int) (turns []any) {
	s.t.Helper()
	for len(turns) < n {
		e := s.next()
		if e == nil {
			s.t.Fatalf("the stream ended after %v", turns)
		}
		if e["type"] == "response" || e["type"] == "cancelled" {
			turns = append(turns, e["turn_id"])
		}
	}
	return turns
}

func requireSame(t *testing.T, who string, got []any, want ...any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", who, got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: %v, want %v", who, got, want)
			return
		}
	}
}

// Rule T2.
func TestThreadIsFollowedInTheOrderItRanDespiteClockDifferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ann := b.client()
	slow := ann.at(b.another(slowClock(5 * time.Second)))
	ann.id() // one cookie for both
	first := ann.ask(m{"thread_id": someThread}).rest()
	before := first[0]["event_id"].(string)
	watching := map[string]*events{
		"idle": ann.stream("GET", wholeThread, nil), "at the slow machine": slow.stream("GET", wholeThread, nil),
		"back": ann.stream("GET", wholeThread, nil, "Last-Event-ID", before),
	}
	requireSame(t, "the rest of the first turn", shown(watching["back"], 1), before[:36])
	var ran []any
	for i := range 6 {
		at := ann
		if i%2 == 0 {
			at = slow
		}
		ran = append(ran, at.ask(m{"thread_id": someThread}).until("response")["turn_id"])
	}
	require.True(t, ran[1].(string) >= ran[2].(string), "the ids are in order: the clocks do not differ")
	for who, s := range watching {
		requireSame(t, who, shown(s, 6), ran...)
	}
	for i, id := range ran { // a client that reconnects after any of them gets the later ones
		back := slow.stream("GET", wholeThread, nil, "Last-Event-ID", id.(string)+".1")
		requireSame(t, "back", shown(back, len(ran)-i), ran[i:]...)
	}
}

// row inserts an accepted turn that no workflow runs.
func (b *bundle) row(owner string) chat.Turn {
	b.t.Helper()
	in := dialect.Submit{ThreadID: someThread, Content: chat.Content{Message: "x", Agent: chat.AgentDocuments}}
	turn := newTurn(owner, in, b.server.now())
	turn, _, _, err := b.store.InsertTurn(b.t.Context(), turn)
	b.requireNoError(err)
	b.requireNoError(b.store.MarkTurn(b.t.Context(), owner, turn.ID, chat.TurnAccepted, ""))
	return turn
}

func (b *bundle) begin(turn chat.Turn) {
	b.t.Helper()
	b.requireNoError(b.store.MarkTurn(b.t.Context(), turn.Owner, turn.ID, chat.TurnRunning, chat.RootCheckpoint))
	b.bus.ThreadChanged(turn.ThreadID, turn.ID)
}

// end settles a turn that no workflow runs.
func (b *bundle) end(turn chat.Turn, why chat.CancelReason) {
	b.t.Helper()
	s := db.Settlement{Owner: turn.Owner, ThreadID: turn.ThreadID, TurnID: turn.ID, Parent: chat.RootCheckpoint, At: time.Now(),
		Status: chat.TurnCancelled, Hidden: why == chat.RolledBack,
		Events:   []chat.Event{{N: 1, Type: chat.EventTurnStarted, TurnID: turn.ID, ThreadID: turn.ThreadID}},
		Terminal: chat.Event{N: 2, Type: chat.EventCancelled, Reason: why, TurnID: turn.ID, ThreadID: turn.ThreadID}}
	_, err := b.store.Settle(b.t.Context(), s)
	b.requireNoError(err)
	b.bus.ThreadChanged(turn.ThreadID, turn.ID)
}

func (b *bundle) requireNoError(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestWaitingTurnsAreShownWhenTheyBeginOrAreStopped(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	goOn := make(chan struct{})
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
		<-goOn
		answer(u)
	}
	running := c.ask(m{"thread_id": someThread})
	id := running.until("status")["event_id"].(string)[:36]
	early := c.stream("GET", wholeThread, nil)
	early.until("status")
	owner := c.id()
	first, undone, stopped := b.row(owner), b.row(owner), b.row(owner)
	b.end(stopped, chat.UserCancelled) // while it waits: its place is before the others'
	late := c.stream("GET", wholeThread, nil)
	late.until("status")
	close(goOn)
	b.begin(first)
	b.end(first, chat.Superseded)
	b.begin(undone)
	b.end(undone, chat.RolledBack)
	next := b.row(owner)
	b.begin(next)
	b.end(next, chat.UserCancelled)
	for who, s := range map[string]*events{"early": early, "late": late} {
		requireSame(t, who, shown(s, 5), id, stopped.ID, first.ID, undone.ID, next.ID)
	}
	back := c.stream("GET", wholeThread, nil, "Last-Event-ID", first.ID+".2")
	requireSame(t, "back", shown(back, 2), undone.ID, next.ID)
}

func TestTurnThatBeganTooEarlyIsShownOnceAndHidesNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	goOn := make(chan struct{})
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
		<-goOn
		answer(u)
	}
	s := c.ask(m{"thread_id": someThread})
	id := s.until("status")["event_id"].(string)[:36]
	watching := c.stream("GET", wholeThread, nil)
	watching.until("status")
	owner := c.id()
	b.requireNoError(b.store.UnmarkTurn(t.Context(), owner, id, chat.TurnAccepted))
	other := b.row(owner)
	b.begin(other)
	b.end(other, chat.UserCancelled)
	b.requireNoError(b.store.MarkTurn(t.Context(), owner, id, chat.TurnRunning, other.ID))
	close(goOn)
	s.until("response")
	last := b.row(owner)
	b.begin(last)
	b.end(last, chat.UserCancelled)
	requireSame(t, "watching", shown(watching, 3), id, other.ID, last.ID)
}

func TestReusedConversationContinuesInTheStreamOfItsThread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	owner := c.id()
	c.ask(m{"thread_id": someThread}).rest()
	c.ask(m{"thread_id": someThread}).rest()
	looks := &lookingStore{Store: b.server.Store, looked: make(chan struct{}, 2)}
	b.server.Store = looks
	watching := c.stream("GET", wholeThread, nil)
	<-looks.looked // the first read
	<-looks.looked // the read before it waits
	assert.Zero(t, looks.reads.Load())
	b.requireNoError(b.store.DeleteConversation(t.Context(), owner, someThread))
	next := b.row(owner) // before the stream reads again
	b.begin(next)
	b.end(next, chat.UserCancelled)
	requireSame(t, "watching", shown(watching, 1), next.ID)
	// An event id of the deleted conversation is unknown now.
	back := c.stream("GET", wholeThread, nil, "Last-Event-ID", uuid.NewString()+".1")
	after := b.row(owner)
	b.begin(after)
	b.end(after, chat.UserCancelled)
	requireSame(t, "back", shown(back, 1), after.ID)
}

// lookingStore signals reads for new turns, and counts how often turns were read.
type lookingStore struct {
	db.Store
	looked chan struct{}
	reads  atomic.Int32
}

func (s *lookingStore) LastPlace(ctx context.Context, owner, thread string) (int, error) {
	place, err := s.Store.LastPlace(ctx, owner, thread)
	select {
	case s.looked <- struct{}{}:
	default:
	}
	return place, err
}

func (s *lookingStore) TurnsAfter(ctx context.Context, owner, thread string, place, limit int) ([]chat.Turn, error) {
	s.reads.Add(1)
	return s.Store.TurnsAfter(ctx, owner, thread, place, limit)
}

// failingOnce is a store whose first read of a log fails.
type failingOnce struct {
	db.Store
	failed atomic.Bool
}

func (s *failingOnce) Events(ctx context.Context, owner, turn string, after int) ([]chat.Event, error) {
	if !s.failed.Swap(true) {
		return nil, db.ErrUnavailable
	}
	return s.Store.Events(ctx, owner, turn, after)
}

func TestTurnWhoseLogCannotBeReadIsShownLaterAndNotSkipped(t *testing.T) {
	t.Parallel()
	store := &failingOnce{}
	b := setup(t, func(d *Deps) {
		store.Store = d.Store
		d.Store = store
	})
	c := b.client()
	owner := c.id()
	b.row(owner)
	watching := c.stream("GET", wholeThread, nil)
	first, second := b.row(owner), b.row(owner)
	for _, turn := range []chat.Turn{first, second} {
		b.end(turn, chat.UserCancelled)
	}
	requireSame(t, "watching", shown(watching, 2), first.ID, second.ID)
	assert.True(t, store.failed.Load(), "the log was read at once")
}
