//go:build long

package fullstack

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/overlay"
	"github.com/palaver-chat/palaver/workflows"
)

// nextRelease builds palaver with one more workflow command in each turn: in
// threads of the next version or, with unguarded set, in all threads.
func nextRelease(t *testing.T) (path string) {
	t.Helper()
	edits := overlay.Write(t, "../../workflows", []overlay.Edit{
		{File: "version.go", Old: "NewestVersion = " + thisVersion, New: "NewestVersion = " + nextVersion},
		{File: "turn.go", Old: "\treturn u.runAgent(ctx, begun)", New: "\tone(ctx, u)\n\treturn u.runAgent(ctx, begun)"},
	}, map[string]string{"one.go": `package workflows

import (
	"os"
	"time"

	"go.temporal.io/sdk/workflow"
)

func one(ctx workflow.Context, u *turn) {
	if u.thread.Version >= ` + nextVersion + ` || os.Getenv("` + unguarded + `") != "" {
		_, _ = once(u, "one", func() (bool, error) {
			return true, workflow.NewTimerWithOptions(ctx, time.Millisecond, workflow.TimerOptions{Summary: "One more"}).Get(ctx, nil)
		})
	}
}
`})
	path = filepath.Join(t.TempDir(), "palaver-next")
	overlay.Go(t, "../..", "build", "-buildvcs=false", "-ldflags=-w", "-overlay="+edits, "-o", path, "./cmd/palaver")
	return path
}

// The newest version of this release, and that of the next one.
var (
	thisVersion = strconv.Itoa(workflows.NewestVersion)
	nextVersion = strconv.Itoa(workflows.NewestVersion + 1)
)

const unguarded = "PALAVER_TEST_UNGUARDED"

// deployment is a running Palaver whose release changes while it is used.
type deployment struct {
	t     *testing.T
	apart *stacktest.Apart
	model *llmtest.Server
	api   *stacktest.Role
	doc   string
	me    *talk
}

func newDeployment(t *testing.T) *deployment {
	d := &deployment{t: t}
	d.apart, d.model = apart(t, nil)
	d.model.On(llmtest.Match{Schema: "intent_classification", Contains: "unsure:"}, unsure)
	return d
}

// talk starts a new conversation of the one user.
func (d *deployment) talk() *talk {
	if d.me == nil {
		d.me = newTalk(d.t, func() string { return d.api.URL }, d.apart.NewUser())
		d.doc = d.me.upload("Liquidity circular", circular)
	}
	return newTalk(d.t, d.me.url, d.me.client)
}

// open starts a conversation with an open question.
func (d *deployment) open() *talk {
	c := d.talk()
	interrupted(d.t, c.ask("Unsure: what liquidity coverage ratio must a bank hold at the end of every business day?", tags(d.doc)))
	return c
}

// streaming starts a conversation whose answer runs until the gate opens.
func (d *deployment) streaming(mark string) (c *talk, turn string, gate *llmtest.Gate) {
	c = d.talk()
	gate = llmtest.NewGate()
	d.t.Cleanup(gate.Release)
	d.model.On(llmtest.Match{Kind: llmtest.Stream, Contains: mark},
		llmtest.Answer{Chunks: []string{"A bank must ", "hold 100 percent."}, Gates: map[int]*llmtest.Gate{1: gate}}, llmtest.Text("A bank must hold 100 percent."))
	page := c.send("What is the ratio, "+mark+"?", with(tags(d.doc), object{"action": "inquire"}))
	turn = page.until(isType("token")).EventID[:36]
	page.close()
	return c, turn, gate
}

// oneMore reports whether the newest run of a thread has the next release's
// command.
func (d *deployment) oneMore(c *talk) (found bool) {
	for _, e := range fetchHistory(d.t, d.apart.Servers.TemporalClient(), threadOf(c)).Events {
		found = found || e.EventType == enums.EVENT_TYPE_TIMER_STARTED && e.GetTimerStartedEventAttributes().StartToFireTimeout.AsDuration() == time.Millisecond
	}
	return found
}

// clean requires that no workflow task of the conversations failed: old and new
// code could run every thread.
func (d *deployment) clean(talks ...*talk) {
	d.t.Helper()
	for _, c := range talks {
		for _, h := range historiesOf(d.t, d.apart.Servers.TemporalClient(), threadOf(c)) {
			for _, e := range h.Events {
				if e.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_FAILED {
					cause := e.GetWorkflowTaskFailedEventAttributes().Cause
					require.NotEqual(d.t, enums.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR, cause)
					require.NotEqual(d.t, enums.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE, cause)
				}
			}
		}
	}
}

// TestLongReleaseWithOneMoreCommand changes releases while questions are open and
// answers stream.
func TestLongReleaseWithOneMoreCommand(t *testing.T) {
	t.Parallel()
	next := nextRelease(t)
	for name, test := range map[string]func(*deployment, string){
		"rolling update and rollback":            rolledOutAndBack,
		"replaced process and rollback":          replacedAndBack,
		"unguarded change does not harm threads": brokenAndFixed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newDeployment(t), next)
		})
	}
}

// rolledOutAndBack replaces worker and API one after the other, moves threads to
// the new version, and rolls everything back.
func rolledOutAndBack(d *deployment, next string) {
	t := d.t
	oldWorker := d.apart.Worker()
	d.api = d.apart.API()
	asked, idle := d.open(), d.talk()
	answered(t, idle.ask("Hello", assistant))
	writing, turn, gate := d.streaming("first")

	// Rollout: both releases run, then the old one stops in mid-answer.
	newWorker := d.apart.Worker(stacktest.Binary(next))
	between := []*talk{d.open(), d.open(), d.open()}
	for _, c := range between {
		answered(t, c.resume(chat.ActionChoice, "inquire"))
		answered(t, c.ask("What is the ratio?", with(tags(d.doc), object{"action": "inquire"})))
	}
	oldWorker.Stop()
	gate.Release()
	require.Equal(t, "response", writing.attach("turn_id="+turn).until(terminal).Type)
	d.api.Stop()
	d.api = d.apart.API(stacktest.Binary(next))
	answered(t, idle.ask("Hello again", assistant))
	require.False(t, d.oneMore(idle), "threads stay on the version that the old release knows")

	// New version: existing and new threads follow it.
	d.api.Stop()
	d.api = d.apart.API(stacktest.Binary(next), stacktest.Flag("workflow-version", nextVersion))
	answered(t, idle.ask("Hello once more", assistant))
	require.True(t, d.oneMore(idle))
	answered(t, asked.resume(chat.ActionChoice, "inquire"))
	askedNew := d.open()
	require.True(t, d.oneMore(askedNew))
	writingNew, turnNew, gateNew := d.streaming("second")

	// Rollback: first the version, then the release.
	d.api.Stop()
	d.api = d.apart.API(stacktest.Binary(next))
	gateNew.Release()
	require.Contains(t, d.apart.Run("move-threads", stacktest.Binary(next)), "follow version "+thisVersion)
	require.Equal(t, "response", writingNew.attach("turn_id="+turnNew).until(terminal).Type)
	writingOld, turnOld, gateOld := d.streaming("third")
	d.api.Stop()
	newWorker.Stop()
	d.apart.Worker()
	d.api = d.apart.API()
	gateOld.Release()
	require.Equal(t, "response", writingOld.attach("turn_id="+turnOld).until(terminal).Type)
	answered(t, askedNew.resume(chat.ActionChoice, "inquire"))
	for _, c := range append(between, asked, idle, writing, writingNew, askedNew) {
		answered(t, c.ask("Still there?", assistant))
	}
	d.clean(append(between, asked, idle, writing, writingNew, askedNew)...)
}

// replacedAndBack does the same with one process for API and worker, so that none
// runs for a moment.
func replacedAndBack(d *deployment, next string) {
	t := d.t
	d.api = d.apart.Serve()
	asked := d.open()
	writing, turn, gate := d.streaming("first")
	d.api.Kill()
	gate.Release()
	d.api = d.apart.Serve(stacktest.Binary(next), stacktest.Flag("workflow-version", nextVersion))
	require.Equal(t, "response", writing.attach("turn_id="+turn).until(terminal).Type)
	askedNew := d.open()
	require.True(t, d.oneMore(askedNew))
	answered(t, asked.resume(chat.ActionChoice, "inquire"))
	d.api.Stop()
	d.api = d.apart.Serve(stacktest.Binary(next))
	d.apart.Run("move-threads", stacktest.Binary(next))
	d.api.Stop()
	d.api = d.apart.Serve()
	for _, c := range []*talk{askedNew, d.open()} {
		answered(t, c.resume(chat.ActionChoice, "inquire"))
	}
	for _, c := range []*talk{asked, writing, askedNew} {
		answered(t, c.ask("Still there?", assistant))
	}
	d.clean(asked, writing, askedNew)
}

// brokenAndFixed deploys a change that no version guards. A thread that cannot be
// replayed rejects messages and is named in the log, while others run. It continues
// after the rollback.
func brokenAndFixed(d *deployment, next string) {
	t := d.t
	d.api = d.apart.Serve()
	c := d.open()
	d.api.Stop()
	d.api = d.apart.Serve(stacktest.Binary(next, unguarded+"=1"))
	page := c.attach("follow=turn")
	var refused struct{ Error struct{ Message string } }
	c.do(http.StatusServiceUnavailable, http.MethodPost, "/api/chat/resume", object{
		"thread_id": c.thread, "resume_value": object{"type": chat.ActionChoice, "value": "inquire"}}, &refused)
	require.Contains(t, refused.Error.Message, "while the server is being updated")
	require.Eventually(t, func() bool { return strings.Contains(d.api.Logged(), "docs/upgrades.md") }, waitTimeout, 20*time.Millisecond)
	page.close()
	other := d.talk()
	answered(t, other.ask("What is the ratio?", tags(d.doc)))
	d.api.Stop()
	d.api = d.apart.Serve()
	answered(t, c.resume(chat.ActionChoice, "inquire"))
}
