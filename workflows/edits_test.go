package workflows_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/overlay"
)

// edit is a change of the workflow's code that breaks the replay of open threads.
// It replaces old by new while the environment variable below holds its name.
type edit struct{ name, file, old, new string }

var incompatible = []edit{
	{"a timer before every end", "turn.go", `	u.settling = true // from`, `	if edited("a timer before every end") { delay(ctx) }
	u.settling = true // from`},
	{"a timer when a turn is superseded", "turn.go", `	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.settle(clean, ending)`, `	clean, _ := workflow.NewDisconnectedContext(ctx)
	if edited("a timer when a turn is superseded") && u.Stopped == chat.Superseded { delay(clean) }
	if edited("a timer when a turn is rolled back") && u.Stopped == chat.RolledBack { delay(clean) }
	u.settle(clean, ending)`},
	{"a timer when a turn is rolled back", "", "", ""},
	{"the stop is not announced", "stop.go", `	if u.calling {`, `	if u.calling && !edited("the stop is not announced") {`},
	{"a turn stopped in the queue does not begin", "stop.go", `	if _, err := u.start(clean); err != nil { // settling`, `	if edited("a turn stopped in the queue does not begin") {
	} else if _, err := u.start(clean); err != nil { // settling`},
	{"a restored turn is marked", "thread.go", `		t.turn = t.restore(*t.Carried.Open)`, `		t.turn = t.restore(*t.Carried.Open)
		if edited("a restored turn is marked") { t.turn.markStatus(ctx, "", acts.MarkInterrupted) }`},
	{"the queue of a cancelled workflow is dropped", "thread.go", `	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0`, `	if edited("the queue of a cancelled workflow is dropped") { return ctx.Err() }
	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0`},
	{"a question is not marked", "human.go", `	u.markStatus(ctx, "Wait for a person", acts.MarkInterrupted)`, `	if !edited("a question is not marked") { u.markStatus(ctx, "Wait for a person", acts.MarkInterrupted) }`},
	{"approvals have no timer", "human.go", `	if u.thread.ApprovalTimeout <= 0 ||`, `	if edited("approvals have no timer") || u.thread.ApprovalTimeout <= 0 ||`},
	{"decisions from a shell are not checked", "human.go", `	v, q := *u.Unchecked, *u.Pending
	u.Unchecked = nil`, `	v, q := *u.Unchecked, *u.Pending
	u.Unchecked = nil
	if edited("decisions from a shell are not checked") { u.acceptAnswer(ctx, v, chat.BySignal); return nil }`},
	{"an unknown outcome is not looked up", "tools.go", `	found, err := lookup[*activities.Called](`, `	if edited("an unknown outcome is not looked up") { return outcome{ID: c.ID, Unknown: true}, nil }
	found, err := lookup[*activities.Called](`},
	{"a turn that is not saved begins later", "turn.go", `		if err == nil {
			u.thread.Carried.Agent = b.Agent`, `		if err == nil {
			if edited("a turn that is not saved begins later") && b.Unsaved { delay(clean) }
			u.thread.Carried.Agent = b.Agent`},
	{"documents are looked for after the intent", "documents.go", `		if err := d.await(ctx, intent, &r.Intent)`, `		if edited("documents are looked for after the intent") { delay(ctx) }
		if err := d.await(ctx, intent, &r.Intent)`},
	{"what rules leave open is resolved by two activities", "documents.go", `	open.TurnRef = d.nextActivityRef()`, `	if edited("what rules leave open is resolved by two activities") { found, err := d.resolveSeparately(ctx); *r = found; return err }
	open.TurnRef = d.nextActivityRef()`},
	{"documents are not asked for again", "documents.go", `	if d.begun.Action == "" && d.docs.Called &&`, `	if d.begun.Action == "" && !edited("documents are not asked for again") && d.docs.Called &&`},
	{"look-ups are regular activities", "steps.go", `	result, err := runOnce[T](ctx, summary, activity, arg)
	if err == nil ||`, `	if edited("look-ups are regular activities") { return runWithRetries[T](ctx, u, lookupRetryTimeout, summary, activity, arg) }
	result, err := runOnce[T](ctx, summary, activity, arg)
	if err == nil ||`},
	{"the web is not asked about", "documents.go", `		on, err := lookup[bool](`, `		if edited("the web is not asked about") { return activities.WebResult{Off: true}, nil }
		on, err := lookup[bool](`},
	{"an answer is not marked", "human.go", `		u.markStatus(ctx, "Go on", acts.MarkRunning)`, `		if !edited("an answer is not marked") { u.markStatus(ctx, "Go on", acts.MarkRunning) }`},
	{"an idle thread waits a little longer", "thread.go", `			return nil, false, nil
		}
	}
	if t.mustContinueAsNew(ctx) {`, `			if edited("an idle thread waits a little longer") { delay(ctx) }
			return nil, false, nil
		}
	}
	if t.mustContinueAsNew(ctx) {`},
	{"rules are not asked", "documents.go", `		r, err = lookup[activities.Resolved](`, `		if edited("rules are not asked") { return r, d.infer(ctx, &r) }
		r, err = lookup[activities.Resolved](`},
	{"an answered question leaves the status as it is", "human.go", `		if u.thread.Version >= 1 {
			u.thread.setStatus(ctx, statusOpen)`, `		if u.thread.Version >= 1 && !edited("an answered question leaves the status as it is") {
			u.thread.setStatus(ctx, statusOpen)`},
	{"a submit is answered at once", "thread.go", `	} else if t.Version >= 1 && t.turn == nil &&`, `	} else if t.Version >= 1 && !edited("a submit is answered at once") && t.turn == nil &&`},
	{"a custom agent is not checked", "own.go", `			return lookup[string](`, `			if edited("a custom agent is not checked") { return "known", nil }
			return lookup[string](`},
	{"a failed ingest is not marked", "ingest.go", `	return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)`, `	if edited("a failed ingest is not marked") { return nil }
	return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)`},
}

const editVariable = "PALAVER_TEST_EDIT"

const editedSource = `package workflows

import (
	"os"
	"time"

	"go.temporal.io/sdk/workflow"
)

func edited(name string) bool { return os.Getenv("` + editVariable + `") == name }

func delay(ctx workflow.Context) { _ = workflow.Sleep(ctx, time.Millisecond) }
`

// TestRecordedHistoriesDetectIncompatibleEdits builds the replay test with every
// edit in it, and runs it with one at a time.
func TestRecordedHistoriesDetectIncompatibleEdits(t *testing.T) {
	var edits []overlay.Edit
	for _, e := range incompatible {
		if e.file != "" { // else another edit contains its line
			edits = append(edits, overlay.Edit{File: e.file, Old: e.old, New: e.new})
		}
	}
	path := overlay.Write(t, ".", edits, map[string]string{"edited.go": editedSource})
	binary := filepath.Join(t.TempDir(), "edited.test")
	overlay.Go(t, ".", "test", "-c", "-vet=off", "-overlay="+path, "-o", binary, ".")

	replays := func(name string) (ok bool, output string) {
		command := exec.CommandContext(t.Context(), binary, "-test.run=^TestRecordedHistoriesReplay$", "-test.timeout=5m")
		command.Env = append(os.Environ(), editVariable+"="+name)
		out, err := command.CombinedOutput()
		return err == nil, string(out)
	}
	ok, output := replays("none")
	require.True(t, ok, output)
	for _, e := range incompatible {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			ok, _ := replays(e.name)
			require.False(t, ok, "no recorded history detects the edit")
		})
	}
}
