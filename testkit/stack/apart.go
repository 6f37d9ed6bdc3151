package stack

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/palaver-chat/palaver/testkit/freeport"
)

// Binaries are the paths of Palaver's two programs; make build builds them.
type Binaries struct {
	Standalone string // runs everything in one process
	Palaver    string // runs one role, such as the API or a worker
}

// Apart runs Palaver as in production, but on one host: one process each for Temporal with
// NATS, for the API and for the worker. Temporal is the embedded server.
type Apart struct {
	URL           string // of the API
	Infra         *Program
	API           *Program
	Worker        *Program
	apis, workers []*Program // further ones

	binaries Binaries
	env      []string // of the roles
	data     string
}

const natsToken = "shared-by-the-processes"

// limitsOff disables the limits that a benchmark would exceed.
var limitsOff = []string{"CHAT_RATE_LIMIT=off", "MAX_NEW_THREADS_PER_ADDRESS=off", "MAX_TURNS_PER_CALLER=0", "MAX_STREAMS_PER_CALLER=0",
	"USER_RATE_LIMIT=off", "CHANGE_RATE_LIMIT=off", "MAX_STREAMS_PER_ADDRESS=0", "QUOTA_PER_CALLER=off", "QUOTA_PER_ADDRESS=off", "QUOTA_ANONYMOUS=off"}

// modelEnv returns the settings for a model at url, or for the offline engine if url is
// empty. The model writes no titles, because the systems that Palaver is compared with have
// none.
func modelEnv(url string) []string {
	if url == "" {
		return []string{"CHAT_MODEL_PROVIDER=offline"}
	}
	return []string{"CHAT_MODEL_PROVIDER=openai-compatible", "CHAT_MODEL_NAME=scripted", "LLM_API_KEY=none", "LLM_BASE_URL=" + url, "TITLES=off"}
}

// StartApart starts all processes with a database and a model; env has further settings.
// A TEMPORAL_ADDRESS in env replaces the embedded Temporal. The caller must Stop the result.
func StartApart(ctx context.Context, b Binaries, databaseURL, modelURL string, env ...string) (_ *Apart, err error) {
	a := &Apart{binaries: b}
	defer func() {
		if err != nil {
			a.Stop()
		}
	}()
	if a.data, err = os.MkdirTemp("", "palaver-bench-"); err != nil {
		return nil, err
	}
	var temporal, nats string
	if a.Infra, temporal, nats, err = RunInfra(ctx, b.Standalone, a.data); err != nil {
		return nil, err
	}
	port, err := freeport.Get()
	if err != nil {
		return nil, err
	}
	a.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	a.env = append(Environment(databaseURL, temporal, nats, modelURL), append([]string{"PORT=" + strconv.Itoa(port),
		"PALAVER_DATA_DIR=" + filepath.Join(a.data, "data")}, env...)...)
	if err := a.StartWorker(ctx); err != nil { // before the API, because the worker creates the schema
		return nil, err
	}
	if a.API, err = Run(a.data, a.env, b.Palaver, "api"); err != nil {
		return nil, err
	}
	return a, a.API.Answers(ctx, a.URL+"/readyz")
}

// RunInfra runs the standalone program with only Temporal and NATS, and returns their
// addresses. The caller must Stop the program, unless there is an error.
func RunInfra(ctx context.Context, standalone, data string, env ...string) (p *Program, temporal, nats string, err error) {
	ports := make([]int, 2)
	for i := range ports {
		if ports[i], err = freeport.Get(); err != nil {
			return nil, "", "", err
		}
	}
	p, err = Run(data, append(env, "LOG_LEVEL=warn"), standalone, "--only-infra", "--temporal-port="+strconv.Itoa(ports[0]),
		"--temporal-ui-port=0", "--nats-port="+strconv.Itoa(ports[1]), "--nats-token="+natsToken, "--data-dir="+filepath.Join(data, "infra"))
	if err != nil {
		return nil, "", "", err
	}
	if err := p.Says(ctx, "Ctrl-C"); err != nil {
		p.Stop()
		return nil, "", "", err
	}
	return p, local(ports[0]), local(ports[1]), nil
}

func local(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// Environment returns the settings that API and worker share: what they connect to, the
// model, and limits that are switched off.
func Environment(databaseURL, temporal, nats, modelURL string) []string {
	return append([]string{"HOST=127.0.0.1", "LOG_LEVEL=info", "COOKIE_SECRET=shared-by-the-processes-of-a-test", "DATABASE_URL=" + databaseURL,
		"TEMPORAL_ADDRESS=" + temporal, "NATS_URL=nats://" + nats, "NATS_TOKEN=" + natsToken}, append(modelEnv(modelURL), limitsOff...)...)
}

// StartWorker starts or restarts the worker and returns when it is ready.
func (a *Apart) StartWorker(ctx context.Context) (err error) {
	if a.Worker, err = Run(a.data, a.env, a.binaries.Palaver, "worker"); err != nil {
		return err
	}
	return a.Worker.Says(ctx, "msg=ready")
}

// AddWorker starts a further worker and returns when it is ready.
func (a *Apart) AddWorker(ctx context.Context) error {
	p, err := Run(a.data, a.env, a.binaries.Palaver, "worker")
	if err != nil {
		return err
	}
	a.workers = append(a.workers, p)
	return p.Says(ctx, "msg=ready")
}

// AddAPI starts a further API and returns its address when it is ready.
func (a *Apart) AddAPI(ctx context.Context) (url string, err error) {
	port, err := freeport.Get()
	if err != nil {
		return "", err
	}
	p, err := Run(a.data, append(slices.Clone(a.env), "PORT="+strconv.Itoa(port)), a.binaries.Palaver, "api")
	if err != nil {
		return "", err
	}
	a.apis = append(a.apis, p)
	url = "http://127.0.0.1:" + strconv.Itoa(port)
	return url, p.Answers(ctx, url+"/readyz")
}

// Stop stops every process and removes their files.
func (a *Apart) Stop() {
	for _, p := range slices.Concat(a.apis, a.workers, []*Program{a.API, a.Worker, a.Infra}) {
		if p != nil {
			p.Stop()
		}
	}
	_ = os.RemoveAll(a.data)
}

// Parts returns the ids of the processes by what they run.
func (a *Apart) Parts() map[string][]int {
	parts := map[string][]int{"Temporal and NATS": {a.Infra.Pid()}, "API": {a.API.Pid()}, "worker": {a.Worker.Pid()}}
	for _, p := range a.apis {
		parts["API"] = append(parts["API"], p.Pid())
	}
	for _, p := range a.workers {
		parts["worker"] = append(parts["worker"], p.Pid())
	}
	return parts
}

// NewUser creates a new anonymous user.
func (a *Apart) NewUser() (*User, error) { return NewUser(a.URL) }

// Follow opens the stream of a thread's current turn. The caller closes the body.
func (u *User) Follow(ctx context.Context, thread string) (*http.Response, error) {
	resp, err := u.Get(ctx, "/api/chat/stream/"+thread+"?follow=turn")
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(errors.New("follow the thread: status "+resp.Status), resp.Body.Close())
	}
	return resp, nil
}
