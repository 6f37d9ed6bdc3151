//go:build long

package topology

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/palaver-chat/palaver/standalone/stacktest"
	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/relay"
	"github.com/palaver-chat/palaver/testkit/stack"
)

const (
	database = "palaver"
	shards   = 16
	people   = 4 // who talk at once
	// drainDelay is long enough for a probe and a request on a busy machine.
	drainDelay = 10 * time.Second
	// waitLimit is the timeout of every wait, long enough for a busy machine.
	waitLimit = 2 * time.Minute
)

// system is the whole installation. The roles connect to Postgres, Temporal and NATS
// through links that can be cut.
type system struct {
	program     string // path of the test binary
	standalone  string // variable that makes it the one-process program
	dir         string
	model       *llmtest.Server
	pg          *stack.Postgres
	databaseURL string // of Palaver's database, without a link
	temporal    *temporalServer
	infra       *stack.Program // NATS
	links       struct{ database, temporal, nats *relay.Link }
	role        string // variable that makes it a role
	env         []string
	settings    []string // added to env at the next start of a role
	roles       []*role  // workers, then APIs
	people      []*person
}

// role is a process of Palaver.
type role struct {
	name    string // api or worker
	url     string // of its probes
	env     []string
	program *stack.Program
}

func start(t *testing.T) (s *system, err error) {
	ctx := t.Context()
	s = &system{dir: t.TempDir()}
	s.program, s.standalone, s.role = stacktest.Programs(t)
	// The model is so slow that answers are being written at every restart.
	if s.model, err = llmtest.Listen("127.0.0.1:0", llmtest.Pace{Tokens: 20, PerToken: 20 * time.Millisecond}); err != nil {
		return s, err
	}
	if s.pg, err = stack.StartPostgres(ctx, stack.LikeSQLite); err != nil {
		return s, err
	}
	if s.databaseURL, err = s.pg.Database(ctx, database); err != nil {
		return s, err
	}
	if s.temporal, err = s.startTemporal(ctx); err != nil {
		return s, err
	}
	var nats string
	if s.infra, _, nats, err = stack.RunInfra(ctx, s.program, s.dir, s.standalone); err != nil {
		return s, err
	}
	if err := s.openLinks(nats); err != nil {
		return s, err
	}
	return s, s.startRoles(ctx)
}

func (s *system) startTemporal(ctx context.Context) (*temporalServer, error) {
	settings := filepath.Join(s.dir, "dynamicconfig.yaml")
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		return nil, err
	}
	return startTemporalServer(ctx, s.program, s.pg, settings)
}

func (s *system) openLinks(nats string) error {
	server, err := url.Parse(s.pg.URL)
	if err != nil {
		return err
	}
	for link, target := range map[**relay.Link]string{&s.links.database: server.Host, &s.links.temporal: s.temporal.address, &s.links.nats: nats} {
		if *link, err = relay.New(target); err != nil {
			return err
		}
	}
	server.Host, server.Path = s.links.database.Address(), "/"+database
	s.env = append(stack.Environment(server.String(), s.links.temporal.Address(), s.links.nats.Address(), s.model.URL),
		s.role, "PALAVER_DATA_DIR="+filepath.Join(s.dir, "data"),
		"LLM_FIRST_BYTE_TIMEOUT=120s") // answers are held back from one backup to the next
	return nil
}

func (s *system) startRoles(ctx context.Context) error {
	for _, name := range []string{"worker", "worker", "api", "api"} {
		port, err := freeport.Get()
		if err != nil {
			return err
		}
		r := &role{name: name, url: "http://127.0.0.1:" + strconv.Itoa(port)}
		if name == "api" {
			r.env = append(s.env[:len(s.env):len(s.env)], "PORT="+strconv.Itoa(port))
		} else {
			r.env = append(s.env[:len(s.env):len(s.env)], "WORKER_METRICS_PORT="+strconv.Itoa(port))
		}
		s.roles = append(s.roles, r)
	}
	return s.startAll(ctx)
}

// startAll starts the roles that are not running, one after another; the first worker
// creates the schema.
func (s *system) startAll(ctx context.Context) error {
	for _, r := range s.roles {
		if r.program == nil {
			if err := s.startRole(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// startRole starts a process and waits until it is ready.
func (s *system) startRole(ctx context.Context, r *role) (err error) {
	if r.program, err = stack.Run(s.dir, append(r.env[:len(r.env):len(r.env)], s.settings...), s.program, r.name); err != nil {
		return err
	}
	return r.program.Answers(ctx, r.url+"/readyz")
}

// stop stops a process as a supervisor does: SIGTERM, then a wait. An exit code other than
// 0 is an error.
func (r *role) stop() error {
	code := r.program.Process.Stop(syscall.SIGTERM, waitLimit)
	said := r.program.Said()
	r.program = nil
	if code != 0 {
		return fmt.Errorf("%s ended with code %d: %s", r.name, code, said)
	}
	return nil
}

// health runs the command of a container's health check and returns its error.
func (s *system) health(ctx context.Context, r *role) error {
	p, err := stack.Run(s.dir, r.env, s.program, "health", r.name)
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		p.Kill()
		return ctx.Err()
	}
	if code := p.Process.Stop(syscall.SIGTERM, 0); code != 0 {
		return fmt.Errorf("exit code %d: %s", code, p.Said())
	}
	return nil
}

func (s *system) apis() []*role    { return s.roles[2:] }
func (s *system) workers() []*role { return s.roles[:2] }

// probe returns the status of a probe and the parts that it reports as down.
func (r *role) probe(ctx context.Context, path string) (status int, down []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct{ Down []string }
	err = json.NewDecoder(resp.Body).Decode(&said)
	return resp.StatusCode, said.Down, err
}

// await polls until reached returns true, or returns an error after waitLimit.
func await(ctx context.Context, what string, reached func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for !reached() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %s", what, waitLimit)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// said returns the last 4,000 bytes of the output of each running process.
func (s *system) said() string {
	var b strings.Builder
	for _, r := range s.roles {
		if r.program != nil {
			said := r.program.Said()
			fmt.Fprintf(&b, "--- %s %s\n%s\n", r.name, r.url, said[max(0, len(said)-4000):])
		}
	}
	return b.String()
}

func (s *system) stop() {
	for _, r := range s.roles {
		if r.program != nil {
			r.program.Stop()
		}
	}
	for _, p := range []*stack.Program{s.infra, s.temporalProgram()} {
		if p != nil {
			p.Stop()
		}
	}
	for _, l := range []*relay.Link{s.links.database, s.links.temporal, s.links.nats} {
		if l != nil {
			l.Close()
		}
	}
	if s.pg != nil {
		s.pg.Stop()
	}
	if s.model != nil {
		s.model.Close()
	}
}

func (s *system) temporalProgram() *stack.Program {
	if s.temporal == nil {
		return nil
	}
	return s.temporal.Program
}
