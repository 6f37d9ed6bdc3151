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
// It replaces old by new while the environment variable below holds its name. It matches the
// source text exactly, so whoever changes that code changes the edit, too.
type edit struct{ name, file, old, new string }

var incompatible = []edit{
	{"a timer before every end", "workflows/turn.go", `	u.settling = true // from`, `	if edited("a timer before every end") { delay(ctx) }
	u.settling = true // from`},
	{"a timer when a turn is superseded", "workflows/turn.go", `	clean, _ := workflow.NewDisconnectedContext(ctx)
	u.settle(clean, ending)`, `	clean, _ := workflow.NewDisconnectedContext(ctx)
	if edited("a timer when a turn is superseded") && u.Stopped == chat.Superseded { delay(clean) }
	if edited("a timer when a turn is rolled back") && u.Stopped == chat.RolledBack { delay(clean) }
	u.settle(clean, ending)`},
	{"a timer when a turn is rolled back", "", "", ""},
	{"the stop is not announced", "workflows/stop.go", `	if u.calling {`, `	if u.calling && !edited("the stop is not announced") {`},
	{"a turn stopped in the queue does not begin", "workflows/stop.go", `	if _, err := u.start(clean); err != nil { // settling`, `	if edited("a turn stopped in the queue does not begin") {
	} else if _, err := u.start(clean); err != nil { // settling`},
	{"a restored turn is marked", "workflows/thread.go", `		t.turn = t.restore(ctx, *t.Carried.Open)`, `		t.turn = t.restore(ctx, *t.Carried.Open)
		if edited("a restored turn is marked") { t.turn.markStatus(ctx, "", acts.MarkInterrupted) }`},
	{"the queue of a cancelled workflow is dropped", "workflows/thread.go", `	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0`, `	if edited("the queue of a cancelled workflow is dropped") { return ctx.Err() }
	clean, _ := workflow.NewDisconnectedContext(ctx)
	for len(t.Carried.Queue) > 0`},
	{"a question is not marked", "workflows/human.go", `	u.markStatus(ctx, "Ask the person: "+string(q.Prompt), acts.MarkInterrupted)`, `	if !edited("a question is not marked") { u.markStatus(ctx, "Ask the person: "+string(q.Prompt), acts.MarkInterrupted) }`},
	{"approvals have no timer", "workflows/human.go", `	if u.thread.ApprovalTimeout <= 0 ||`, `	if edited("approvals have no timer") || u.thread.ApprovalTimeout <= 0 ||`},
	{"decisions from a shell are not checked", "workflows/human.go", `	u.checking = true
`, `	if edited("decisions from a shell are not checked") { u.closeQuestion(ctx, given.Value, given.Channel); return true }
	u.checking = true
`},
	{"an unknown outcome is not looked up", "workflows/tools.go", `	found, err := lookup[*activities.CallResult](`, `	if edited("an unknown outcome is not looked up") { return outcome{ID: c.ID, Unknown: true}, nil }
	found, err := lookup[*activities.CallResult](`},
	{"a turn that is not saved begins later", "workflows/turn.go", `		if err == nil {
			if !u.settling {`, `		if err == nil {
			if edited("a turn that is not saved begins later") && b.Unsaved { delay(clean) }
			if !u.settling {`},
	{"documents are looked for after the intent", "agents/documents/agent.go", `	if ruledDocs == nil {
		docs = workflows.StartModel`, `	if edited("documents are looked for after the intent") && intent != nil {
		if d.intent, err = intent.Get(); err != nil { return err }
	}
	if ruledDocs == nil {
		docs = workflows.StartModel`},
	{"documents are not asked for again", "agents/documents/agent.go", `	if d.Action() == "" && d.docs.Called &&`, `	if d.Action() == "" && !edited("documents are not asked for again") && d.docs.Called &&`},
	{"look-ups are regular activities", "workflows/steps.go", `	result, err := runOnce[T](ctx, summary, activity, args...)
	if err == nil ||`, `	if edited("look-ups are regular activities") { return runWithRetries[T](ctx, u, lookupLimits, summary, activity, args...) }
	result, err := runOnce[T](ctx, summary, activity, args...)
	if err == nil ||`},
	{"the web is not asked about", "agents/documents/agent.go", `	on, err := workflows.Lookup[bool](`, `	if edited("the web is not asked about") { return false, d.Show(notice(chat.NoticeWebNotConfigured)) }
	on, err := workflows.Lookup[bool](`},
	{"links are not looked for", "imports/flow/first.go", `	plan, err := workflows.Lookup[Plan](`, `	if edited("links are not looked for") { return false, nil }
	plan, err := workflows.Lookup[Plan](`},
	{"the board is not discussed after a rejected proposal", "agents/discovery/agent.go", `			wrong++
`, `			wrong++
			if edited("the board is not discussed after a rejected proposal") { return t.End(chat.NoticeWrongProposal) }
`},
	{"an answer is not marked", "workflows/human.go", `		u.markStatus(ctx, "Continue with the answer", acts.MarkRunning)`, `		if !edited("an answer is not marked") { u.markStatus(ctx, "Continue with the answer", acts.MarkRunning) }`},
	{"an idle thread waits a little longer", "workflows/thread.go", `			return nil, false, nil
		}
	}
	if t.mustContinueAsNew(ctx) {`, `			if edited("an idle thread waits a little longer") { delay(ctx) }
			return nil, false, nil
		}
	}
	if t.mustContinueAsNew(ctx) {`},
	{"rules are not asked", "agents/documents/agent.go", `	ruledIntent, err := workflows.Lookup[*Intent](`, `	if edited("rules are not asked") { return d.infer(nil, nil) }
	ruledIntent, err := workflows.Lookup[*Intent](`},
	{"an answered question leaves the status as it is", "workflows/human.go", `		u.thread.setStatus(ctx, statusOpen)
`, `		if !edited("an answered question leaves the status as it is") { u.thread.setStatus(ctx, statusOpen) }
`},
	{"a submit is answered at once", "workflows/thread.go", `	} else if t.turn == nil &&`, `	} else if !edited("a submit is answered at once") && t.turn == nil &&`},
	{"a custom agent is not checked", "workflows/agentturn.go", `		return lookup[string](t.ctx`, `		if edited("a custom agent is not checked") { return "known", nil }
		return lookup[string](t.ctx`},
	{"a failed ingest is not marked", "documents/ingest/workflow.go", `	return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)`, `	if edited("a failed ingest is not marked") { return nil }
	return workflow.ExecuteActivity(clean, acts.FailIngest, in).Get(clean, nil)`},
}

const editVariable = "PALAVER_TEST_EDIT"

// editedPackages are those that the edits change.
var editedPackages = map[string]string{
	"workflows": "workflows", "agents/documents": "documents", "agents/discovery": "discovery", "documents/ingest": "ingest", "imports/flow": "flow",
}

const editedSource = `

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
	added := map[string]string{}
	for folder, name := range editedPackages {
		added[folder+"/edited.go"] = "package " + name + editedSource
	}
	path := overlay.Write(t, "..", edits, added)
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
