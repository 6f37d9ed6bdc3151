package workflows_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/activities"
	"github.com/palaver-chat/palaver/agents"
	"github.com/palaver-chat/palaver/agents/documents"
	"github.com/palaver-chat/palaver/agents/plan"
	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/imports/flow"
	"github.com/palaver-chat/palaver/workflows"
)

// script has fake activities: they return what a test sets, and count their calls.
type script struct {
	mu      sync.Mutex
	calls   map[string]int
	endings []activities.Ending
	begin   activities.BeginResult
	intent  documents.Intent
	docs    []documents.Docs // by call; the last one repeats
	ruled   *documents.Docs  // what DocsByRules returns
	asked   []docsCall
	intents []activities.TurnRef // of InferIntent
	answers []documents.ReadAnswerResult
	found   []documents.RetrieveResult
	web     documents.WebResult
	webOff  bool
	writes  []writeCall
	write   func(ctx context.Context, attempt int) (activities.ModelResult, error)
	settle  func() error
	others  []activities.OtherTurns // of the turns that began
	parents []string                // that turns began with
	stops   chan struct{}           // closed when a stop is announced
	texts   map[string]string       // answers that were stored
	log     []chat.Entry            // entries that were stored

	onBegin  func(ref activities.TurnRef) (activities.BeginResult, error)
	onIntent func(ctx context.Context, n int) error
	onDocs   func(ctx context.Context, n int) error

	thoughts     []activities.ModelResult // by call; the last one repeats
	thinks       []thinkCall
	thinkErr     error
	misfit       bool // decisions change arguments so that they do not fit
	decided      []activities.DecideRequest
	hashes       map[string]string // of arguments that decisions change
	tool         func(ctx context.Context, r activities.CallRequest, n int) (activities.CallResult, error)
	called       []string               // names of the tools called, in the order in which they ended
	storedResult *activities.CallResult // what FindResult returns

	planned           int // steps
	given             []activities.GivenRequest
	onGiven           func()
	givenErr, dropErr error // of TakeGiven and DropGiven

	agents  []workflows.Agent // beside the product's own
	checks  []activities.CheckRequest
	checked []string // what checks return, by call; the last one repeats
}

// docsCall, writeCall and thinkCall are the arguments of an activity.
type docsCall struct {
	activities.TurnRef
	Action chat.Action
}

type writeCall struct {
	activities.TurnRef
	activities.Stage
	documents.WriteRequest
}

type thinkCall struct {
	activities.TurnRef
	activities.Stage
	Asked []activities.AskedQuestion
}

// clearTurn is a turn without questions.
func clearTurn() *script {
	return &script{
		calls:  map[string]int{},
		begin:  activities.BeginResult{Parent: chat.RootCheckpoint, Agent: chat.AgentDocuments},
		intent: documents.Intent{Action: chat.Inquire, Confidence: chat.High, Usage: chat.Usage{TokensIn: 1, Calls: 1}},
		docs:   []documents.Docs{{IDs: []string{"d1"}, Confidence: chat.High, Usage: chat.Usage{TokensIn: 2, Calls: 1}}},
		found:  []documents.RetrieveResult{{ChunkIDs: []string{"d1.0"}, Confidence: chat.High, Score: 0.9}},
	}
}

func (s *script) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
	return s.calls[name]
}

func stepName[T any](list []T, call int) T { return list[min(call, len(list))-1] }

func (s *script) BeginTurn(_ context.Context, ref activities.TurnRef) (activities.BeginResult, error) {
	s.count("BeginTurn")
	if s.onBegin != nil {
		if b, err := s.onBegin(ref); err != nil || b.Agent != "" {
			return b, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parents = append(s.parents, ref.Parent)
	s.others = append(s.others, *ref.Others)
	return s.begin, nil
}

func (s *script) IntentByRules(context.Context, activities.TurnRef) (*documents.Intent, error) {
	s.count("IntentByRules")
	if s.begin.Action != "" || s.intent.Action == chat.Talk {
		return &s.intent, nil
	}
	return nil, nil
}

func (s *script) DocsByRules(context.Context, activities.TurnRef) (*documents.Docs, error) {
	s.count("DocsByRules")
	return s.ruled, nil
}

func (s *script) InferIntent(ctx context.Context, ref activities.TurnRef) (documents.Intent, error) {
	n := s.count("InferIntent")
	s.mu.Lock()
	s.intents = append(s.intents, ref)
	s.mu.Unlock()
	if s.onIntent != nil {
		if err := s.onIntent(ctx, n); err != nil {
			return documents.Intent{}, err
		}
	}
	return s.intent, nil
}

func (s *script) InferDocs(ctx context.Context, ref activities.TurnRef, action chat.Action) (documents.Docs, error) {
	n := s.count("InferDocs")
	if s.onDocs != nil {
		if err := s.onDocs(ctx, n); err != nil {
			return documents.Docs{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, docsCall{ref, action})
	return stepName(s.docs, n), nil
}

func (s *script) ReadAnswer(context.Context, activities.TurnRef, documents.AnswerRequest) (documents.ReadAnswerResult, error) {
	return stepName(s.answers, s.count("ReadAnswer")), nil
}

func (s *script) Retrieve(context.Context, activities.TurnRef, documents.RetrieveRequest) (documents.RetrieveResult, error) {
	return stepName(s.found, s.count("Retrieve")), nil
}

func (s *script) SayImporting(context.Context, activities.TurnRef) error {
	s.count("SayImporting")
	return nil
}

func (s *script) WebConfigured(context.Context, activities.TurnRef) (bool, error) {
	return !s.webOff, nil
}

func (s *script) WordWebQuery(context.Context, activities.TurnRef, []string) (documents.WebQuery, error) {
	s.count("WordWebQuery")
	return documents.WebQuery{Usage: chat.Usage{Calls: 1}}, nil
}

func (s *script) SearchWeb(context.Context, activities.TurnRef) (documents.WebResult, error) {
	s.count("SearchWeb")
	return s.web, nil
}

func (s *script) Write(ctx context.Context, ref activities.TurnRef, stage activities.Stage, r documents.WriteRequest) (activities.ModelResult, error) {
	n := s.count("Write")
	s.mu.Lock()
	s.writes = append(s.writes, writeCall{ref, stage, r})
	s.mu.Unlock()
	if s.write != nil {
		return s.write(ctx, n)
	}
	return activities.ModelResult{Chars: 10, Citations: 1, Usage: chat.Usage{TokensOut: 5, Calls: 1}}, nil
}

func (s *script) Think(_ context.Context, ref activities.TurnRef, stage activities.Stage, asked []activities.AskedQuestion) (activities.ModelResult, error) {
	n := s.count("Think")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thinks = append(s.thinks, thinkCall{ref, stage, asked})
	if s.thinkErr != nil {
		return activities.ModelResult{}, s.thinkErr
	}
	return stepName(s.thoughts, n), nil
}

func (s *script) Discuss(ctx context.Context, ref activities.TurnRef, stage activities.Stage, asked []activities.AskedQuestion) (activities.ModelResult, error) {
	return s.Think(ctx, ref, stage, asked)
}

func (s *script) Plan(context.Context, activities.TurnRef) (plan.PlanResult, error) {
	s.count("Plan")
	return plan.PlanResult{Steps: s.planned, Usage: chat.Usage{Calls: 1}}, nil
}

func (s *script) TakeGiven(_ context.Context, r activities.GivenRequest) error {
	s.count("TakeGiven")
	if s.onGiven != nil {
		s.onGiven()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = append(s.given, r)
	return s.givenErr
}

func (s *script) DropGiven(context.Context, activities.GivenRequest) error {
	s.count("DropGiven")
	return s.dropErr
}

func (s *script) Check(_ context.Context, r activities.CheckRequest) (string, error) {
	n := s.count("Check")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, r)
	return stepName(s.checked, n), nil
}

// KeepAnswer stores an answer under the same key as the store.
func (s *script) KeepAnswer(_ context.Context, r activities.KeepRequest) (string, error) {
	s.count("KeepAnswer")
	b, err := json.Marshal(r.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := chat.AnswerKey(r.InterruptID)
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	s.texts[key] = string(b)
	return key, err
}

func (s *script) KeepLog(_ context.Context, r activities.LogRequest) error {
	s.count("KeepLog")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r.Entries...)
	return nil
}

func (s *script) Decide(_ context.Context, r activities.DecideRequest) (activities.DecideResult, error) {
	s.count("Decide")
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Value = r.Value.Whole(s.texts)
	s.decided = append(s.decided, r)
	out := activities.DecideResult{Misfit: s.misfit, Hashes: s.hashes}
	for _, d := range r.Value.Decisions {
		if d.Decision == chat.Rejected {
			continue
		}
		out.Run = append(out.Run, d.ID)
		for _, c := range r.Question.Calls {
			if c.ID == d.ID && d.Remember {
				out.Remember = append(out.Remember, c.Name)
			}
		}
	}
	return out, nil
}

func (s *script) CallTool(ctx context.Context, r activities.CallRequest) (c activities.CallResult, err error) {
	n := s.count("CallTool " + r.ID)
	if s.tool != nil {
		c, err = s.tool(ctx, r, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = append(s.called, r.Name)
	return c, err
}

func (s *script) FindResult(context.Context, activities.CallRequest) (*activities.CallResult, error) {
	s.count("FindResult")
	return s.storedResult, nil
}

func (s *script) Settle(_ context.Context, e activities.Ending) (activities.SettleResult, error) {
	s.count("Settle")
	if s.settle != nil {
		if err := s.settle(); err != nil {
			return activities.SettleResult{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endings = append(s.endings, e)
	return activities.SettleResult{N: len(e.Log) + 1, Type: map[chat.TurnStatus]chat.EventType{
		chat.TurnCompleted: chat.EventResponse, chat.TurnCancelled: chat.EventCancelled, chat.TurnFailed: chat.EventFailed,
	}[e.Status]}, nil
}

func (s *script) AnnounceStop(context.Context, activities.TurnRef) error {
	s.count("AnnounceStop")
	if s.stops != nil {
		close(s.stops)
	}
	return nil
}

func (s *script) MarkInterrupted(context.Context, activities.TurnRef) error {
	s.count("MarkInterrupted")
	return nil
}

func (s *script) MarkRunning(context.Context, activities.TurnRef) error {
	s.count("MarkRunning")
	return nil
}

// harness runs a thread with skipped time: a callback for a minute runs when
// everything before it is done.
type harness struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment
	*script
	hints []int
}

// busyMachine raises the SDK's deadlock timeout, which a busy machine can exceed.
var busyMachine = worker.Options{DeadlockDetectionTimeout: time.Minute}

func newHarness(t *testing.T, s *script) *harness {
	var suite testsuite.WorkflowTestSuite
	suite.SetDisableRegistrationAliasing(false)
	p := &harness{t: t, env: suite.NewTestWorkflowEnvironment(), script: s}
	p.env.SetTestTimeout(time.Minute)
	p.env.SetWorkerOptions(busyMachine)
	threads := &workflows.Threads{Agents: append(agents.BuiltIn(), s.agents...), Prepare: flow.First, Hint: func(_ string, n int) { p.hints = append(p.hints, n) }}
	p.env.RegisterWorkflowWithOptions(threads.Thread, workflow.RegisterOptions{Name: workflows.ThreadType})
	p.env.RegisterActivity(s)
	for _, agent := range s.agents {
		agent.Register(p.env)
	}
	return p
}

func (p *harness) at(minute int, do func()) {
	p.env.RegisterDelayedCallback(do, time.Duration(minute)*time.Minute+time.Millisecond)
}

// reply is how an update ended.
type reply struct {
	rejected, err error
	done          bool
	value         any
}

func (p *harness) update(name, id string, arg any) *reply {
	r := &reply{}
	p.env.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{
		OnReject:   func(err error) { r.rejected = err },
		OnAccept:   func() {},
		OnComplete: func(value any, err error) { r.value, r.err, r.done = value, err, true },
	}, arg)
	return r
}

func (p *harness) submit(turn string, busy chat.OnBusy) *reply {
	return p.update(workflows.UpdateSubmit, turn, workflows.SubmitRequest{TurnID: turn, OnBusy: busy})
}

func (p *harness) replace(turn, waiting string) *reply {
	return p.update(workflows.UpdateSubmit, turn, workflows.SubmitRequest{TurnID: turn, OnBusy: chat.Enqueue, Replaces: waiting})
}

func (p *harness) submitAt(minute int, turn string, busy chat.OnBusy) {
	p.at(minute, func() { p.submit(turn, busy) })
}

func (p *harness) resume(v chat.ResumeValue) *reply {
	return p.update(workflows.UpdateResume, "resume-"+string(v.Type)+v.Text()+time.Now().String(), workflows.ResumeRequest{Value: v})
}

func answer(kind chat.InterruptType, value string) chat.ResumeValue {
	return chat.ResumeValue{Type: kind, Value: &value}
}

func (p *harness) resumeAt(minute int, kind chat.InterruptType, value string) {
	p.at(minute, func() { p.resume(answer(kind, value)) })
}

func (p *harness) state() chat.ThreadState {
	v, err := p.env.QueryWorkflow(workflows.QueryThread)
	require.NoError(p.t, err)
	var s chat.ThreadState
	require.NoError(p.t, v.Get(&s))
	return s
}

func (p *harness) progress(turn string, after int) chat.Progress {
	v, err := p.env.QueryWorkflow(workflows.QueryProgress, turn, after)
	require.NoError(p.t, err)
	var s chat.Progress
	require.NoError(p.t, v.Get(&s))
	return s
}

var input = workflows.ThreadInput{Owner: "ann", ThreadID: "th", Rules: workflows.Rules{
	Version:  workflows.DefaultVersion,
	Settings: workflows.Settings{IdleTimeout: 30 * time.Minute, TurnDeadline: 10 * time.Minute},
}}

// run runs the thread until its idle timeout completes it.
func (p *harness) run() {
	p.t.Helper()
	p.env.ExecuteWorkflow(workflows.ThreadType, input)
	require.True(p.t, p.env.IsWorkflowCompleted())
	require.NoError(p.t, p.env.GetWorkflowError())
}

// runUntilContinueAsNew returns the input of the next run.
func (p *harness) runUntilContinueAsNew(in workflows.ThreadInput) workflows.ThreadInput {
	p.t.Helper()
	p.env.ExecuteWorkflow(workflows.ThreadType, in)
	require.True(p.t, p.env.IsWorkflowCompleted())
	var next *workflow.ContinueAsNewError
	require.ErrorAs(p.t, p.env.GetWorkflowError(), &next)
	var carried workflows.ThreadInput
	require.NoError(p.t, converter.GetDefaultDataConverter().FromPayload(next.Input.Payloads[0], &carried))
	return carried
}

// summary lists the entries of a log with type and node, code or prompt.
func summary(log []chat.Entry) []string {
	var out []string
	for _, e := range log {
		s := string(e.Type)
		switch {
		case e.Node != "":
			s += " " + string(e.Node)
			if len(e.DocIDs) > 0 {
				s += " docs"
			}
			if e.Ref != "" {
				s += " " + e.Ref
			}
		case e.Question != nil:
			s += " " + string(e.Question.Prompt)
		case e.Code != "":
			s += " " + e.Code
		case e.Call != nil && e.IsError:
			s += " error"
		case e.Type == chat.EventText:
			s += " " + e.Ref
		}
		if e.Call != nil {
			s += " " + e.Call.Name
		}
		out = append(out, s)
	}
	return out
}

func errType(err error) string {
	var app *temporal.ApplicationError
	if ok := asApp(err, &app); ok {
		return app.Type()
	}
	return ""
}
