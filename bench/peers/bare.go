package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// The system temporal is what a turn of Palaver costs at least while its steps are visible in
// Temporal's Web UI: the same server and a worker of its own process run a workflow with the same
// update, look-ups and activities. They do nothing but wait as long as the model does. A line on a
// connection tells the load generator that a turn has begun to answer, or has ended.

// bareTurn is the message of one turn.
type bareTurn struct {
	ID                           string
	Structured, FirstToken, Rest time.Duration
}

const (
	bareQueue     = "bare"
	bareSubmit    = "submit"
	bareHeartbeat = 4 * time.Second / 3
)

// bareThread runs the turns of one thread, one after another.
func bareThread(ctx workflow.Context) error {
	var waiting []bareTurn
	err := workflow.SetUpdateHandler(ctx, bareSubmit, func(_ workflow.Context, t bareTurn) error {
		waiting = append(waiting, t)
		return nil
	})
	if err != nil {
		return err
	}
	for {
		if err := workflow.Await(ctx, func() bool { return len(waiting) > 0 }); err != nil {
			return err
		}
		t := waiting[0]
		waiting = waiting[1:]
		if err := runBare(ctx, t); err != nil {
			return err
		}
	}
}

// runBare runs the steps of a turn whose action and documents a model infers.
func runBare(ctx workflow.Context, t bareTurn) error {
	var acts *bareActivities
	look := func(summary string) error {
		local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Second, Summary: summary})
		return workflow.ExecuteLocalActivity(local, acts.Look).Get(ctx, nil)
	}
	call := func(summary string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour, ScheduleToCloseTimeout: time.Hour, HeartbeatTimeout: 4 * time.Second,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second}, Summary: summary,
		})
	}
	err := errors.Join(look("Begin the turn"), look("Understand the message by rules"), look("Find the documents by rules"))
	intent := workflow.ExecuteActivity(call("Understand the message"), acts.Wait, t.Structured)
	docs := workflow.ExecuteActivity(call("Find the documents that are meant"), acts.Wait, t.Structured)
	err = errors.Join(err, intent.Get(ctx, nil), docs.Get(ctx, nil), look("Search the documents"))
	answer := workflow.ExecuteActivity(call("Write the answer"), acts.Answer, t)
	err = errors.Join(err, answer.Get(ctx, nil))
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{ScheduleToCloseTimeout: time.Second, Summary: "Settle the turn"})
	return errors.Join(err, workflow.ExecuteLocalActivity(local, acts.End, t.ID).Get(ctx, nil))
}

type bareActivities struct {
	mu   sync.Mutex
	tell net.Conn
}

// Look is a look-up without work.
func (*bareActivities) Look(context.Context) error { return nil }

// Wait is a call of a model that takes a time.
func (*bareActivities) Wait(ctx context.Context, d time.Duration) error {
	for d > 0 {
		part := min(d, bareHeartbeat)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(part):
		}
		if d -= part; d > 0 {
			activity.RecordHeartbeat(ctx)
		}
	}
	return nil
}

// Answer is the call of the model that writes the answer.
func (a *bareActivities) Answer(ctx context.Context, t bareTurn) error {
	if err := a.Wait(ctx, t.FirstToken); err != nil {
		return err
	}
	if err := a.say("token", t.ID); err != nil {
		return err
	}
	return a.Wait(ctx, t.Rest)
}

// End tells the load generator that a turn has ended.
func (a *bareActivities) End(_ context.Context, turn string) error { return a.say("end", turn) }

func (a *bareActivities) say(what, turn string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := fmt.Fprintln(a.tell, what, turn)
	return err
}

func dialBare(address string) (sdk.Client, error) {
	return sdk.Dial(sdk.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), ConnectionOptions: sdk.ConnectionOptions{GrpcCompression: &sdk.GrpcCompressionNone{}}})
}

// runBareWorker runs the worker until ctx ends. addresses are those of Temporal and of the load
// generator, with a comma between them.
func runBareWorker(ctx context.Context, addresses string) error {
	server, generator, _ := strings.Cut(addresses, ",")
	c, err := dialBare(server)
	if err != nil {
		return err
	}
	defer c.Close()
	conn, err := net.Dial("tcp", generator)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	w := worker.New(c, bareQueue, worker.Options{MaxConcurrentWorkflowTaskPollers: 32, MaxConcurrentActivityTaskPollers: 5, DefaultHeartbeatThrottleInterval: time.Second})
	w.RegisterWorkflow(bareThread)
	w.RegisterActivity(&bareActivities{tell: conn})
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	fmt.Println("msg=ready")
	<-ctx.Done()
	return nil
}

// bareCaller sends turns to the workflow.
type bareCaller struct {
	bench    *bench
	temporal sdk.Client

	mu    sync.Mutex
	turns map[string]chan string
}

func startBare(ctx context.Context, b *bench) (_ *running, err error) {
	data, err := os.MkdirTemp("", "palaver-bench-")
	if err != nil {
		return nil, err
	}
	stops := []func(){func() { _ = os.RemoveAll(data) }}
	stop := func() {
		for i := range stops {
			stops[len(stops)-1-i]()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	infra, address, _, err := stack.RunInfra(ctx, b.binaries.Standalone, data)
	if err != nil {
		return nil, err
	}
	stops = append(stops, infra.Stop)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	stops = append(stops, func() { _ = listener.Close() })
	c := &bareCaller{bench: b, turns: map[string]chan string{}}
	if c.temporal, err = dialBare(address); err != nil {
		return nil, err
	}
	stops = append(stops, c.temporal.Close)
	go c.listen(listener)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := stack.Run(data, nil, self, "-bare-worker="+address+","+listener.Addr().String())
	if err != nil {
		return nil, err
	}
	stops = append(stops, p.Stop)
	if err := p.Says(ctx, "msg=ready"); err != nil {
		return nil, err
	}
	return &running{caller: c, upload: func(context.Context, string, string) (string, error) { return "", nil },
		parts: func() map[string][]int {
			return map[string][]int{"Temporal and NATS": {infra.Pid()}, "worker": {p.Pid()}}
		}, said: []func() string{infra.Said, p.Said}, stop: stop}, nil
}

// listen passes on what the worker says, until the listener is closed.
func (c *bareCaller) listen(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		what, turn, _ := strings.Cut(lines.Text(), " ")
		c.mu.Lock()
		heard := c.turns[turn]
		c.mu.Unlock()
		if heard != nil {
			heard <- what
		}
	}
}

// Turn submits a turn and waits for its end. Its first event is that the workflow has accepted it.
func (c *bareCaller) Turn(ctx context.Context, thread string, _ stack.Message, began func()) (t stack.Timing, err error) {
	pace := c.bench.model.Pace()
	turn := bareTurn{ID: uuid.NewString(), Structured: pace.Structured, FirstToken: pace.FirstToken, Rest: time.Duration(pace.Tokens) * pace.PerToken}
	heard := make(chan string, 2)
	c.mu.Lock()
	c.turns[turn.ID] = heard
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.turns, turn.ID)
		c.mu.Unlock()
	}()
	sent := time.Now()
	start := c.temporal.NewWithStartWorkflowOperation(sdk.StartWorkflowOptions{
		ID: "bare:" + thread, TaskQueue: bareQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, bareThread)
	accepted, err := c.temporal.UpdateWithStartWorkflow(ctx, sdk.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions:          sdk.UpdateWorkflowOptions{UpdateID: turn.ID, UpdateName: bareSubmit, Args: []any{turn}, WaitForStage: sdk.WorkflowUpdateStageCompleted},
	})
	if err == nil {
		err = accepted.Get(ctx, nil)
	}
	if err != nil {
		return t, err
	}
	t.First = time.Since(sent)
	if began != nil {
		began()
	}
	for t.End == 0 {
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case what := <-heard:
			if what == "token" {
				t.Token = time.Since(sent)
			} else {
				t.End = time.Since(sent)
			}
		}
	}
	return t, nil
}

// Asks does nothing: the workflow asks no questions.
func (c *bareCaller) Asks(context.Context, string, string) error { return nil }
