// Command scale counts the cost of a turn for Palaver and a Temporal cluster, both
// on Postgres (statements, events, bytes, requests, shards, CPU), and calculates
// what 10,000 turns a second would need.
//
//	make bench-scale
//
// API, worker, NATS, Temporal and Postgres run as separate processes on this
// machine. It measures only counts per turn and multiplies them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/stack"
	"github.com/palaver-chat/palaver/workflows"
)

type options struct {
	binaries stack.Binaries
	temporal string
	settings string
	shards   int
	clients  int
	turns    int
	document string
	print    bool
}

func main() {
	var o options
	flag.StringVar(&o.binaries.Standalone, "server", "bin/palaver-standalone", "Palaver's one command, for NATS")
	flag.StringVar(&o.binaries.Palaver, "palaver", "bin/palaver", "Palaver's roles")
	flag.StringVar(&o.temporal, "temporal", "bin/bench-temporal", "Temporal on Postgres (bench/scale/temporal)")
	flag.StringVar(&o.settings, "settings", "docker/temporal/dynamicconfig.yaml", "Temporal's dynamic configuration")
	flag.IntVar(&o.shards, "shards", 64, "history shards")
	flag.IntVar(&o.clients, "clients", 8, "threads at once")
	flag.IntVar(&o.turns, "turns", 400, "turns to count")
	flag.StringVar(&o.document, "write", "docs/performance.md", "document in which to replace the part between the markers")
	flag.BoolVar(&o.print, "print", false, "print the result instead of writing it into the document")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	text, err := run(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	if o.print {
		fmt.Print(text)
	} else if err := stack.WriteInto(o.document, "make bench-scale", text); err != nil {
		log.Fatal(err)
	}
}

const (
	database = "palaver"
)

// cluster holds all processes.
type cluster struct {
	pg       *stack.Postgres
	temporal *stack.Temporal
	apart    *stack.Apart
	client   client.Client
}

func run(ctx context.Context, o options) (string, error) {
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.Pace{Tokens: 50})
	if err != nil {
		return "", err
	}
	defer model.Close()
	c := &cluster{}
	defer c.stop()
	if err := c.start(ctx, o, model.URL); err != nil {
		return "", err
	}
	u, err := c.apart.NewUser()
	if err != nil {
		return "", err
	}
	doc, err := u.Upload(ctx)
	if err != nil {
		return "", err
	}
	if _, err := u.Measure(ctx, o.clients, 4*o.clients, stack.Inquiry(doc, "")); err != nil { // warm up
		return "", err
	}
	history, err := c.history(ctx, u, doc)
	if err != nil {
		return "", err
	}
	before, err := c.count(ctx)
	if err != nil {
		return "", err
	}
	result, err := u.Measure(ctx, o.clients, o.turns, stack.Inquiry(doc, ""))
	if err != nil {
		return "", err
	}
	// Deferred work of a turn (visibility, deleted tasks) counts too.
	time.Sleep(5 * time.Second)
	after, err := c.count(ctx)
	if err != nil {
		return "", err
	}
	return report(o, result, history, before, after), nil
}

func (c *cluster) start(ctx context.Context, o options, modelURL string) (err error) {
	// As in a cluster, every commit waits for the disk.
	if c.pg, err = stack.StartPostgres(ctx, nil); err != nil {
		return err
	}
	url, err := c.pg.Database(ctx, database)
	if err != nil {
		return err
	}
	if c.temporal, err = stack.StartTemporal(ctx, o.temporal, c.pg, o.shards, o.settings); err != nil {
		return err
	}
	if c.client, err = client.DialContext(ctx, client.Options{HostPort: c.temporal.Address, Logger: stack.Quiet{}}); err != nil {
		return err
	}
	c.apart, err = stack.StartApart(ctx, o.binaries, url, modelURL, "TEMPORAL_ADDRESS="+c.temporal.Address)
	return err
}

func (c *cluster) stop() {
	if c.client != nil {
		c.client.Close()
	}
	if c.apart != nil {
		c.apart.Stop()
	}
	if c.temporal != nil {
		c.temporal.Stop()
	}
	if c.pg != nil {
		c.pg.Stop()
	}
}

// history is the size of a thread's history, or what a turn adds to it.
type history struct {
	events, tasks, activities, bytes float64
}

// historyTurns are few enough to stay in one run of the thread.
const historyTurns = 5

// history returns the mean of some turns of one thread after its first.
func (c *cluster) history(ctx context.Context, u *stack.User, doc string) (h history, err error) {
	thread := uuid.NewString()
	var before, after history
	for n := range historyTurns + 1 {
		if _, err := u.Turn(ctx, thread, stack.Inquiry(doc, ""), nil); err != nil {
			return h, err
		}
		if n == 0 {
			if before, err = c.read(ctx, thread); err != nil {
				return h, err
			}
		}
	}
	if after, err = c.read(ctx, thread); err != nil {
		return h, err
	}
	return history{(after.events - before.events) / historyTurns, (after.tasks - before.tasks) / historyTurns,
		(after.activities - before.activities) / historyTurns, (after.bytes - before.bytes) / historyTurns}, nil
}

func (c *cluster) read(ctx context.Context, thread string) (h history, err error) {
	id := workflows.ThreadWorkflowID(thread)
	events := c.client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return h, err
		}
		h.events++
		switch e.EventType {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			h.tasks++
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			h.activities++
		default:
		}
	}
	d, err := c.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return h, err
	}
	h.bytes = float64(d.WorkflowExecutionInfo.HistorySizeBytes)
	return h, nil
}

// counts are the totals so far.
type counts struct {
	databases map[string]stack.Statements
	cpu       map[string]time.Duration
	temporal  serverMetrics
}

var databases = []string{database, "temporal", "temporal_visibility"}

func (c *cluster) count(ctx context.Context) (n counts, err error) {
	n.databases, n.cpu = map[string]stack.Statements{}, map[string]time.Duration{}
	for _, name := range databases {
		if n.databases[name], err = c.pg.Statements(ctx, name); err != nil {
			return n, err
		}
	}
	for name, pid := range map[string]int{"API": c.apart.API.Pid(), "worker": c.apart.Worker.Pid(), "Temporal": c.temporal.Pid(), "Postgres": c.pg.Pid()} {
		u, err := stack.UsageOf(pid)
		if err != nil {
			return n, err
		}
		n.cpu[name] = u.CPU
	}
	n.temporal, err = scrape(ctx, c.temporal.Metrics)
	return n, err
}
