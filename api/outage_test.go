package api

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// cutStore is the real store; a test can make it unavailable.
type cutStore struct {
	db.Store
	cut atomic.Bool
}

func (s *cutStore) down() error {
	if s.cut.Load() {
		return db.ErrUnavailable
	}
	return nil
}

func (s *cutStore) Ping(ctx context.Context) error { return errors.Join(s.down(), s.Store.Ping(ctx)) }

func (s *cutStore) Conversation(ctx context.Context, owner, id string) (chat.Conversation, error) {
	if err := s.down(); err != nil {
		return chat.Conversation{}, err
	}
	return s.Store.Conversation(ctx, owner, id)
}

func (s *cutStore) Within(b db.Bounds) db.Inserter { return cutInserter{s.Store.Within(b), s} }

type cutInserter struct {
	db.Inserter
	s *cutStore
}

func (i cutInserter) InsertTurn(ctx context.Context, t chat.Turn) (chat.Turn, bool, bool, error) {
	if err := i.s.down(); err != nil {
		return chat.Turn{}, false, false, err
	}
	return i.Inserter.InsertTurn(ctx, t)
}

func (s *cutStore) Turn(ctx context.Context, owner, id string) (chat.Turn, error) {
	if err := s.down(); err != nil {
		return chat.Turn{}, err
	}
	return s.Store.Turn(ctx, owner, id)
}

func (s *cutStore) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (chat.Turn, error) {
	if err := s.down(); err != nil {
		return chat.Turn{}, err
	}
	return s.Store.FindTurn(ctx, owner, ref)
}

// unsavedStore does not show open turns: they are not saved yet.
type unsavedStore struct {
	db.Store
	unsaved atomic.Bool
}

func (s *unsavedStore) FindTurn(ctx context.Context, owner string, ref db.CancelRef) (chat.Turn, error) {
	if s.unsaved.Load() {
		return chat.Turn{}, db.ErrNotFound
	}
	return s.Store.FindTurn(ctx, owner, ref)
}

func (s *unsavedStore) OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error) {
	if s.unsaved.Load() {
		return nil, nil
	}
	return s.Store.OpenTurns(ctx, owner, thread)
}

// The database is available again, and the turn that was accepted without it is not saved yet.
func TestStopFindsARunningTurnThatIsNotSavedYet(t *testing.T) {
	t.Parallel()
	for name, which := range map[string]m{"client_turn_id": {"client_turn_id": "c1"}, "stream_run_id": {"stream_run_id": "r1"}, "thread_id": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &unsavedStore{}
			b := setup(t, func(d *Deps) { store.Store, d.Store = d.Store, store })
			b.engine.script = waiting
			c, other := b.client(), b.client()
			s := c.ask(m{"thread_id": someThread, "client_turn_id": "c1", "stream_run_id": "r1"})
			s.until("status")
			store.unsaved.Store(true)
			which["thread_id"] = someThread
			if name != "thread_id" {
				assert.EqualValues(t, "pending", other.call(202, "POST", "/api/chat/cancel", which)["status"], "somebody else's thread")
			}
			got := c.call(202, "POST", "/api/chat/cancel", which)
			assert.True(t, got["turn_id"] == s.res.Header.Get("X-Turn-Id") && got["status"] == "cancelling", "answer: %v", got)
			store.unsaved.Store(false)
			s.until("cancelled")
		})
	}
}

func (s *cutStore) Head(ctx context.Context, owner, thread string) (string, error) {
	if err := s.down(); err != nil {
		return "", err
	}
	return s.Store.Head(ctx, owner, thread)
}

func (s *cutStore) Cancel(ctx context.Context, owner string, ref db.CancelRef, why chat.CancelReason) error {
	if err := s.down(); err != nil {
		return err
	}
	return s.Store.Cancel(ctx, owner, ref, why)
}

func (s *cutStore) OpenTurns(ctx context.Context, owner, thread string) ([]chat.Turn, error) {
	if err := s.down(); err != nil {
		return nil, err
	}
	return s.Store.OpenTurns(ctx, owner, thread)
}

func (s *cutStore) Texts(ctx context.Context, owner, turn string) (map[string]string, error) {
	if err := s.down(); err != nil {
		return nil, err
	}
	return s.Store.Texts(ctx, owner, turn)
}

func (s *cutStore) Draft(ctx context.Context, owner, turn string, piece int) (db.Draft, error) {
	if err := s.down(); err != nil {
		return db.Draft{}, err
	}
	return s.Store.Draft(ctx, owner, turn, piece)
}

func (s *cutStore) Events(ctx context.Context, owner, turn string, after int) ([]chat.Event, error) {
	if err := s.down(); err != nil {
		return nil, err
	}
	return s.Store.Events(ctx, owner, turn, after)
}

func (s *cutStore) DocumentsByID(ctx context.Context, owner string, ids []string) ([]chat.Document, error) {
	if err := s.down(); err != nil {
		return nil, err
	}
	return s.Store.DocumentsByID(ctx, owner, ids)
}

func (s *cutStore) TurnsOfRun(ctx context.Context, owner, run string) ([]chat.Turn, error) {
	if err := s.down(); err != nil {
		return nil, err
	}
	return s.Store.TurnsOfRun(ctx, owner, run)
}

func setupCut(t *testing.T, change ...func(*Deps)) (*bundle, *cutStore) {
	t.Helper()
	store := &cutStore{}
	b := setup(t, append(change, func(d *Deps) {
		store.Store = d.Store
		d.Store = store
	})...)
	return b, store
}

// Rule E9.
func TestMessageIsAcceptedDuringADatabaseOutageAndSavedAfterwards(t *testing.T) {
	t.Parallel()
	b, store := setupCut(t)
	c := b.client()
	c.ask(map[string]any{"thread_id": someThread, "message": "first"}).rest()

	store.cut.Store(true)
	back := make(chan struct{})
	b.engine.set(func() {
		b.engine.agent = chat.AgentAssistant
		b.engine.script = func(u *turn) {
			assert.EqualValues(t, chat.AgentAssistant, u.submit.Unsaved.Content.Agent, "agent")
			u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
			u.e.bus.PublishDelta(bus.Delta{TurnID: u.ref.TurnID, Piece: 1, Attempt: 1, Text: "The "})
			<-back
			u.say(1, "The answer ", "is 42.")
			u.finish()
		}
	})
	fields := map[string]any{"thread_id": someThread, "message": "second", "client_turn_id": "c2", "stream_run_id": "r2"}
	s := c.ask(fields)
	if notice := s.until("notice"); notice["code"] != chat.NoticeNotSaved || notice["stream_run_id"] != "r2" {
		t.Errorf("notice: %v", notice)
	}
	s.until("status")

	again := c.ask(fields) // a retry joins the turn although it has no row
	if got, want := again.res.Header.Get("X-Turn-Id"), s.res.Header.Get("X-Turn-Id"); got != want {
		t.Errorf("the retry made turn %s beside %s", got, want)
	}
	fields["message"] = "something else"
	assert.EqualValues(t, chat.CodeTurnConflict, errorCode(c.call(409, "POST", "/api/chat", fields)))
	store.cut.Store(false)
	close(back)
	assert.EqualValues(t, "The answer is 42.", s.until("response")["response"], "end")
	again.until("response")
	history := c.call(200, "GET", "/api/chat/history/"+someThread, nil)
	assert.EqualValues(t, 4, len(history["messages"].([]any)), history)
}

func TestOutageAcceptsOnlyPlainMessagesOfOpenThreads(t *testing.T) {
	t.Parallel()
	b, store := setupCut(t)
	c, other := b.client(), b.client()
	first := c.ask(map[string]any{"thread_id": someThread}).rest()
	other.id()
	store.cut.Store(true)
	for name, call := range map[string]struct {
		c      *client
		fields map[string]any
	}{
		"somebody else's thread":    {other, map[string]any{"thread_id": someThread}},
		"a thread that is not open": {c, map[string]any{"thread_id": "11111111-2222-4333-8444-555555555555"}},
		"a new thread":              {c, map[string]any{}},
		"a tagged document":         {c, map[string]any{"thread_id": someThread, "tagged_doc_ids": []string{someThread}}},
		"an edit":                   {c, map[string]any{"thread_id": someThread, "parent_checkpoint_id": first[len(first)-1]["turn_id"]}},
	} {
		call.fields["message"] = "x"
		body := call.c.call(503, "POST", "/api/chat", call.fields)
		assert.EqualValues(t, chat.CodeDatabase, errorCode(body), "%s: %v", name, body)
	}
	assert.Len(t, b.engine.submits, 1)

	b.engine.set(func() { b.engine.space = "11111111-2222-4333-8444-666666666666" })
	c.call(503, "POST", "/api/chat", map[string]any{"thread_id": someThread, "message": "its space is not named"})
	assert.Len(t, b.engine.submits, 1)
}

func TestOutageRefusesEditsAndRegenerations(t *testing.T) {
	t.Parallel()
	b, store := setupCut(t)
	c := b.client()
	first := c.post(someThread, nil, said("u1", "One"))
	answered := first.chunks()[0]["messageId"]
	c.post(someThread, nil, said("u1", "One"), replied(answered), said("u2", "Two")).chunks()
	turn := first.res.Header.Get("X-Turn-Id")
	store.cut.Store(true)
	native := func(parent string) m {
		return m{"message": "x", "thread_id": someThread, "parent_checkpoint_id": parent}
	}
	s3 := func(checkpoint string) m {
		return m{"message": m{"role": "human", "content": "x"}, "thread_id": someThread, "checkpoint_id": checkpoint}
	}
	v2 := func(parent string) m {
		return m{"message": "x", "session_id": someThread, "client_turn_id": "c", "stream_run_id": "r", "parent_checkpoint_id": parent}
	}
	agui := func(parent string) m {
		run := aguiRun(someThread, "c", "x")
		run["forwardedProps"] = m{"palaver": m{"parent_checkpoint_id": parent}}
		return run
	}
	ui := func(extra m) m {
		extra["id"], extra["messages"] = someThread, []m{said("u1", "One"), replied(answered), said("u2", "Two, edited")}
		return extra
	}
	for name, call := range map[string]struct {
		path string
		body m
	}{
		"native: after a turn":          {"/api/chat", native(turn)},
		"native: the first message":     {"/api/chat", native("root")},
		"LangGraph: after a turn":       {"/api/v1/chat/stream", s3(turn)},
		"LangGraph: the first message":  {"/api/v1/chat/stream", s3("root")},
		"agent v2: after a turn":        {"/api/agent/v2/stream", v2(turn)},
		"agent v2: the first message":   {"/api/agent/v2/stream", v2("root")},
		"AG-UI: after a turn":           {"/api/agui", agui(turn)},
		"AG-UI: the first message":      {"/api/agui", agui("root")},
		"OpenAI: messages before it":    {"/v1/chat/completions", m{"model": "palaver-documents", "metadata": m{"thread_id": someThread}, "messages": []m{{"role": "user", "content": "One"}, {"role": "assistant", "content": "The answer is 42."}, {"role": "user", "content": "Two, edited"}}}},
		"OpenAI: a new conversation":    {"/v1/chat/completions", completion("x")},
		"AI SDK: edit":                  {"/api/ui/chat", ui(m{"trigger": "submit-message", "messageId": "u2"})},
		"AI SDK: regenerate":            {"/api/ui/chat", ui(m{"trigger": "regenerate-message"})},
		"AI SDK: regenerate an answer":  {"/api/ui/chat", ui(m{"trigger": "regenerate-message", "messageId": answered})},
		"AI SDK: a place of one's own":  {"/api/ui/chat", ui(m{"trigger": "submit-message", "parent_checkpoint_id": turn})},
		"AI SDK: the first, by its own": {"/api/ui/chat", ui(m{"trigger": "submit-message", "parent_checkpoint_id": "root"})},
	} {
		body := c.call(503, "POST", call.path, call.body)
		assert.True(t, errorCode(body) == chat.CodeDatabase && strings.Contains(body["error"].(m)["message"].(string), "database cannot be reached"), "%s: %v", name, body)
	}
	assert.EqualValues(t, 2, b.engine.submitCount())
}

func TestOutageAcceptsMessagesOfBothFormats(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]m{"/v1/chat/completions": completion("x"), "/api/agui": aguiRun(someThread, "m", "x")} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b, store := setupCut(t)
			c, other := b.client(), b.client()
			other.id()
			c.ask(m{"thread_id": someThread}).rest()
			back := make(chan struct{})
			b.engine.set(func() {
				b.engine.script = func(u *turn) { // a finished text is shown once the database has it
					u.e.bus.PublishDelta(bus.Delta{TurnID: u.ref.TurnID, Piece: 1, Attempt: 1, Text: "The answer is 42."})
					<-back
					u.say(1, "The answer is 42.")
					u.finish()
				}
			})
			store.cut.Store(true)
			other.call(503, "POST", path, body, "X-Thread-Id", someThread)
			s := c.stream("POST", path, body, "X-Thread-Id", someThread)
			s.lineWith("The answer is 42.")
			store.cut.Store(false)
			close(back)
			rest, err := io.ReadAll(s.r)
			assert.True(t, err == nil && !strings.Contains(string(rest), "rror"), "%s, %v", rest, err)
		})
	}
}

// lineWith reads a stream up to a line that contains a text.
func (e *events) lineWith(text string) {
	e.t.Helper()
	for {
		block, ok := e.block()
		if !ok {
			e.t.Fatalf("the stream ended without %q", text)
		}
		if strings.Contains(block, text) {
			return
		}
	}
}

func TestOutageFindsStopsAndFollowsTurnsByThread(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]func(turnID string) map[string]any{
		"turn_id":        func(turnID string) map[string]any { return map[string]any{"turn_id": turnID} },
		"client_turn_id": func(string) map[string]any { return map[string]any{"client_turn_id": "c1"} },
		"stream_run_id":  func(string) map[string]any { return map[string]any{"stream_run_id": "r1"} },
		"thread_id":      func(string) map[string]any { return map[string]any{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := setupCut(t)
			b.engine.script = waiting
			c, other := b.client(), b.client()
			other.id()
			s := c.ask(map[string]any{"thread_id": someThread, "client_turn_id": "c1", "stream_run_id": "r1"})
			turnID := s.res.Header.Get("X-Turn-Id")
			s.until("status")
			store.cut.Store(true)
			which := ref(turnID)
			which["thread_id"] = someThread
			other.call(503, "POST", "/api/chat/cancel", which)
			assert.EqualValues(t, 503, other.send("GET", "/api/chat/stream/"+someThread, nil).StatusCode, "somebody else's stream")
			watching := c.stream("GET", "/api/chat/stream/"+someThread, nil)
			watching.until("status")
			got := c.call(202, "POST", "/api/chat/cancel", which)
			assert.True(t, got["turn_id"] == turnID && got["status"] == "cancelling", "answer: %v", got)
			store.cut.Store(false)
			s.until("cancelled")
			watching.until("cancelled")
		})
	}
}

func TestAnswerIsAcceptedDuringADatabaseOutage(t *testing.T) {
	t.Parallel()
	b, store := setupCut(t)
	b.engine.script = asking
	c, other := b.client(), b.client()
	other.id()
	c.ask(map[string]any{"thread_id": someThread}).until("interrupt")
	store.cut.Store(true)
	answer := map[string]any{"thread_id": someThread, "resume_value": map[string]any{"type": "action_choice", "value": "audit"}}
	other.call(503, "POST", "/api/chat/resume", answer)
	s := c.stream("POST", "/api/chat/resume", answer)
	store.cut.Store(false)
	s.until("response")
}

// disconnected disconnects a client with on_disconnect=cancel while its turn runs. The
// channel delivers the reason for which the turn was cancelled.
func disconnected(t *testing.T, b *bundle) (c *client, ended <-chan chat.CancelReason) {
	t.Helper()
	b.server.grace = time.Millisecond
	why := make(chan chat.CancelReason, 1)
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
		reason := <-u.stop
		why <- reason
		u.cancelled(reason)
	}
	c = b.client()
	s := c.ask(map[string]any{"thread_id": someThread, "on_disconnect": "cancel"})
	s.until("status")
	s.close()
	return c, why
}

func stillRuns(t *testing.T, ended <-chan chat.CancelReason) {
	t.Helper()
	select {
	case why := <-ended:
		t.Fatalf("ended %s", why)
	default:
	}
}

func TestDisconnectCancelsNoTurnFollowedInAnotherProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var mu sync.Mutex
	asked, gone, enough := 0, false, make(chan struct{})
	b.bus.watched = func(string) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 5 {
			close(enough)
		}
		if asked%2 == 0 && !gone { // a failed question is not a no
			return false, errors.New("cannot be asked")
		}
		return !gone, nil
	}
	_, ended := disconnected(t, b)
	<-enough
	stillRuns(t, ended)
	mu.Lock()
	gone = true
	mu.Unlock()
	assert.EqualValues(t, chat.Disconnected, <-ended, "ended")
}

func TestViewerInThisProcessKeepsATurnUntilItDisconnects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.bus.watched = func(string) (bool, error) { return true, nil } // until the viewer is attached
	c, ended := disconnected(t, b)
	back := c.stream("GET", "/api/chat/stream/"+someThread, nil)
	back.until("status")
	b.bus.setWatched(nil)
	stillRuns(t, ended)
	back.close()
	assert.EqualValues(t, chat.Disconnected, <-ended, "ended")
}

func (b *testBus) setWatched(watched func(string) (bool, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watched = watched
}

func TestDisconnectCancelsNoTurnThatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pose, noticed, asked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.bus.watched = func(string) (bool, error) {
		close(noticed)
		<-asked
		return false, nil
	}
	b.server.grace = time.Millisecond
	b.engine.script = func(u *turn) {
		u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeIntent})
		<-pose
		asking(u)
	}
	looked := make(chan struct{}, 100)
	b.server.Threads = watchedStates{b.engine, looked}
	c := b.client()
	s := c.ask(map[string]any{"thread_id": someThread, "on_disconnect": "cancel"})
	s.until("status")
	s.close()
	<-noticed // the disconnect was noticed
	watching := c.stream("GET", "/api/chat/stream/"+someThread, nil)
	close(pose)
	watching.until("interrupt")
	watching.close()
	close(asked)
	<-looked // the state was read: the turn waits
	c.stream("POST", "/api/chat/resume", map[string]any{"thread_id": someThread,
		"resume_value": map[string]any{"type": "action_choice", "value": "audit"}}).until("response")
	b.engine.set(func() {
		assert.Len(t, b.engine.cancels, 0, "cancels: %v", b.engine.cancels)
	})
}

// watchedStates signals when a thread's state is queried.
type watchedStates struct {
	Threads
	asked chan struct{}
}

func (w watchedStates) State(ctx context.Context, thread string) (chat.ThreadState, error) {
	s, err := w.Threads.State(ctx, thread)
	w.asked <- struct{}{}
	return s, err
}

func TestEveryEventOfAStreamHasItsRunID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.client()
	check := func(run string, s *events) {
		t.Helper()
		all := s.rest()
		for _, e := range all {
			assert.EqualValues(t, run, e["stream_run_id"], "not of run %s: %v", run, e)
		}
		assert.True(t, len(all) >= 2, "%d events", len(all))
	}
	fields := map[string]any{"thread_id": someThread, "client_turn_id": "c1", "stream_run_id": "r1"}
	check("r1", c.ask(fields))
	turn := b.engine.submits[0].TurnID
	fields["stream_run_id"] = "r2" // another try of the same message
	check("r2", c.ask(fields))
	check("r1", c.stream("GET", "/api/chat/stream/"+someThread+"?turn_id="+turn, nil))
}
