package fullstack

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/workflows"
)

// Names of the database files in a data folder.
const (
	palaverFile  = "palaver.db"
	temporalFile = "temporal.db"
)

// lose removes a database of a stopped stack.
func lose(t *testing.T, dir, name string) {
	t.Helper()
	for _, path := range databaseFiles(t, dir, name) {
		require.NoError(t, os.Remove(path))
	}
}

// databaseFiles returns a database file and SQLite's companion files.
func databaseFiles(t *testing.T, dir, name string) []string {
	t.Helper()
	paths := must.Have(filepath.Glob(filepath.Join(dir, name+"*")))(t)
	return paths
}

// change runs a statement on Palaver's database.
func change(t *testing.T, dir, statement string, args ...any) {
	t.Helper()
	pool := rowsOf(t, dir)
	defer func() { _ = pool.Close() }()
	must.Have(pool.Exec(statement, args...))(t)
}

func rowsOf(t *testing.T, dir string) *sql.DB {
	t.Helper()
	pool := must.Have(sql.Open("sqlite", "file:"+filepath.Join(dir, palaverFile)+"?_pragma=busy_timeout(10000)"))(t)
	return pool
}

// anHourLater sets all creation times back by an hour, as if an hour had passed.
func anHourLater(t *testing.T, dir string) {
	t.Helper()
	change(t, dir, "UPDATE turns SET created_at = created_at - ?", time.Hour.Microseconds())
	change(t, dir, "UPDATE documents SET created_at = created_at - ?", time.Hour.Microseconds())
	change(t, dir, "UPDATE imports SET updated_at = updated_at - ?", time.Hour.Microseconds())
}

// repairs are the two ways in which lost turns are repaired.
var repairs = map[string]stacktest.Option{
	"when the thread is used": stacktest.Flag("repair-interval", "0s"), // no sweep
	"by the sweep":            stacktest.Flag("repair-interval", "200ms"),
}

// scene is a stack with threads in every state.
type scene struct {
	t       *testing.T
	stack   *stacktest.Process // in its own process, because Temporal keeps its files open until the process ends
	model   *llmtest.Server
	sweeps  bool
	owner   string
	doc     string
	threads map[string]*talk
	sent    map[string][]string // accepted messages by thread
}

var (
	storyCall = llmtest.Match{Kind: llmtest.Stream, Contains: "story"} // does not end unless a test changes it
	vagueCall = llmtest.Match{Schema: "intent_classification", Contains: "vague"}
)

func newScene(t *testing.T, how string) *scene {
	t.Helper()
	model := llmtest.New(t)
	stack := stacktest.StartProcess(t, stacktest.Model(model.URL), repairs[how], stacktest.Flag("max-turns-per-caller", "4"))
	c := newTalk(t, func() string { return stack.URL }, stack.Client)
	model.On(vagueCall, unsure)
	model.On(storyCall, llmtest.Silent("Once upon ", "a time"))
	return &scene{t: t, stack: stack, model: model, sweeps: how == "by the sweep", owner: c.me(), doc: c.upload("Liquidity circular", circular),
		threads: map[string]*talk{}, sent: map[string][]string{}}
}

// eachRepair runs a test with both ways of repair.
func eachRepair(t *testing.T, test func(s *scene)) {
	for how := range repairs {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			test(newScene(t, how))
		})
	}
}

func (s *scene) thread(name string) *talk {
	if s.threads[name] == nil {
		s.threads[name] = newTalk(s.t, func() string { return s.stack.URL }, s.stack.Client)
	}
	return s.threads[name]
}

func (s *scene) send(name, message string, more object) *stream {
	s.t.Helper()
	s.sent[name] = append(s.sent[name], message)
	return s.thread(name).send(message, with(assistant, more))
}

// exchange sends a message and waits for its answer.
func (s *scene) exchange(name, message string) {
	s.t.Helper()
	require.Equal(s.t, "response", last(s.send(name, message, nil).all()).Type)
}

// story starts an answer that does not end, without a viewer.
func (s *scene) story(name string) {
	s.t.Helper()
	page := s.send(name, "Tell me a story", nil)
	seen := ""
	page.until(func(e event) bool { seen += e.Content; return seen == "Once upon a time" })
	page.close()
}

// enqueue sends a message that waits in the thread's queue.
func (s *scene) enqueue(name, message string) {
	s.t.Helper()
	s.send(name, message, object{"on_busy": "enqueue"}).close()
}

// ask starts a turn that asks a question.
func (s *scene) ask(name string) event {
	s.t.Helper()
	s.sent[name] = append(s.sent[name], "The vague circular")
	asked := last(s.thread(name).ask("The vague circular", object{"agent": "documents", "tagged_doc_ids": []string{s.doc}}))
	require.Equal(s.t, "interrupt", asked.Type)
	return asked
}

// busy creates threads in every state: writing, writing with queued messages,
// waiting for an answer, idle.
func (s *scene) busy() {
	s.t.Helper()
	s.exchange("idle", "Hello")
	s.ask("asked")
	for _, name := range []string{"writing", "writing too", "and too", "queue"} {
		s.story(name)
	}
	s.enqueue("queue", "First in the queue")
	s.enqueue("queue", "Second in the queue")
}

// settled waits until no thread has an open turn in the database, without using the
// threads.
func (s *scene) settled(names ...string) {
	s.t.Helper()
	for _, name := range names {
		require.Eventually(s.t, func() bool { return s.open(name) == 0 }, waitTimeout, 50*time.Millisecond, "thread %q", name)
	}
}

// open returns the number of a thread's open turns in the database.
func (s *scene) open(name string) (n int) {
	s.t.Helper()
	pool := rowsOf(s.t, s.stack.Dir)
	defer func() { _ = pool.Close() }()
	err := pool.QueryRow("SELECT count(*) FROM turns WHERE thread_id = ? AND settled_at = 0 AND status <> 'new'", s.threads[name].thread).Scan(&n)
	require.NoError(s.t, err)
	return n
}

// terminate terminates a workflow, as in Temporal's Web UI.
func (s *scene) terminate(workflowID string) {
	s.t.Helper()
	require.NoError(s.t, s.stack.TemporalClient().TerminateWorkflow(context.Background(), workflowID, "", "in the Web UI"))
}

// usable checks that a thread shows every sent message in order, runs nothing, and
// accepts the next message.
func (s *scene) usable(name string) {
	s.t.Helper()
	c := s.threads[name]
	require.Eventually(s.t, func() bool { return c.history().Active == nil }, waitTimeout, 20*time.Millisecond, "thread %q", name)
	s.exchange(name, "What now?")
	require.Equal(s.t, s.sent[name], s.shown(name), "thread %q", name)
	require.Equal(s.t, "idle", c.stop(nil))
	var conversation struct{ Status string }
	c.do(http.StatusOK, http.MethodGet, "/api/conversations/"+c.thread, nil, &conversation)
	require.Equal(s.t, "idle", conversation.Status)
}

// shown returns the user messages in a thread's history.
func (s *scene) shown(name string) (messages []string) {
	s.t.Helper()
	for _, m := range s.threads[name].history().Messages {
		if m.Role == "user" && m.Content != "Summarize" { // the answer to a question
			messages = append(messages, m.Content)
		}
	}
	return messages
}

// end returns how the last turn of a message ended.
func (s *scene) end(name, message string) event {
	s.t.Helper()
	c := s.threads[name]
	i := slices.IndexFunc(c.history().Messages, func(m struct {
		ID, Role, Content string
		TurnID            string         `json:"turn_id"`
		Metadata          map[string]any `json:"metadata"`
	}) bool {
		return m.Content == message
	})
	require.GreaterOrEqual(s.t, i, 0, "%q is not in the history", message)
	return last(c.attach("turn_id=" + c.history().Messages[i].TurnID).all())
}

func (s *scene) wantLost(e event, partial string) {
	s.t.Helper()
	require.Equal(s.t, "error", e.Type)
	require.Equal(s.t, chat.CodeTurnLost, e.Code)
	require.True(s.t, e.Retryable)
	require.Equal(s.t, partial, e.Partial)
}

// recovered checks the threads of busy after their workflows were lost.
func (s *scene) recovered() {
	s.t.Helper()
	everything := []string{"writing", "writing too", "and too", "queue", "asked"}
	if s.sweeps {
		s.settled(everything...)
	} else { // use the threads, each in another way
		s.exchange("new", "Hello") // four lost turns must not exhaust their owner's limit
		s.threads["and too"].history()
		stopped := s.threads["writing too"].stop(nil)
		require.Contains(s.t, []string{"cancelled", "idle"}, stopped)
		s.threads["asked"].do(http.StatusBadRequest, http.MethodPost, "/api/chat/resume", object{
			"thread_id": s.threads["asked"].thread, "resume_value": object{"type": "action_choice", "value": "inquire"}}, nil)
		s.exchange("queue", "After the queue")
	}
	s.wantLost(s.end("writing", "Tell me a story"), "Once upon a time")
	s.wantLost(s.end("queue", "Tell me a story"), "Once upon a time")
	s.wantLost(s.end("queue", "Second in the queue"), "")
	s.wantLost(s.end("asked", "The vague circular"), "")
	for name := range s.threads {
		s.usable(name)
	}
}

// restart stops the stack, changes its files and starts it again.
func (s *scene) restart(change func(dir string)) {
	s.t.Helper()
	require.Equal(s.t, 0, s.stack.Stop())
	change(s.stack.Dir)
	s.stack.Start()
}

// Rule W11.
func TestThreadsRecoverWhenTemporalsDatabaseIsLost(t *testing.T) {
	t.Parallel()
	eachRepair(t, func(s *scene) {
		s.busy()
		s.restart(func(dir string) {
			lose(s.t, dir, temporalFile)
			anHourLater(s.t, dir)
		})
		s.recovered()
	})
}

// The database was copied after the turn's row was written and before the turn was
// accepted.
func TestAcceptedTurnRestoredAsNewIsShown(t *testing.T) {
	t.Parallel()
	s := newScene(t, "by the sweep")
	asked := s.ask("asked")
	s.restart(func(dir string) {
		change(t, dir, "UPDATE turns SET status = 'new', parent = '', place = 0 WHERE id = ?", asked.TurnID)
		anHourLater(t, dir)
	})
	c := s.threads["asked"]
	require.Eventually(t, func() bool { h := c.history(); return h.Pending != nil && h.Pending.Interrupt == asked.Interrupt }, waitTimeout, 20*time.Millisecond)
	require.Equal(t, "response", last(c.resume(chat.ActionChoice, "summarize")).Type)
	s.usable("asked")
}

func TestLostIngestIsRepeatedAndTerminatedIngestFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, "by the sweep")
	lost, ended := s.thread("any").upload("Lost", circular), s.thread("any").upload("Ended", circular)
	const begun = "processing"
	s.restart(func(dir string) {
		// This is the state of a database copied during the ingest.
		change(t, dir, "UPDATE documents SET status = ? WHERE id IN (?, ?)", begun, lost, ended)
		lose(t, dir, temporalFile)
	})
	tc := s.stack.TemporalClient()
	_, err := tc.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
		ID: workflows.IngestWorkflowID(ended), TaskQueue: "queue without a worker"}, workflows.IngestType)
	require.NoError(t, err)
	s.terminate(workflows.IngestWorkflowID(ended))
	anHourLater(t, s.stack.Dir)
	status := func(id string) string {
		var doc struct{ Status string }
		s.thread("any").do(http.StatusOK, http.MethodGet, "/api/documents/"+id, nil, &doc)
		return doc.Status
	}
	require.Eventually(t, func() bool { return status(lost) == "ready" && status(ended) == "failed" }, waitTimeout, 50*time.Millisecond)
}

// An import that stays open would keep its person's data from being claimed.
func TestImportWhoseWorkflowIsLostIsImportedByTheSweep(t *testing.T) {
	t.Parallel()
	drive := drivetest.New(t)
	drive.Put(driveID(1), circularFile)
	s := stacktest.StartProcess(t, withDrive(drive, repairs["by the sweep"])...)
	c := newTalk(t, func() string { return s.URL }, s.Client)
	release := drive.Hold("download " + driveID(1))
	c.do(http.StatusAccepted, http.MethodPost, "/api/imports", object{"url": driveLink(driveID(1))}, nil)
	newest := func() (row importRow) {
		var list struct{ Imports []importRow }
		c.do(http.StatusOK, http.MethodGet, "/api/imports", nil, &list)
		return list.Imports[0]
	}
	require.Eventually(t, func() bool { return newest().State == "downloading" }, waitTimeout, 20*time.Millisecond)
	s.Kill()
	lose(t, s.Dir, temporalFile)
	release()
	s.Start()
	anHourLater(t, s.Dir)
	require.Eventually(t, func() bool { return newest().State == "ready" }, waitTimeout, 50*time.Millisecond)
}

func TestRepairReportsAndRepairsLostTurns(t *testing.T) {
	t.Parallel()
	s := newScene(t, "when the thread is used")
	s.story("writing")
	s.exchange("idle", "Hello")
	code, said := s.stack.Repair("--dry-run")
	require.Equal(t, 0, code, said)
	require.Contains(t, said, "1 conversations and 0 documents checked, 0 to be repaired")

	thread := s.threads["writing"].thread
	s.terminate(workflows.ThreadWorkflowID(thread))
	code, said = s.stack.Repair("--dry-run")
	require.Equal(t, 3, code, said)
	require.Contains(t, said, "conversation "+thread)
	require.Contains(t, said, "running, but the workflow is terminated; would settle it")
	require.Equal(t, 1, s.open("writing"), "a dry run changes nothing")

	code, said = s.stack.Repair()
	require.Equal(t, 0, code, said)
	require.Contains(t, said, "settled as failed turn_lost")
	require.Contains(t, said, "1 repaired")
	require.Zero(t, s.open("writing"))
	s.usable("writing")

	temporal := s.stack.Temporal
	require.Equal(t, 0, s.stack.Stop())
	s.stack.Temporal = temporal // no longer reachable
	anHourLater(t, s.stack.Dir)
	change(t, s.stack.Dir, "UPDATE turns SET settled_at = 0, status = 'running'")
	code, said = s.stack.Repair()
	require.Equal(t, 1, code, said)
	require.Contains(t, said, "not checked")
}
