// Package dbtest is the conformance suite of db.Store. Every implementation runs it;
// it does not depend on the database.
package dbtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/must"
)

// Run checks a Store against its contract. open returns an empty one; it may be the same as
// before, emptied. The last test closes it. Times are compared to the microsecond.
func Run(t *testing.T, open func(t *testing.T) db.Store) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"conversations", conversationTests},
		{"turns", turnTests},
		{"settle", settleTests},
		{"history", historyTests},
		{"summaries", summaryTests},
		{"places", placeTests},
		{"documents", documentTests},
		{"imports", importTests},
		{"search", searchTests},
		{"sets", setTests},
		{"files", fileTests},
		{"boards", boardTests},
		{"limits", limitTests},
		{"quotas", quotaTests},
		{"visitors", visitorTests},
		{"owners", ownerTests},
		{"repair", repairTests},
		{"audit", auditTests},
		{"connections", connectionTests},
		{"tool servers", toolServerTests},
		{"personal keys", keyTests},
		{"shared links", shareTests},
		{"feedback", feedbackTests},
		{"administration", adminTests},
		{"upkeep", upkeepTests},
		{"users", userTests},
		{"claims", claimTests},
		{"spaces", spaceTests}, {"conversations in spaces", spaceConversationTests},
		{"races", raceTests},
		{"closing", closingTests}, // the last: it closes its store
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.promise, func(t *testing.T) { test.run(newFixture(t, open)) })
			}
		})
	}
}

type test struct {
	promise string
	run     func(b *fixture)
}

// fixture is a store with an owner, one of their threads and helpers for tests.
type fixture struct {
	*require.Assertions
	t             testing.TB
	ctx           context.Context
	store         db.Store
	owner, thread string
	ticking       sync.Mutex // of clock, in calls of now at the same time
	clock         time.Time
}

func newFixture(t *testing.T, open func(t *testing.T) db.Store) *fixture {
	return &fixture{
		Assertions: require.New(t), t: t, ctx: t.Context(), store: open(t),
		owner: uuid.NewString(), thread: uuid.NewString(),
		clock: time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC),
	}
}

// now returns a time that is a second later at each call.
func (b *fixture) now() time.Time {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	b.clock = b.clock.Add(time.Second)
	return b.clock
}

// newTurn returns a turn of the fixture's thread that is not inserted yet.
func (b *fixture) newTurn(message string) chat.Turn {
	content := chat.Content{Message: message, Agent: chat.AgentDocuments}
	return chat.Turn{
		ID: uuid.NewString(), ThreadID: b.thread, Owner: b.owner, ClientTurnID: uuid.NewString(), StreamRunID: uuid.NewString(),
		Content: content, ContentHash: content.Hash(), Status: chat.TurnNew, CreatedAt: b.now(),
	}
}

// sentAt is newTurn for a turn that was sent at a time.
func (b *fixture) sentAt(at time.Time) chat.Turn {
	t := b.newTurn("hello")
	t.CreatedAt = at.UTC().Truncate(time.Microsecond)
	return t
}

func (b *fixture) insert(t chat.Turn) chat.Turn {
	b.t.Helper()
	stored, created, _, err := b.store.InsertTurn(b.ctx, t)
	b.NoError(err)
	b.True(created)
	return stored
}

// save writes the row of a turn that was accepted during an outage and not cancelled.
func (b *fixture) save(t chat.Turn) chat.Turn {
	b.t.Helper()
	stored, cancelled, err := b.store.SaveTurn(b.ctx, t)
	b.NoError(err)
	b.False(cancelled)
	return stored
}

func (b *fixture) mark(id string, s chat.TurnStatus, parent string) {
	b.t.Helper()
	b.NoError(b.store.MarkTurn(b.ctx, b.owner, id, s, parent))
}

// running inserts a turn and starts it under parent.
func (b *fixture) running(message, parent string) chat.Turn {
	b.t.Helper()
	t := b.insert(b.newTurn(message))
	b.mark(t.ID, chat.TurnRunning, parent)
	t.Parent, t.Status = parent, chat.TurnRunning
	return t
}

// ending returns the settlement that completes a turn of the fixture's thread.
func (b *fixture) ending(t chat.Turn, text string) db.Settlement {
	at := b.now()
	return db.Settlement{
		Owner: t.Owner, ThreadID: t.ThreadID, TurnID: t.ID, Parent: t.Parent, Status: chat.TurnCompleted, Text: text, At: at,
		Events:   []chat.Event{{N: 1, Type: chat.EventTurnStarted, TurnID: t.ID, ThreadID: t.ThreadID}},
		Terminal: chat.Event{N: 2, Type: chat.EventResponse, TurnID: t.ID, ThreadID: t.ThreadID, Response: &chat.Response{Text: text}},
	}
}

func (b *fixture) settle(s db.Settlement) chat.Event {
	b.t.Helper()
	e := must.Have(b.store.Settle(b.ctx, s))(b.t)
	return e.Event
}

// exchange inserts a settled turn under parent and returns its id.
func (b *fixture) exchange(message, answer, parent string) string {
	b.t.Helper()
	t := b.running(message, parent)
	b.settle(b.ending(t, answer))
	return t.ID
}

// document stores a ready document of these chunks, one after another.
func (b *fixture) document(owner, title string, texts ...string) chat.Document {
	b.t.Helper()
	d := chat.Document{ID: uuid.NewString(), Owner: owner, Title: title, Format: "txt", Bytes: 7, CreatedAt: b.now()}
	b.NoError(b.store.CreateDocument(b.ctx, d, []byte("raw")))
	text, chunks := cut(d.ID, texts...)
	b.NoError(b.store.StoreText(b.ctx, owner, d.ID, text, chunks, nil))
	stored := must.Have(b.store.Document(b.ctx, owner, d.ID))(b.t)
	return stored
}

// cut joins texts to the text of a document, and returns it with one chunk for each.
func cut(docID string, texts ...string) (string, []chat.Chunk) {
	full, at := "", 0
	chunks := make([]chat.Chunk, len(texts))
	for i, text := range texts {
		end := at + len([]rune(text))
		chunks[i] = chat.Chunk{ID: chunkID(docID, i), DocID: docID, Ordinal: i, Text: text, Start: at, End: end}
		full, at = full+text+"\n", end+1
	}
	return full, chunks
}

func (b *fixture) history(head, before string, limit int) db.History {
	b.t.Helper()
	h := must.Have(b.store.History(b.ctx, b.owner, b.thread, head, before, limit))(b.t)
	return h
}

// contents returns the texts of messages.
func contents(messages []chat.Message) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, m.Content)
	}
	return list
}

// found returns the chunk ids of hits.
func found(hits []chat.Hit) []string {
	list := []string{}
	for _, h := range hits {
		list = append(list, h.ID)
	}
	return list
}

func ids[T any](items []T, id func(T) string) []string {
	list := []string{}
	for _, item := range items {
		list = append(list, id(item))
	}
	return list
}

func conversationID(c chat.Conversation) string { return c.ID }
func documentID(d chat.Document) string         { return d.ID }
func setID(s chat.DocumentSet) string           { return s.ID }
func turnID(t chat.Turn) string                 { return t.ID }
