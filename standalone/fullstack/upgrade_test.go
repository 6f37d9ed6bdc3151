package fullstack

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/overlay"
	"github.com/palaver-chat/palaver/llm/llmtest"
	"github.com/palaver-chat/palaver/standalone/stacktest"
)

// nextRelease builds the program palaver with one more command in the story of a
// turn: in threads that follow version 2 or, with unguarded set, in all.
func nextRelease(t *testing.T) (path string) {
	t.Helper()
	edits := overlay.Write(t, "../../workflows", []overlay.Edit{
		{File: "version.go", Old: "NewestVersion = 1", New: "NewestVersion = 2"},
		{File: "turn.go", Old: "\treturn u.runAgent(ctx, begun)", New: "\tone(ctx, u)\n\treturn u.runAgent(ctx, begun)"},
	}, map[string]string{"one.go": `package workflows

import (
	"os"
	"time"

	"go.temporal.io/sdk/workflow"
)

func one(ctx workflow.Context, u *turn) {
	if u.thread.Version >= 2 || os.Getenv("` + unguarded + `") != "" {
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

const unguarded = "PALAVER_TEST_UNGUARDED"

// deployment is a running Palaver whose release is changed under the people who
// use it.
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

// talk is a new conversation of the one user.
func (d *deployment) talk() *talk {
	if d.me == nil {
		d.me = newTalk(d.t, func() string { return d.api.URL }, d.apart.NewUser())
		d.doc = d.me.upload("Liquidity circular", circular)
	}
	return newTalk(d.t, d.me.url, d.me.client)
}

// open is a conversation with an open question.
func (d *deployment) open() *talk {
	c := d.talk()
	interrupted(d.t, c.ask("Unsure: what liquidity coverage ratio must a bank hold at the end of every business day?", tags(d.doc)))
	return c
}

// streaming is a conversation whose answer is under way until the gate opens.
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

// oneMore reports whether the newest run of a thread has the command that only
// the next release issues, and which version the thread follows.
func (d *deployment) oneMore(c *talk) (found bool) {
	for _, e := range fetchHistory(d.t, d.apart.Servers.TemporalClient(), threadOf(c)).Events {
		found = found || e.EventType == enums.EVENT_TYPE_TIMER_STARTED && e.GetTimerStartedEventAttributes().StartToFireTimeout.AsDuration() == time.Millisecond
	}
	return found
}

// clean demands that no workflow task of a conversation ever failed: old code
// and new ran every thread that they were given.
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

// TestReleaseWithOneMoreCommand changes releases under people who are asked, and
// who are being answered.
func TestReleaseWithOneMoreCommand(t *testing.T) {
	next := nextRelease(t)
	for name, test := range map[string]func(*deployment, string){
		"is rolled out beside the one before, and back": rolledOutAndBack,
		"takes the place of one process, and back":      replacedAndBack,
		"that breaks the rules harms no thread":         brokenAndMended,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newDeployment(t), next)
		})
	}
}

// rolledOutAndBack replaces worker and API, one after the other, has threads
// follow the new version, and goes all the way back.
func rolledOutAndBack(d *deployment, next string) {
	t := d.t
	oldWorker := d.apart.Worker()
	d.api = d.apart.API()
	asked, idle := d.open(), d.talk()
	answered(t, idle.ask("Hello", assistant))
	writing, turn, gate := d.streaming("first")

	// Out: both run side by side, then the old one stops in mid-answer.
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
	require.False(t, d.oneMore(idle), "threads follow what the release before knows, too")

	// Its version: threads that go on, and those that begin, follow it.
	d.api.Stop()
	d.api = d.apart.API(stacktest.Binary(next), stacktest.Flag("workflow-version", "2"))
	answered(t, idle.ask("Hello once more", assistant))
	require.True(t, d.oneMore(idle))
	answered(t, asked.resume(chat.ActionChoice, "inquire"))
	askedNew := d.open()
	require.True(t, d.oneMore(askedNew))
	writingNew, turnNew, gateNew := d.streaming("second")

	// Back: first the version, then the release.
	d.api.Stop()
	d.api = d.apart.API(stacktest.Binary(next))
	gateNew.Release()
	require.Contains(t, d.apart.Run("move-threads", stacktest.Binary(next)), "follow version 1")
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

// replacedAndBack is the same where one process is API and worker, and there is
// none for a moment.
func replacedAndBack(d *deployment, next string) {
	t := d.t
	d.api = d.apart.Serve()
	asked := d.open()
	writing, turn, gate := d.streaming("first")
	d.api.Kill()
	gate.Release()
	d.api = d.apart.Serve(stacktest.Binary(next), stacktest.Flag("workflow-version", "2"))
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

// brokenAndMended deploys an edit that no version guards: a thread that cannot be
// replayed is refused in plain words and named in the log, others run, and it
// goes on when the edit is taken back.
func brokenAndMended(d *deployment, next string) {
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
	require.Eventually(t, func() bool { return strings.Contains(d.api.Logged(), "docs/upgrades.md") }, patience, 20*time.Millisecond)
	page.close()
	other := d.talk()
	answered(t, other.ask("What is the ratio?", tags(d.doc)))
	d.api.Stop()
	d.api = d.apart.Serve()
	answered(t, c.resume(chat.ActionChoice, "inquire"))
}
