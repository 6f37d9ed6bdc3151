package repair

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/must"
)

const owner = "user-1"

// temporal fakes Temporal's view of threads and ingests.
type temporal struct {
	mu        sync.Mutex
	runs      map[string]chat.WorkflowRun // by thread or document; none: not found
	states    map[string]chat.ThreadState
	progress  map[string]chat.Progress // by turn
	busy      []chat.ThreadRef
	down      error // returned by every call
	queryErr  error // returned by queries
	asked     int   // how often a state was queried
	described int   // how often a run was described
	cancels   []chat.Cancel
	ingested  []string
	imported  []string // keys of imports that were started
	owners    []string // that threads were given to
	before    func()   // runs before a run is described
	endedRuns []string
	busyQueue bool // workflow tasks wait for workers
}

func (e *temporal) Run(_ context.Context, threadID string) (chat.WorkflowRun, error) {
	if e.before != nil {
		e.before()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.described++
	run, known := e.runs[threadID]
	if !known {
		run.Status = chat.RunNotFound
	}
	return run, e.down
}

func (e *temporal) EndRun(_ context.Context, threadID, run, _ string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.endedRuns = append(e.endedRuns, threadID+" "+run)
	return e.down
}

func (e *temporal) Idle(context.Context) (bool, error) { return !e.busyQueue, e.down }

func (e *temporal) IngestRun(ctx context.Context, docID string) (chat.WorkflowRun, error) {
	return e.Run(ctx, docID)
}

func (e *temporal) ImportRun(ctx context.Context, key string) (chat.WorkflowRun, error) {
	return e.Run(ctx, key)
}

func (e *temporal) Import(_ context.Context, _, key string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.imported = append(e.imported, key)
	return e.down
}

func (e *temporal) ChangeOwner(_ context.Context, threadID, owner string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owners = append(e.owners, owner)
	state := e.states[threadID]
	state.Owner = owner
	e.states[threadID] = state
	return e.down
}

func (e *temporal) State(_ context.Context, threadID string) (chat.ThreadState, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return e.states[threadID], errors.Join(e.down, e.queryErr)
}

func (e *temporal) Progress(_ context.Context, _, turnID string, _ int) (chat.Progress, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.progress[turnID], errors.Join(e.down, e.queryErr)
}

func (e *temporal) Cancel(_ context.Context, _ string, c chat.Cancel) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancels = append(e.cancels, c)
	return true, e.down
}

func (e *temporal) InterruptedThreads(_ context.Context, page []byte) ([]chat.ThreadRef, []byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down != nil || len(e.busy) == 0 {
		return nil, nil, e.down
	}
	i := int(append(page, 0)[0]) // one per page
	if i+1 == len(e.busy) {
		return e.busy[i:], nil, nil
	}
	return e.busy[i : i+1], []byte{byte(i + 1)}, nil
}

func (e *temporal) Ingest(_ context.Context, _, docID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ingested = append(e.ingested, docID)
	return e.down
}

type bundle struct {
	*Sweeper
	t      *testing.T
	store  db.Store
	engine *temporal
	down   bool // the database
	thread string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	store := litetest.Store(t)
	b := &bundle{t: t, store: store, thread: uuid.NewString(), engine: &temporal{
		runs: map[string]chat.WorkflowRun{}, states: map[string]chat.ThreadState{}, progress: map[string]chat.Progress{}}}
	store.FailWhile(func() bool { return b.down })
	b.Sweeper = NewSweeper(store, b.engine, slog.New(slog.DiscardHandler))
	return b
}

// insert writes a turn that was created the given time ago.
func (b *bundle) insert(message string, ago time.Duration) chat.Turn {
	b.t.Helper()
	content := chat.Content{Message: message, Agent: chat.AgentAssistant}
	turn, _, _, err := b.store.InsertTurn(b.t.Context(), chat.Turn{ID: uuid.NewString(), ThreadID: b.thread, Owner: owner,
		ClientTurnID: uuid.NewString(), Content: content, ContentHash: content.Hash(), CreatedAt: time.Now().Add(-ago)})
	require.NoError(b.t, err)
	return turn
}

func (b *bundle) mark(t chat.Turn, status chat.TurnStatus) chat.Turn {
	b.t.Helper()
	parent := ""
	if status != chat.TurnAccepted {
		head, err := b.store.Head(b.t.Context(), owner, t.ThreadID)
		require.NoError(b.t, err)
		if parent = head; head == t.ID {
			parent = ""
		}
	}
	require.NoError(b.t, b.store.MarkTurn(b.t.Context(), owner, t.ID, status, parent))
	return b.row(t)
}

const old = 2 * (activities.LostAfter + activities.MaxSkew)

func (b *bundle) running(message string) chat.Turn {
	b.t.Helper()
	return b.mark(b.insert(message, old), chat.TurnRunning)
}

func (b *bundle) row(t chat.Turn) chat.Turn {
	b.t.Helper()
	row, err := b.store.Turn(b.t.Context(), owner, t.ID)
	require.NoError(b.t, err)
	return row
}

// opens gives the thread an open workflow that runs the first turn, with the others waiting.
func (b *bundle) opens(turns ...chat.Turn) {
	state := chat.ThreadState{Owner: owner, Names: map[string]chat.TurnName{}}
	for i, t := range turns {
		state.Names[t.ID] = chat.TurnName{}
		if i == 0 {
			state.TurnID, state.Status = t.ID, chat.TurnRunning
		} else {
			state.Queue = append(state.Queue, t.ID)
		}
	}
	b.engine.runs[b.thread] = chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 10}
	b.engine.states[b.thread] = state
}

// asks makes the running turn of the workflow wait for a person.
func (b *bundle) asks() {
	state := b.engine.states[b.thread]
	state.Status, state.Pending = chat.TurnInterrupted, &chat.Question{ID: chat.InterruptID(state.TurnID, 1)}
	b.engine.states[b.thread] = state
}

func (b *bundle) check() []Finding {
	b.t.Helper()
	found, err := b.CheckThread(b.t.Context(), owner, b.thread)
	require.NoError(b.t, err)
	return found
}

// code returns the error code of a failed turn.
func (b *bundle) code(t chat.Turn) string {
	b.t.Helper()
	events, err := b.store.Events(b.t.Context(), owner, t.ID, 0)
	require.NoError(b.t, err)
	return events[len(events)-1].Code
}

func TestEveryOpenTurnOfAClosedWorkflowIsSettled(t *testing.T) {
	for _, status := range []chat.RunStatus{chat.RunNotFound, chat.RunCompleted, chat.RunFailed, chat.RunCancelled, chat.RunTerminated, chat.RunTimedOut} {
		t.Run(string(status), func(t *testing.T) {
			b := setup(t)
			b.engine.runs[b.thread] = chat.WorkflowRun{Status: status}
			asked := b.mark(b.insert("asks", 0), chat.TurnInterrupted)
			first, second := b.mark(b.insert("waits", 0), chat.TurnAccepted), b.mark(b.insert("waits too", 0), chat.TurnAccepted)
			never := b.insert("never accepted", old)
			var told []string
			b.Settled = func(_ context.Context, e activities.Ending) { told = append(told, e.TurnID+" "+e.Code) }
			require.Len(t, b.check(), 3)
			parent := chat.RootCheckpoint
			for _, turn := range []chat.Turn{asked, first, second} {
				require.Equal(t, chat.CodeTurnLost, b.code(turn))
				require.Equal(t, parent, b.row(turn).Parent, "in their order")
				parent = turn.ID
			}
			require.Equal(t, chat.TurnNew, b.row(never).Status, "a turn that no thread has accepted is not lost")
			require.Empty(t, b.check())
			require.Equal(t, []string{asked.ID + " turn_lost", first.ID + " turn_lost", second.ID + " turn_lost"}, told)
		})
	}
}

func TestUnreachableTemporalIsNotTreatedAsALostWorkflow(t *testing.T) {
	b := setup(t)
	turn := b.running("runs")
	b.engine.down = errors.New("connection refused")
	require.ErrorIs(t, must.ErrOf(b.CheckThread(t.Context(), owner, b.thread)), b.engine.down)
	require.ErrorIs(t, must.ErrOf(b.CheckCancelled(t.Context(), turn, chat.UserCancelled)), b.engine.down)
	require.ErrorIs(t, must.ErrOf(b.Sweep(t.Context())), b.engine.down)
	require.Equal(t, chat.TurnRunning, b.row(turn).Status)

	b.engine.down, b.engine.queryErr = nil, errors.New("no worker")
	b.opens()
	require.ErrorIs(t, must.ErrOf(b.CheckThread(t.Context(), owner, b.thread)), b.engine.queryErr)
	require.Equal(t, chat.TurnRunning, b.row(turn).Status)
}

func TestTurnsOfAnOpenWorkflowAreNotChanged(t *testing.T) {
	b := setup(t)
	runs := b.running("runs")
	waits := b.mark(b.insert("waits", old), chat.TurnAccepted)
	leaves := b.mark(b.insert("was stopped in the queue and is being settled", old), chat.TurnAccepted)
	b.opens(runs, waits)
	b.engine.progress[leaves.ID] = chat.Progress{Known: true}
	require.Empty(t, b.check())
	for _, turn := range []chat.Turn{runs, waits, leaves} {
		require.False(t, b.row(turn).Status.Settled())
	}
}

func TestTurnMissingFromAnOpenWorkflowIsSettledOnceItIsOldEnough(t *testing.T) {
	b := setup(t)
	lost := b.running("lost")
	submitted := b.mark(b.insert("its submit is in flight", 0), chat.TurnAccepted)
	b.opens()
	found := b.check()
	require.Len(t, found, 2)
	require.False(t, found[0].Later)
	require.True(t, found[1].Later)
	require.Equal(t, chat.CodeTurnLost, b.code(lost))
	require.Equal(t, chat.TurnAccepted, b.row(submitted).Status)
}

// waits sets back the time at which a thread or turn was first seen.
func (b *bundle) waits(id string, span time.Duration) {
	seen := b.sightings[id]
	seen.since.Mono -= span
	b.sightings[id] = seen
}

// Temporal was killed: it lost the workflow task in which the turn began, and the workflow has
// completed without it or is open without it. The submit is still being retried. Clocks of the
// processes that wrote the row and check it differ by up to five minutes.
func TestRunningTurnWhoseSubmitIsRetriedIsNotSettledWhateverTheClocksSay(t *testing.T) {
	for _, status := range []chat.RunStatus{chat.RunCompleted, chat.RunOpen} {
		for name, ago := range map[string]time.Duration{"equal": 0, "ahead": activities.MaxSkew, "behind": -activities.MaxSkew} {
			t.Run(string(status)+", the clock is "+name, func(t *testing.T) {
				b := setup(t)
				turn := b.mark(b.insert("its submit is retried", ago), chat.TurnRunning)
				b.opens()
				b.engine.runs[b.thread] = chat.WorkflowRun{Status: status, ID: "run"}
				later := func() {
					found := b.check()
					require.Len(t, found, 1)
					require.True(t, found[0].Later)
					require.Equal(t, chat.TurnRunning, b.row(turn).Status)
				}
				later()
				later()
				b.waits(turn.ID, submitRetries+time.Second)
				b.engine.runs[b.thread] = chat.WorkflowRun{Status: status, ID: "the next run"}
				later()

				b.waits(turn.ID, submitRetries+time.Second)
				require.Len(t, b.check(), 1)
				require.Equal(t, chat.CodeTurnLost, b.code(turn), "nobody submits it again")
				require.Empty(t, b.sightings)
			})
		}
	}
}

// Temporal has lost the workflow task of a thread, so that no message of it is accepted.
func TestRunWhoseWorkflowTaskIsLostIsEnded(t *testing.T) {
	lost := chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 2, Waits: true}
	for name, c := range map[string]struct {
		run   chat.WorkflowRun // when it is seen for the second time
		after time.Duration
		turn  chat.TurnStatus
		ends  bool
	}{
		"no worker is there":      {lost, stuckAfter, "", false},
		"no worker can replay it": {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 2, Waits: true, Tries: 7}, stuckAfter, "", false},
		"lost":                    {lost, stuckAfter, "", true},
		"a moment ago":            {lost, stuckAfter / 2, "", false},
		"it had another task":     {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 5, Waits: true}, stuckAfter, "", false},
		"a worker has it":         {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 2}, stuckAfter, "", false},
		"the next run":            {chat.WorkflowRun{Status: chat.RunOpen, ID: "next", Length: 2, Waits: true}, stuckAfter, "", false},
		"closed":                  {chat.WorkflowRun{Status: chat.RunCompleted, ID: "run", Length: 2}, stuckAfter, "", false},
		"it has a turn":           {lost, stuckAfter, chat.TurnInterrupted, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			turn := b.insert("not accepted", time.Minute)
			if c.turn != "" {
				b.mark(turn, c.turn)
			}
			b.engine.runs[b.thread], b.engine.busyQueue = lost, name == "no worker is there"
			require.NoError(t, b.EndStuck(t.Context(), owner, b.thread))
			require.Empty(t, b.engine.endedRuns)
			if c.turn == "" {
				b.waits("stuck "+b.thread, c.after)
			}
			b.engine.runs[b.thread] = c.run
			require.NoError(t, b.EndStuck(t.Context(), owner, b.thread))
			require.Equal(t, c.ends, len(b.engine.endedRuns) > 0)
			require.Equal(t, chat.TurnStatus(cmp.Or(string(c.turn), string(chat.TurnNew))), b.row(turn).Status)
		})
	}
}

// Its workflow answers no query and accepts no message, and no activity ends the turn.
func TestOpenTurnWhoseWorkflowTaskIsLostIsSettled(t *testing.T) {
	lost := chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 12, Waits: true, Tries: 1}
	for name, c := range map[string]struct {
		run   chat.WorkflowRun // when it is seen for the second time
		after time.Duration
		busy  bool
		ends  bool
	}{
		"lost":                     {lost, lostAfter, false, true},
		"a moment ago":             {lost, lostAfter / 2, false, false},
		"workers are busy":         {lost, lostAfter, true, false},
		"it had another task":      {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 15, Waits: true, Tries: 1}, lostAfter, false, false},
		"a worker has it":          {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 12, Tries: 1}, lostAfter, false, false},
		"no worker can replay it":  {chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 12, Waits: true, Tries: 7}, lostAfter, false, false},
		"it goes on in a next run": {chat.WorkflowRun{Status: chat.RunOpen, ID: "next", Length: 12, Waits: true, Tries: 1}, lostAfter, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			runs := b.running("runs")
			waits := b.mark(b.insert("waits", old), chat.TurnAccepted)
			b.opens(runs, waits)
			b.engine.runs[b.thread], b.engine.queryErr, b.engine.busyQueue = lost, errors.New("deadline exceeded"), c.busy
			require.ErrorIs(t, must.ErrOf(b.CheckThread(t.Context(), owner, b.thread)), errUnanswered)
			b.waits("lost "+b.thread, c.after)
			b.engine.runs[b.thread] = c.run
			err := must.ErrOf(b.CheckThread(t.Context(), owner, b.thread))
			if !c.ends {
				require.ErrorIs(t, err, errUnanswered)
				require.Empty(t, b.engine.endedRuns)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{b.thread + " run"}, b.engine.endedRuns)
			require.Equal(t, []string{chat.CodeTurnLost, chat.CodeTurnLost}, []string{b.code(runs), b.code(waits)})
		})
	}
}

// A backup of the database from before the turn's end was restored.
func TestTurnThatEndedInTheWorkflowButNotInTheDatabaseIsSettled(t *testing.T) {
	b := setup(t)
	turn := b.mark(b.insert("young", 0), chat.TurnRunning)
	b.opens()
	b.engine.progress[turn.ID] = chat.Progress{Known: true, Over: true}
	require.Len(t, b.check(), 1)
	require.Equal(t, chat.CodeTurnLost, b.code(turn))
}

// The workflow settles the turn, and closes, after the turn's row was read.
func TestTurnThatEndsWhileItIsCheckedIsNotSettledAsLost(t *testing.T) {
	b := setup(t)
	turn := b.running("ends")
	b.engine.before = func() {
		_, err := b.store.Settle(t.Context(), db.Settlement{Owner: owner, ThreadID: b.thread, TurnID: turn.ID, Status: chat.TurnCompleted, Text: "done",
			Terminal: chat.Event{N: 1, Type: chat.EventResponse}})
		require.NoError(t, err)
	}
	require.Empty(t, b.check())
	require.Equal(t, chat.TurnCompleted, b.row(turn).Status)
}

func TestStopCancelsATurnWithoutAWorkflowHoweverRecentItIs(t *testing.T) {
	b := setup(t)
	young := b.mark(b.insert("young", 0), chat.TurnRunning)
	b.opens()
	found := must.Have(b.CheckCancelled(t.Context(), young, chat.Disconnected))(t)
	require.Len(t, found, 1)
	events := must.Have(b.store.Events(t.Context(), owner, young.ID, 0))(t)
	require.Equal(t, chat.Disconnected, events[len(events)-1].Reason)

	runs := b.running("runs")
	b.opens(runs)
	found = must.Have(b.CheckCancelled(t.Context(), runs, chat.UserCancelled))(t)
	require.Empty(t, found, "the workflow ends its own turn")
}

func TestTurnOfARetriedMessageIsNotSettled(t *testing.T) {
	b := setup(t)
	lost, again := b.running("lost"), b.running("sent again")
	found := must.Have(b.CheckOthers(t.Context(), owner, b.thread, again.ClientTurnID))(t)
	require.Len(t, found, 1)
	require.Equal(t, chat.CodeTurnLost, b.code(lost))
	require.Equal(t, chat.TurnRunning, b.row(again).Status)
}

func TestQuestionWithoutAnOpenRowIsClosed(t *testing.T) {
	b := setup(t)
	missing := chat.Turn{ID: uuid.NewString()}
	b.opens(missing)
	require.Empty(t, b.check(), "a running turn without a row may not be saved yet; otherwise it ends at its first write")
	require.Empty(t, b.engine.cancels)
	b.asks()
	require.Len(t, b.check(), 1)
	require.Equal(t, []chat.Cancel{{TurnID: missing.ID, Reason: chat.UserCancelled, Channel: chat.ByServer}}, b.engine.cancels)

	settled := b.running("settled")
	b.engine.runs[b.thread] = chat.WorkflowRun{Status: chat.RunTerminated}
	b.check()
	b.opens(settled)
	b.asks()
	require.Len(t, b.check(), 1)
	require.Equal(t, settled.ID, b.engine.cancels[1].TurnID)
}

func TestRowGetsTheStatusThatTheWorkflowHas(t *testing.T) {
	b := setup(t)
	asks, waits := b.insert("asks", old), b.insert("waits", old)
	b.opens(asks, waits)
	b.asks()
	require.Len(t, b.check(), 2)
	require.Equal(t, chat.TurnInterrupted, b.row(asks).Status)
	require.Equal(t, chat.TurnAccepted, b.row(waits).Status)
	b.mark(asks, chat.TurnRunning)
	require.Len(t, b.check(), 1)
	require.Equal(t, chat.TurnInterrupted, b.row(asks).Status)
}

func TestUnchangedThreadIsNotQueriedAgain(t *testing.T) {
	b := setup(t)
	asks := b.mark(b.insert("asks", old), chat.TurnInterrupted)
	b.opens(asks)
	b.asks()
	for range 3 {
		require.Empty(t, b.check())
	}
	require.Equal(t, 1, b.engine.asked)
	b.engine.runs[b.thread] = chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 11}
	require.Empty(t, b.check())
	require.Equal(t, 2, b.engine.asked)
	b.engine.states[b.thread] = chat.ThreadState{Owner: owner} // restored from an older backup
	b.engine.runs[b.thread] = chat.WorkflowRun{Status: chat.RunOpen, ID: "run", Length: 4}
	require.Len(t, b.check(), 1)
}

func TestAnotherUsersWorkflowSettlesNothing(t *testing.T) {
	b := setup(t)
	turn := b.running("mine")
	b.opens()
	b.engine.states[b.thread] = chat.ThreadState{Owner: "somebody else"}
	require.ErrorIs(t, must.ErrOf(b.CheckThread(t.Context(), owner, b.thread)), ErrForeign)
	require.Equal(t, chat.TurnRunning, b.row(turn).Status)
}

func TestDryRunReportsFindingsAndChangesNothing(t *testing.T) {
	b := setup(t)
	b.DryRun = true
	lost := b.running("lost")
	var ids []string
	for _, run := range []chat.RunStatus{chat.RunNotFound, chat.RunTerminated} {
		ids = append(ids, b.document(run))
	}
	ghost := b.newThread()
	b.opens(chat.Turn{ID: uuid.NewString()})
	b.asks()
	b.engine.busy = []chat.ThreadRef{{Owner: owner, ThreadID: ghost}}
	var found []Finding
	b.Found = func(f Finding) { found = append(found, f) }
	did := must.Have(b.Sweep(t.Context()))(t)
	require.Len(t, found, 4)
	require.Equal(t, Summary{Threads: 2, Documents: 2, Repaired: 4}, did)
	require.Equal(t, chat.TurnRunning, b.row(lost).Status)
	require.Empty(t, b.engine.cancels)
	require.Empty(t, b.engine.ingested)
	for _, id := range ids {
		d := must.Have(b.store.Document(t.Context(), owner, id))(t)
		require.Equal(t, chat.DocProcessing, d.Status)
	}
}

// newThread switches to a new conversation.
func (b *bundle) newThread() string {
	b.thread = uuid.NewString()
	return b.thread
}

// document adds a document whose ingest has this status.
func (b *bundle) document(status chat.RunStatus) string {
	b.t.Helper()
	id := uuid.NewString()
	require.NoError(b.t, b.store.CreateDocument(b.t.Context(), chat.Document{ID: id, Owner: owner, Title: "Document", Status: chat.DocProcessing,
		Format: "txt", CreatedAt: time.Now().Add(-old)}, []byte("raw")))
	b.engine.runs[id] = chat.WorkflowRun{Status: status}
	return id
}

func TestSweepChecksEveryOwnersThreads(t *testing.T) {
	b := setup(t)
	var lost []chat.Turn
	for range 3 {
		b.newThread()
		lost = append(lost, b.running("lost"))
	}
	b.newThread()
	b.opens(b.running("runs"))
	unseen := b.newThread()
	b.opens(chat.Turn{ID: "unseen"})
	b.asks()
	b.engine.busy = []chat.ThreadRef{{Owner: owner, ThreadID: lost[0].ThreadID}, {Owner: owner, ThreadID: unseen}}
	did := must.Have(b.Sweep(t.Context()))(t)
	require.Equal(t, Summary{Threads: 5, Repaired: 4}, did)
	for _, turn := range lost {
		require.Equal(t, chat.CodeTurnLost, b.code(turn))
	}
	require.Equal(t, "unseen", b.engine.cancels[0].TurnID)
}

func TestSweepRestartsLostIngestsAndFailsEndedOnes(t *testing.T) {
	b := setup(t)
	b.document(chat.RunOpen)
	lost, done, ended := b.document(chat.RunNotFound), b.document(chat.RunCompleted), b.document(chat.RunTerminated)
	did := must.Have(b.Sweep(t.Context()))(t)
	require.Equal(t, Summary{Documents: 4, Repaired: 3}, did)
	slices.Sort(b.engine.ingested)
	want := []string{lost, done}
	slices.Sort(want)
	require.Equal(t, want, b.engine.ingested)
	d := must.Have(b.store.Document(t.Context(), owner, ended))(t)
	require.Equal(t, chat.DocFailed, d.Status)
	require.Equal(t, chat.ReasonIngestFailed, d.Error)
}

func TestSweepWithoutTheDatabaseDoesNothing(t *testing.T) {
	b := setup(t)
	turn := b.running("lost")
	b.down = true
	require.ErrorIs(t, must.ErrOf(b.Sweep(t.Context())), db.ErrUnavailable)
	b.down = false
	require.Equal(t, chat.TurnRunning, b.row(turn).Status)
}

func TestWorkflowThatDoesNotAnswerDoesNotDelayOthers(t *testing.T) {
	b := setup(t)
	var lost []chat.Turn
	for i := range 12 {
		b.newThread()
		turn := b.running("lost")
		if i%2 == 0 {
			lost = append(lost, turn)
			continue
		}
		b.opens() // its queries are not answered
	}
	b.engine.queryErr = errors.New("no worker")
	did, err := b.Sweep(t.Context())
	require.ErrorIs(t, err, b.engine.queryErr)
	require.Equal(t, Summary{Threads: 12, Repaired: 6, Unchecked: 6}, did)
	for _, turn := range lost {
		require.Equal(t, chat.CodeTurnLost, b.code(turn))
	}
}

func TestConcurrentSweepsSettleATurnOnce(t *testing.T) {
	b := setup(t)
	turn := b.running("lost")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			other := NewSweeper(b.store, b.engine, slog.New(slog.DiscardHandler))
			if _, err := other.Sweep(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	events := must.Have(b.store.Events(t.Context(), owner, turn.ID, 0))(t)
	require.Len(t, events, 2)
	h := must.Have(b.store.History(t.Context(), owner, b.thread, "", "", 10))(t)
	require.Len(t, h.Messages, 2, "the second says why there is no answer")
}

func TestSweepDropsTurnsThatNoThreadAcceptedFor24Hours(t *testing.T) {
	b := setup(t)
	gone, young := b.insert("never taken", 25*time.Hour), b.insert("sent today", 23*time.Hour)
	b.thread = uuid.NewString()
	alone, waits := b.insert("begins a conversation", 25*time.Hour), b.insert("waits in its thread", 25*time.Hour)
	b.engine.progress[waits.ID] = chat.Progress{Known: true}
	there := func(want ...chat.Turn) {
		t.Helper()
		for _, turn := range []chat.Turn{gone, young, alone, waits} {
			_, err := b.store.Turn(t.Context(), owner, turn.ID)
			if slices.ContainsFunc(want, func(w chat.Turn) bool { return w.ID == turn.ID }) {
				require.NoError(t, err, turn.Content.Message)
			} else {
				require.ErrorIs(t, err, db.ErrNotFound, turn.Content.Message)
			}
		}
	}

	b.engine.queryErr = errors.New("no worker")
	require.ErrorIs(t, must.ErrOf(b.Sweep(t.Context())), b.engine.queryErr)
	there(gone, young, alone, waits)
	b.engine.queryErr, b.DryRun = nil, true
	must.Have(b.Sweep(t.Context()))(t)
	there(gone, young, alone, waits)
	b.DryRun = false
	did := must.Have(b.Sweep(t.Context()))(t)
	require.Zero(t, did.Repaired)
	there(young, waits)
}

func TestFailedSweepIsRetried(t *testing.T) {
	b := setup(t)
	turn := b.running("lost")
	b.engine.down = errors.New("connection refused")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() { defer close(ended); b.Run(ctx, time.Millisecond) }()
	require.Eventually(t, func() bool {
		b.engine.mu.Lock()
		defer b.engine.mu.Unlock()
		return b.engine.described > 0
	}, time.Minute, time.Millisecond)
	b.engine.mu.Lock()
	b.engine.down = nil
	b.engine.mu.Unlock()
	require.Eventually(t, func() bool { return b.row(turn).Status.Settled() }, time.Minute, time.Millisecond)
	stop()
	<-ended
}

func (b *bundle) openImport(status chat.RunStatus, ago time.Duration) (key string) {
	b.t.Helper()
	key = uuid.NewString()
	_, err := b.store.CreateImport(b.t.Context(), chat.Import{ID: uuid.NewString(), Owner: owner, Key: key, Source: chat.SourceDrive,
		ExternalID: key, URL: "https://drive.example/" + key, State: chat.ImportLooking, CreatedAt: time.Now().Add(-ago)})
	require.NoError(b.t, err)
	b.engine.runs[key] = chat.WorkflowRun{Status: status}
	return key
}

func TestSweepRestartsImportsWhoseWorkflowIsLost(t *testing.T) {
	b := setup(t)
	b.openImport(chat.RunOpen, old)
	b.openImport(chat.RunNotFound, 0) // its workflow is about to be started
	var want []string
	for _, status := range []chat.RunStatus{chat.RunNotFound, chat.RunTerminated, chat.RunFailed, chat.RunCompleted} {
		want = append(want, b.openImport(status, old))
	}
	b.DryRun = true
	did, err := b.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, Summary{Imports: 5, Repaired: 4}, did)
	require.Empty(t, b.engine.imported)
	b.DryRun = false
	_, err = b.Sweep(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, want, b.engine.imported)
}

// After a rollback of the release, many threads may be unable to replay, for days.
func TestThreadsThatCannotBeReplayedOrAreForeignEndNoSweep(t *testing.T) {
	for name, why := range map[string]error{"cannot replay": chat.ErrCannotReplay, "foreign": nil} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			for range maxUnanswered + 5 {
				b.newThread()
				b.running("waits")
				b.opens()
				state := b.engine.states[b.thread]
				state.Owner = "another"
				b.engine.states[b.thread] = state
			}
			b.engine.queryErr = why
			b.thread = "ffffffff-ffff-4fff-8fff-ffffffffffff" // the last
			lost := b.running("lost")
			document := b.document(chat.RunNotFound)
			_, err := b.Sweep(t.Context())
			require.Error(t, err)
			require.Equal(t, []string{document}, b.engine.ingested)
			require.Equal(t, chat.CodeTurnLost, b.code(lost))
		})
	}
}

// Workers may be down for long: each sweep ends early, and the next one goes on.
func TestSweepGoesOnWhereTheOneBeforeEnded(t *testing.T) {
	b := setup(t)
	for range maxUnanswered {
		b.newThread()
		b.running("waits")
		b.opens()
	}
	b.thread = "ffffffff-ffff-4fff-8fff-ffffffffffff"
	lost := b.running("lost")
	b.engine.queryErr = errors.New("no worker")
	_, err := b.Sweep(t.Context())
	require.ErrorIs(t, err, b.engine.queryErr)
	require.Equal(t, chat.TurnRunning, b.row(lost).Status)
	_, err = b.Sweep(t.Context())
	require.ErrorIs(t, err, b.engine.queryErr)
	require.Equal(t, chat.CodeTurnLost, b.code(lost))
	_, err = b.Sweep(t.Context())
	require.ErrorIs(t, err, b.engine.queryErr, "the others are checked again")
}

func TestManyVerifiedThreadsAreNotAllForgotten(t *testing.T) {
	b := setup(t)
	b.limit = 3
	for range 5 {
		b.newThread()
		b.opens(b.running("runs"))
	}
	_, err := b.Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, b.verified, 3)
	// Which thread makes room is left to chance, so one sweep alone may meet none that it knows.
	const sweeps = 50
	b.engine.asked = 0
	for range sweeps {
		_, err = b.Sweep(t.Context())
		require.NoError(t, err)
	}
	require.Less(t, b.engine.asked, 5*sweeps)
}

// A claim gives the workflow to the account and then moves the rows. If it ends between
// both, the workflow asks a question of rows that the account does not have.
func TestQuestionOfAHalfDoneClaimIsKeptAndItsWorkflowGoesBackToTheOwnerOfTheRows(t *testing.T) {
	b := setup(t)
	turn := b.mark(b.insert("asks", 0), chat.TurnInterrupted)
	b.opens(turn)
	b.asks()
	state := b.engine.states[b.thread]
	state.Owner = "account"
	b.engine.states[b.thread] = state
	for _, as := range []string{"account", owner} {
		_, err := b.CheckThread(t.Context(), as, b.thread)
		require.ErrorIs(t, err, ErrForeign, as)
	}
	require.Empty(t, b.engine.cancels, "the question stays open")
	require.Empty(t, b.engine.owners, "a claim may be under way")

	b.waits(b.thread, activities.LostAfter)
	require.Len(t, b.check(), 1)
	require.Equal(t, []string{owner}, b.engine.owners)
	require.Empty(t, b.check())
	require.Equal(t, chat.TurnInterrupted, b.row(turn).Status)
	require.Empty(t, b.engine.cancels)
}

func TestOneProcessHasTheLeaseUntilItEndsOrDies(t *testing.T) {
	b := setup(t)
	first, second := lease{store: b.store, holder: "1"}, lease{store: b.store, holder: "2"}
	first.renew(t.Context())
	second.renew(t.Context())
	require.True(t, first.held.Load())
	for range 2 * leaseMisses {
		second.renew(t.Context())
		first.renew(t.Context())
		require.False(t, second.held.Load())
	}
	for range leaseMisses + 1 { // the first one is dead
		second.renew(t.Context())
	}
	require.True(t, second.held.Load())
	first.renew(t.Context())
	require.False(t, first.held.Load(), "it was frozen")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	second.keep(ctx)
	first.renew(t.Context())
	require.True(t, first.held.Load())
}
