package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/palaver-chat/palaver/activities/transcript"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// testBus delivers hints, deltas and new turns within the test.
type testBus struct {
	bus.Noop
	watched func(turnID string) (bool, error) // the answer of other processes; nil: no
	mu      sync.Mutex
	turns   map[string][]chan bus.Signal
	threads map[string][]chan string
	down    bool
	refuses bool // SubscribeThread fails
}

func newTestBus() *testBus {
	return &testBus{turns: map[string][]chan bus.Signal{}, threads: map[string][]chan string{}}
}

func (b *testBus) Watched(_ context.Context, turnID string) (bool, error) {
	b.mu.Lock()
	watched := b.watched
	b.mu.Unlock()
	if watched == nil {
		return false, nil
	}
	return watched(turnID)
}

func (b *testBus) Ready() bool { return !b.down }

func (b *testBus) PublishDelta(d bus.Delta)  { b.send(d.TurnID, bus.Signal{Delta: &d}) }
func (b *testBus) Hint(turnID string, n int) { b.send(turnID, bus.Signal{N: n}) }
func (b *testBus) PublishLog(turnID string, entries []chat.Entry) {
	b.send(turnID, bus.Signal{Log: entries})
}
func (b *testBus) Retrying(turnID string, n int)    { b.send(turnID, bus.Signal{Retry: n}) }
func (b *testBus) Settled(turnID string, _ bus.End) { b.send(turnID, bus.Signal{Settled: true}) }
func (b *testBus) Connected() bool                  { return !b.down }

func (b *testBus) send(turnID string, s bus.Signal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ch := range b.turns[turnID] {
		select {
		case ch <- s:
		default:
		}
	}
}

func (b *testBus) ThreadChanged(threadID, turnID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ch := range b.threads[threadID] {
		select {
		case ch <- turnID:
		default:
		}
	}
}

func (b *testBus) Subscribe(ctx context.Context, turnID string) (<-chan bus.Signal, error) {
	return subscribe(ctx, b, b.turns, turnID), nil
}

func (b *testBus) SubscribeThread(ctx context.Context, threadID string) (<-chan string, error) {
	if b.refuses {
		return nil, errors.New("subscription refused")
	}
	return subscribe(ctx, b, b.threads, threadID), nil
}

func subscribe[T any](ctx context.Context, b *testBus, to map[string][]chan T, key string) <-chan T {
	ch := make(chan T, 64)
	b.mu.Lock()
	defer b.mu.Unlock()
	to[key] = append(to[key], ch)
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		to[key] = slices.DeleteFunc(to[key], func(c chan T) bool { return c == ch })
		close(ch)
	})
	return ch
}

// engine simulates thread workflows over the real store. Each turn
// runs the script.
type engine struct {
	t      *testing.T
	store  db.Store
	bus    *testBus
	script func(*turn)

	mu          sync.Mutex
	turns       map[string]*turn
	open        map[string]*turn // by thread
	owners      map[string]string
	lost        map[string]bool // threads whose workflow was terminated
	ended       []*turn         // of those threads
	runs        int64
	agent       chat.Agent // of every thread
	space       string     // of every thread
	cancels     []chat.Cancel
	resumes     []chat.Resume
	submits     []chat.Submit
	deleted     []string
	forgotten   []string
	ingested    []string
	refuse      error    // returned by Submit
	imported    []string // keys of imports that were started
	unavailable error    // returned by every call
	submitted   func(chat.Submit)
	sending     func() // is called before a submit arrives
	running     sync.WaitGroup
}

// turn is the state that a workflow keeps of a turn.
type turn struct {
	e       *engine
	ref     transcript.Ref
	submit  chat.Submit
	log     []chat.Entry
	prompts []db.Prompt // for the history
	pending *chat.Question
	answer  chan chat.ResumeValue
	stop    chan chat.CancelReason
	over    bool
}

func newEngine(t *testing.T, store db.Store, b *testBus) *engine {
	return &engine{t: t, store: store, bus: b, turns: map[string]*turn{}, open: map[string]*turn{}, owners: map[string]string{}, lost: map[string]bool{}, script: answer}
}

// answer is the script of a turn that completes.
func answer(u *turn) {
	u.add(chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire})
	u.say(1, "The answer ", "is 42.")
	u.finish()
}

func (e *engine) Submit(_ context.Context, s chat.Submit) (chat.SubmitResult, error) {
	e.mu.Lock()
	sending := e.sending
	e.mu.Unlock()
	if sending != nil {
		sending()
	}
	id, err := e.submit(s)
	return chat.SubmitResult{TurnID: id}, err
}

func (e *engine) submit(s chat.Submit) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.submits = append(e.submits, s)
	if e.unavailable != nil {
		return "", e.unavailable
	}
	if e.refuse != nil {
		return "", e.refuse
	}
	if e.turns[s.TurnID] != nil {
		return s.TurnID, nil
	}
	for id, u := range e.turns { // a repeat that the rows did not show
		if !s.NoRepeat && u.submit.ThreadID == s.ThreadID && u.submit.ClientTurnID == s.ClientTurnID && s.Generation <= u.submit.Generation {
			if u.submit.ContentHash != s.ContentHash {
				return "", &chat.RefusedError{Code: chat.CodeTurnConflict}
			}
			return id, nil
		}
	}
	e.owners[s.ThreadID] = s.Owner
	delete(e.lost, s.ThreadID)
	u := &turn{e: e, submit: s, ref: transcript.Ref{Owner: s.Owner, ThreadID: s.ThreadID, TurnID: s.TurnID},
		answer: make(chan chat.ResumeValue, 1), stop: make(chan chat.CancelReason, 8)}
	e.turns[s.TurnID], e.open[s.ThreadID] = u, u
	if e.submitted != nil {
		e.submitted(s)
	}
	e.running.Go(func() {
		if s.Unsaved != nil {
			_, _, _, err := e.store.InsertTurn(context.Background(), *s.Unsaved)
			u.must(err)
		}
		row, err := e.store.Turn(context.Background(), s.Owner, s.TurnID)
		parent := row.Content.ParentRequest
		if row.Parent != "" { // it has begun before
			parent = row.Parent
		}
		if err == nil && parent == "" {
			parent, err = e.store.Head(context.Background(), s.Owner, s.ThreadID)
		}
		if err == nil {
			err = e.store.MarkTurn(context.Background(), s.Owner, s.TurnID, chat.TurnRunning, parent)
			e.bus.ThreadChanged(s.ThreadID, s.TurnID)
		}
		u.must(err)
		u.add(chat.Entry{Type: chat.EventTurnStarted})
		if s.Cancelled {
			u.cancelled(chat.UserCancelled)
			return
		}
		e.script(u)
	})
	return s.TurnID, nil
}

func (e *engine) Resume(_ context.Context, r chat.Resume) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unavailable != nil {
		return e.unavailable
	}
	u := e.open[r.ThreadID]
	if u == nil || u.pending == nil || u.pending.ID != r.InterruptID {
		return &chat.RefusedError{Code: chat.CodeNoInterrupt}
	}
	if why := r.Value.Fits(*u.pending); why != "" {
		return &chat.RefusedError{Code: chat.CodeBadResume, Message: why}
	}
	u.pending = nil
	e.resumes = append(e.resumes, r)
	u.answer <- r.Value
	return nil
}

func (e *engine) Cancel(_ context.Context, threadID string, c chat.Cancel) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancels = append(e.cancels, c)
	if u := e.open[threadID]; u != nil && u.ref.TurnID == c.TurnID {
		u.stop <- c.Reason
	}
	_, open := e.owners[threadID]
	return open && !e.lost[threadID], e.unavailable
}

func (e *engine) Run(_ context.Context, threadID string) (chat.WorkflowRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, open := e.owners[threadID]
	e.runs++ // the history has grown since the last query
	switch {
	case e.unavailable != nil:
		return chat.WorkflowRun{}, e.unavailable
	case e.lost[threadID]:
		return chat.WorkflowRun{Status: chat.RunTerminated}, nil
	case !open:
		return chat.WorkflowRun{Status: chat.RunNotFound}, nil
	}
	return chat.WorkflowRun{Status: chat.RunOpen, ID: threadID, Length: e.runs}, nil
}

// lose terminates a thread's workflow, so that its turns stay open without one.
func (e *engine) lose(threadID string) {
	e.set(func() {
		e.lost[threadID] = true
		delete(e.open, threadID)
		for id, u := range e.turns {
			if u.submit.ThreadID == threadID {
				delete(e.turns, id)
				e.ended = append(e.ended, u)
			}
		}
	})
}

func (e *engine) Progress(_ context.Context, _, turnID string, after int) (chat.Progress, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.turns[turnID]
	if u == nil || e.unavailable != nil {
		return chat.Progress{}, e.unavailable
	}
	return chat.Progress{Known: true, Entries: slices.Clone(u.log[min(after, len(u.log)):]), Over: u.over, Waiting: u.pending != nil}, nil
}

func (e *engine) State(_ context.Context, threadID string) (chat.ThreadState, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.open[threadID]
	if e.unavailable != nil {
		return chat.ThreadState{}, e.unavailable
	}
	if e.lost[threadID] {
		return chat.ThreadState{}, nil
	}
	if u == nil {
		return chat.ThreadState{Owner: e.owners[threadID], Agent: e.agent, Space: e.space}, nil
	}
	name := chat.TurnName{Client: chat.ClientKey(u.submit.ClientTurnID), RunID: u.submit.StreamRunID}
	return chat.ThreadState{Owner: u.ref.Owner, TurnID: u.ref.TurnID, Status: chat.TurnRunning, Pending: u.pending,
		Names: map[string]chat.TurnName{u.ref.TurnID: name}}, nil
}

func (e *engine) Delete(_ context.Context, threadID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deleted = append(e.deleted, threadID)
	delete(e.open, threadID)
	return e.unavailable
}

func (e *engine) ChangeOwner(_ context.Context, threadID, owner string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := e.open[threadID]
	switch {
	case e.unavailable != nil:
		return e.unavailable
	case u != nil && u.pending == nil:
		return &chat.RefusedError{Code: chat.CodeTurnRunning, TurnID: u.ref.TurnID}
	case u != nil:
		u.ref.Owner = owner
	}
	if _, known := e.owners[threadID]; known {
		e.owners[threadID] = owner
	}
	return nil
}

func (e *engine) EndRun(_ context.Context, threadID, _, _ string) error {
	return e.Delete(context.Background(), threadID)
}

func (e *engine) Idle(context.Context) (bool, error) { return true, nil }

func (e *engine) ForgetThread(_ context.Context, threadID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forgotten = append(e.forgotten, threadID)
	return e.unavailable
}

func (e *engine) Ingest(_ context.Context, _, docID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ingested = append(e.ingested, docID)
	return e.unavailable
}

func (e *engine) Import(_ context.Context, _, key string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.imported = append(e.imported, key)
	return e.unavailable
}

// end stops every turn and waits for it.
func (e *engine) end() {
	e.set(func() {
		for _, u := range slices.AppendSeq(e.ended, maps.Values(e.turns)) {
			select {
			case u.stop <- chat.UserCancelled:
			default:
			}
		}
	})
	e.running.Wait()
}

func (e *engine) set(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

func (u *turn) must(err error) {
	if err != nil && u.e.t != nil { // a fuzz test may delete what runs
		u.e.t.Errorf("turn %s: %v", u.ref.TurnID, err)
	}
}

func (u *turn) add(entry chat.Entry) {
	u.e.mu.Lock()
	entry.N, entry.At = len(u.log)+1, time.Now()
	u.log = append(u.log, entry)
	u.e.mu.Unlock()
	u.e.bus.Hint(u.ref.TurnID, entry.N)
}

// say streams a piece of the answer and closes it.
func (u *turn) say(piece int, deltas ...string) {
	text := ""
	for _, d := range deltas {
		u.e.bus.PublishDelta(bus.Delta{TurnID: u.ref.TurnID, Piece: piece, Attempt: 1, Offset: len([]rune(text)), Text: d})
		text += d
		u.must(u.e.store.SaveDraft(context.Background(), u.ref.Owner, db.Draft{TurnID: u.ref.TurnID, Piece: piece, Attempt: 1, Text: text}))
	}
	u.must(u.e.store.PutText(context.Background(), u.ref.Owner, u.ref.TurnID, chat.PieceKey(piece), text))
	u.add(chat.Entry{Type: chat.EventText, Piece: piece, Ref: chat.PieceKey(piece)})
}

// ask pauses the turn until it is answered; ok is false when it is cancelled.
func (u *turn) ask(q chat.Question) (v chat.ResumeValue, ok bool) {
	q.ID = chat.InterruptID(u.ref.TurnID, 1)
	u.must(u.e.store.MarkTurn(context.Background(), u.ref.Owner, u.ref.TurnID, chat.TurnInterrupted, ""))
	u.e.set(func() { u.pending = &q })
	u.add(chat.Entry{Type: chat.EventInterrupt, Question: &q})
	select {
	case v = <-u.answer:
	case why := <-u.stop:
		u.e.set(func() { u.pending = nil })
		u.cancelled(why)
		return v, false
	}
	recorded := v
	u.add(chat.Entry{Type: chat.EventResumed, Resume: &recorded, Answers: q.ID})
	if v.Type == chat.CancelResume {
		u.cancelled(chat.UserCancelled)
		return v, false
	}
	if v.Ref == "" {
		return v, true
	}
	texts, err := u.e.store.Texts(context.Background(), u.ref.Owner, u.ref.TurnID)
	u.must(err)
	return v.Whole(texts), true
}

func (u *turn) finish() {
	u.settle(chat.TurnCompleted, chat.Event{Type: chat.EventResponse, Response: &chat.Response{
		Text: "The answer is 42.", Action: chat.Inquire, InferenceConfidence: chat.High, RetrievalConfidence: chat.High,
		Usage: chat.Usage{TokensIn: 10, TokensOut: 5, CostUSD: 0.001},
	}})
}

func (u *turn) cancelled(why chat.CancelReason) {
	u.settle(chat.TurnCancelled, chat.Event{Type: chat.EventCancelled, Reason: why, Partial: "The ans"})
}

func (u *turn) failed(code string) {
	message, retryable := chat.FailureMessage(code)
	end := chat.Event{Type: chat.EventFailed, Code: code, Retryable: retryable}
	end.Say(message)
	u.settle(chat.TurnFailed, end)
}

func (u *turn) settle(status chat.TurnStatus, terminal chat.Event) {
	ctx := context.Background()
	u.e.mu.Lock()
	log := slices.Clone(u.log)
	u.e.mu.Unlock()
	events, err := transcript.Render(ctx, u.e.store, u.ref, log)
	if !errors.Is(err, db.ErrSettled) { // a settled turn keeps its end
		u.must(err)
	}
	terminal.N, terminal.TurnID, terminal.ThreadID = len(log)+1, u.ref.TurnID, u.ref.ThreadID
	text := terminal.Partial
	if terminal.Response != nil {
		text = terminal.Response.Text
	}
	_, err = u.e.store.Settle(ctx, db.Settlement{Owner: u.ref.Owner, ThreadID: u.ref.ThreadID, TurnID: u.ref.TurnID,
		Status: status, Text: text, Metadata: map[string]any{"action": "inquire"}, Prompts: u.prompts, Events: events, Terminal: terminal,
		Title: "A title", At: time.Now()})
	u.must(err)
	u.e.set(func() {
		if u.e.open[u.ref.ThreadID] == u {
			delete(u.e.open, u.ref.ThreadID)
		}
		u.over = true
	})
	u.add(chat.Entry{Type: terminal.Type})
}
