package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/stack"
)

// system is one way to run the documents agent's turn.
type system struct {
	name  string
	what  string // for the table
	waits int    // structured and streamed calls to the model that a turn's first token waits for, one after another
	start func(ctx context.Context, b *bench) (*running, error)
}

// floor is the name of the system that says what a turn costs at least.
const floor = "temporal"

// systems are in the order of the table. Palaver, langgraph-parallel and dbos resolve
// action and documents concurrently. The other LangGraph.js graphs run one node after
// the other, as such a graph is usually built.
var systems = []system{
	{"palaver", "Palaver, one command (embedded Temporal, SQLite)", 2, startPalaver},
	{"palaver-apart", "Palaver, processes apart on Postgres (embedded Temporal)", 2, startApart},
	{"palaver-apart-2", "the same with two APIs and two workers", 2, startTwoApart},
	{"langgraph", "LangGraph.js, model by @langchain/openai", 3, langGraph("langchain", "")},
	{"langgraph-lean", "LangGraph.js, model by fetch", 3, langGraph("fetch", "")},
	{"langgraph-parallel", "LangGraph.js, model by fetch, resolvers side by side", 2, langGraph("fetch", "side-by-side")},
	{"dbos", "DBOS Transact (Go), resolvers side by side", 2, startDBOS},
	{floor, "Temporal alone: the tasks, activities and look-ups of Palaver's turn without their work", 2, startBare},
}

func names() []string {
	var all []string
	for _, s := range systems {
		all = append(all, s.name)
	}
	return all
}

// running is a system that was started.
type running struct {
	system   system
	document string // id of the benchmark's document
	caller   asker
	upload   func(ctx context.Context, title, text string) (id string, err error)
	parts    func() map[string][]int         // ids of the processes by what they run
	another  func(ctx context.Context) error // starts another worker; nil: there are none
	said     []func() string                 // return the end of each program's output
	stop     func()
}

// asker sends turns, including one that asks a question.
type asker interface {
	stack.Caller
	// Asks sends a message whose turn asks for a document, and answers it.
	Asks(ctx context.Context, thread, document string) error
}

// usage returns what each part has used so far.
func (r *running) usage() (map[string]stack.Usage, error) {
	used := map[string]stack.Usage{}
	for part, pids := range r.parts() {
		u, err := stack.UsageOf(pids...)
		if err != nil {
			return nil, err
		}
		used[part] = u
	}
	return used, nil
}

// cpuSince returns the CPU time of each part and of all since before, in milliseconds a turn.
func (r *running) cpuSince(before map[string]stack.Usage, turns int) (of map[string]float64, all float64, err error) {
	after, err := r.usage()
	of = map[string]float64{}
	for part, u := range after {
		of[part] = ms(u.CPU-before[part].CPU) / float64(turns)
		all += of[part]
	}
	return of, all, err
}

// one returns the parts of a system that is not measured in parts.
func one(pids ...int) func() map[string][]int {
	return func() map[string][]int { return map[string][]int{"": pids} }
}

// logs returns the end of the programs' output as an error, if there is any.
func (r *running) logs() error {
	var all []error
	for _, said := range r.said {
		if text := said(); text != "" {
			all = append(all, fmt.Errorf("output: %s", text[max(0, len(text)-shownOutput):]))
		}
	}
	return errors.Join(all...)
}

// shownOutput is how much of a program's output an error includes, in bytes.
const shownOutput = 2000

func startPalaver(ctx context.Context, b *bench) (*running, error) {
	var log stack.Tail
	s, err := stack.StartOn(ctx, b.binaries.Standalone, b.model.URL, &log)
	if err != nil {
		return nil, err
	}
	u, err := s.NewUser()
	if err != nil {
		s.Stop()
		return nil, err
	}
	return &running{caller: palaverCaller{u}, upload: u.UploadText, parts: one(s.Pid()), said: []func() string{log.String}, stop: s.Stop}, nil
}

func startApart(ctx context.Context, b *bench) (*running, error) { return startRoles(ctx, b, false) }

func startTwoApart(ctx context.Context, b *bench) (*running, error) { return startRoles(ctx, b, true) }

// startRoles starts Palaver's processes, two APIs and two workers if two is true.
func startRoles(ctx context.Context, b *bench, two bool) (*running, error) {
	pg, url, err := database(ctx)
	if err != nil {
		return nil, err
	}
	a, err := stack.StartApart(ctx, b.binaries, url, b.model.URL)
	if err != nil {
		pg.Stop()
		return nil, err
	}
	stop := func() { a.Stop(); pg.Stop() }
	u, err := a.NewUser()
	if err != nil {
		stop()
		return nil, err
	}
	parts := func() map[string][]int {
		parts := a.Parts()
		parts["Postgres"] = []int{pg.Pid()}
		return parts
	}
	r := &running{caller: palaverCaller{u}, upload: u.UploadText, parts: parts, another: a.AddWorker,
		said: []func() string{a.Infra.Said, a.API.Said, a.Worker.Said}, stop: stop}
	if !two {
		return r, nil
	}
	url, err = a.AddAPI(ctx)
	if err == nil {
		err = a.AddWorker(ctx)
	}
	if err != nil {
		stop()
		return nil, err
	}
	r.caller, r.another = &alternating{palaverCaller: palaverCaller{u}, second: u.At(url)}, nil
	return r, nil
}

// poolSize is the number of database connections of a peer; more made no difference.
const poolSize = "20"

const peers = "peers"

func langGraph(client, resolvers string) func(context.Context, *bench) (*running, error) {
	return func(ctx context.Context, b *bench) (*running, error) {
		return startPeer(ctx, b, &langGraphCaller{}, filepath.Join(peers, "langgraph"),
			[]string{"NODE_ENV=production", "MODEL_CLIENT=" + client, "RESOLVERS=" + resolvers, "POOL_SIZE=" + poolSize}, "node", "server.js")
	}
}

func startDBOS(ctx context.Context, b *bench) (*running, error) {
	return startPeer(ctx, b, &dbosCaller{}, "", nil, b.dbos)
}

// peer is a caller of a peer's server.
type peer interface {
	asker
	at(url string)
	Upload(ctx context.Context, title, text string) (string, error)
}

func startPeer(ctx context.Context, b *bench, c peer, dir string, env []string, path string, args ...string) (*running, error) {
	pg, url, err := database(ctx)
	if err != nil {
		return nil, err
	}
	port, err := freeport.Get()
	if err != nil {
		pg.Stop()
		return nil, err
	}
	prompts, err := filepath.Abs("../agents/documents/prompt")
	if err != nil {
		pg.Stop()
		return nil, err
	}
	env = append(env, "PORT="+strconv.Itoa(port), "DATABASE_URL="+url, "LLM_BASE_URL="+b.model.URL, "PROMPTS_DIR="+prompts)
	p, err := stack.Run(dir, env, path, args...)
	if err != nil {
		pg.Stop()
		return nil, err
	}
	stop := func() { p.Stop(); pg.Stop() }
	address := "http://127.0.0.1:" + strconv.Itoa(port)
	if err := p.Answers(ctx, address+"/healthz"); err != nil {
		stop()
		return nil, err
	}
	c.at(address)
	return &running{caller: c, upload: c.Upload, parts: one(p.Pid(), pg.Pid()), said: []func() string{p.Said}, stop: stop}, nil
}

// database starts a Postgres for one system. Commits do not wait for the disk, as with the
// one command's SQLite.
func database(ctx context.Context) (*stack.Postgres, string, error) {
	pg, err := stack.StartPostgres(ctx, stack.LikeSQLite)
	if err != nil {
		return nil, "", err
	}
	url, err := pg.Database(ctx, "bench")
	if err != nil {
		pg.Stop()
		return nil, "", err
	}
	return pg, url, nil
}
