package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/api/follow"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
)

// askedBus is a bus whose Watched answers or fails.
type askedBus struct {
	bus.Noop
	mu       sync.Mutex
	asked    int
	followed bool
	broken   error
}

func (b *askedBus) Watched(context.Context, string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	return b.followed, b.broken
}

func (b *askedBus) set(followed bool, broken error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.followed, b.broken = 0, followed, broken
}

func (b *askedBus) questions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// openThreads is an engine in which every turn is open until it is cancelled.
type openThreads struct {
	Threads
	mu        sync.Mutex
	cancelled []string
}

func (e *openThreads) State(_ context.Context, thread string) (chat.ThreadState, error) {
	return chat.ThreadState{TurnID: thread, Names: map[string]chat.TurnName{thread: {}}}, nil
}

func (e *openThreads) Cancel(_ context.Context, _ string, c chat.Cancel) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancelled = append(e.cancelled, c.TurnID)
	return true, nil
}

func (e *openThreads) ended() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.cancelled)
}

// disconnecting makes a server for a synctest bubble. leave adds that many turns whose
// clients have just disconnected.
func disconnecting(t *testing.T) (leave func(turns int), b *askedBus, e *openThreads, log *bytes.Buffer) {
	b, e, log = &askedBus{}, &openThreads{}, &bytes.Buffer{}
	stop := make(chan struct{})
	s := &server{Deps: Deps{Bus: b, Threads: e, Stop: stop, Log: slog.New(slog.NewTextHandler(log, nil))},
		grace: disconnectGrace, answerTimeout: AnswerTimeout, hub: follow.NewHub(e, nil, b, nil, slog.Default())}
	s.disconnects.s = s
	t.Cleanup(func() { close(stop) })
	return func(turns int) {
		for range turns {
			id := uuid.NewString() // of the thread, too
			s.disconnects.add(chat.Turn{ID: id, ThreadID: id})
			s.disconnects.add(chat.Turn{ID: id, ThreadID: id}) // a second client of the turn
		}
	}, b, e, log
}

// watching counts the goroutines that handle disconnected clients.
func watching() int {
	stacks := make([]byte, 16<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*disconnects).run(")
}

func TestDisconnectsWithoutNATSCostOneQuestionARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave, b, e, log := disconnecting(t)
		b.set(false, errors.New("nats: no servers available"))
		for range 10 {
			leave(100)
			time.Sleep(100 * time.Millisecond)
		}
		assert.EqualValues(t, 1, watching())
		time.Sleep(50 * time.Second)
		if n := b.questions(); n > 25 {
			t.Errorf("NATS was asked %d times in 50 s", n)
		}
		time.Sleep(time.Minute)
		b.set(false, nil) // too late: the turns were abandoned
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Zero(t, b.questions())
		assert.EqualValues(t, 0, e.ended(), "%d turns were cancelled although other processes could not be asked who follows them", e.ended())
		assert.Zero(t, watching())
		lines := strings.Count(log.String(), "\n")
		assert.True(t, lines != 0 && lines <= 10 && strings.Contains(log.String(), "turns of disconnected clients are not cancelled"), "%d lines: %s", lines, log)
	})
}

func TestDisconnectedTurnsEndWhenNATSIsBackWithinTheMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave, b, e, _ := disconnecting(t)
		b.set(false, errors.New("nats: no servers available"))
		leave(10)
		time.Sleep(30 * time.Second)
		b.set(true, nil)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 0, e.ended(), "%d turns ended that are followed", e.ended())
		b.set(false, nil)
		time.Sleep(3 * disconnectGrace)
		synctest.Wait()
		assert.EqualValues(t, 10, e.ended(), "%d turns ended", e.ended())
		leave(1) // the loop starts again
		time.Sleep(2 * disconnectGrace)
		synctest.Wait()
		assert.EqualValues(t, 11, e.ended(), "%d turns ended", e.ended())
	})
}
