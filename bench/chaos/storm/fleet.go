package storm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/bench/stack"
)

// fleet is the whole of Palaver as in production, each program in a process of
// its own: Temporal and NATS, workers and APIs, before a database and a model.
// Between them run links that can be cut.
type fleet struct {
	model    *ledger
	desk     *desk
	infra    *process // Temporal and NATS
	workers  []*process
	apis     []*process
	temporal *stack.Link
	nats     *stack.Link
	database *stack.Link // nil with SQLite
	sqlite   string      // the file; "" with Postgres
}

var (
	infraSays = map[string]*regexp.Regexp{
		"temporal": regexp.MustCompile(`Temporal \(gRPC\)\s+(\S+)`),
		"nats":     regexp.MustCompile(`NATS\s+nats://(\S+)`),
		"ready":    regexp.MustCompile(`^(Ctrl-C)`),
	}
	roleSays = map[string]*regexp.Regexp{
		"ready":   regexp.MustCompile(`msg=(ready)\b`),
		"address": regexp.MustCompile(`msg=ready\b.*address=(http://\S+)`),
	}
)

// openFleet starts everything; close it, whatever comes back.
func openFleet(ctx context.Context, o Options) (*fleet, error) {
	f := &fleet{}
	var err error
	if f.model, err = openLedger(); err != nil {
		return f, err
	}
	if f.desk, err = openDesk(); err != nil {
		return f, err
	}
	logs, data := filepath.Join(o.Dir, "logs"), filepath.Join(o.Dir, "data")
	if err := errors.Join(os.MkdirAll(logs, 0o755), os.MkdirAll(data, 0o755)); err != nil {
		return f, err
	}
	if f.infra, err = newProcess("infra", o.Server, nil, []string{"LOG_LEVEL=warn"}, logs, infraSays); err != nil {
		return f, err
	}
	f.infra.args = []string{"--only-infra", "--temporal-port=0", "--temporal-ui-port=0", "--data-dir=" + filepath.Join(o.Dir, "infra")}
	if err := f.startInfra(ctx); err != nil {
		return f, err
	}
	env, err := f.environment(o, data)
	if err != nil {
		return f, err
	}
	for _, role := range []struct {
		name string
		n    int
		list *[]*process
	}{{"worker", o.Workers, &f.workers}, {"api", o.APIs, &f.apis}} {
		for i := range role.n {
			p, err := newProcess(role.name+strconv.Itoa(i+1), o.Palaver, []string{role.name}, env, logs, roleSays)
			if err != nil {
				return f, err
			}
			*role.list = append(*role.list, p)
		}
	}
	// One first: it makes the database's schema.
	if err := f.workers[0].start(ctx); err != nil {
		return f, err
	}
	return f, startAll(ctx, append(f.workers[1:len(f.workers):len(f.workers)], f.apis...))
}

// environment is what the roles are told.
func (f *fleet) environment(o Options, data string) ([]string, error) {
	env := []string{
		"HOST=127.0.0.1", "PORT=0", "PALAVER_DATA_DIR=" + data, "LOG_LEVEL=info", "COOKIE_SECRET=shared-by-the-processes",
		"CHAT_MODEL_PROVIDER=openai-compatible", "CHAT_MODEL_NAME=scripted", "LLM_API_KEY=none", "LLM_BASE_URL=" + f.model.url,
		"TEMPORAL_ADDRESS=" + f.temporal.Address(), "NATS_URL=nats://" + f.nats.Address(),
		"THREAD_IDLE_TIMEOUT=" + idleTimeout.String(),
		"MCP_SERVERS=" + f.desk.servers(), "MCP_JWT_SECRET=shared-with-the-servers", "ALLOW_PRIVATE_ADDRESSES=127.0.0.0/8",
		"CHAT_RATE_LIMIT=off", "MAX_TURNS_PER_CALLER=100", "MAX_STREAMS_PER_CALLER=1000", "MAX_NEW_THREADS_PER_ADDRESS=off",
	}
	if o.DatabaseURL == "" {
		f.sqlite = filepath.Join(data, "palaver.db")
		return env, nil
	}
	u, err := url.Parse(o.DatabaseURL)
	if err != nil {
		return nil, errors.New("the database's URL cannot be read")
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "5432")
	}
	if f.database, err = stack.NewLink(host); err != nil {
		return nil, err
	}
	u.Host = f.database.Address()
	return append(env, "DATABASE_URL="+u.String()), nil
}

// startInfra starts Temporal and NATS on new ports and leads the links there.
func (f *fleet) startInfra(ctx context.Context) (err error) {
	port, err := freePort()
	if err != nil {
		return err
	}
	args := f.infra.args
	f.infra.args = append(args[:len(args):len(args)], "--nats-port="+strconv.Itoa(port))
	err = f.infra.start(ctx)
	f.infra.args = args
	if err != nil {
		return err
	}
	for link, name := range map[**stack.Link]string{&f.temporal: "temporal", &f.nats: "nats"} {
		target := strings.TrimSuffix(f.infra.address(name), "/")
		if *link != nil {
			(*link).To(target)
		} else if *link, err = stack.NewLink(target); err != nil {
			return err
		}
	}
	return nil
}

// api is an API process that is there, n counting around them; "" when none is.
func (f *fleet) api(n int) string {
	for i := range f.apis {
		p := f.apis[(n+i)%len(f.apis)]
		if _, ok := p.runs(); ok {
			return p.address("address")
		}
	}
	return ""
}

// mend starts whatever does not run.
func (f *fleet) mend(ctx context.Context) error {
	if _, ok := f.infra.runs(); !ok {
		if err := f.startInfra(ctx); err != nil {
			return err
		}
	}
	return startAll(ctx, append(f.workers[:len(f.workers):len(f.workers)], f.apis...))
}

// startAll starts, side by side, those that do not run.
func startAll(ctx context.Context, all []*process) error {
	failures := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		if _, ok := p.runs(); !ok {
			wg.Go(func() { failures[i] = p.start(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(failures...)
}

func killAll(all ...*process) {
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(p.kill)
	}
	wg.Wait()
}

func (f *fleet) close() {
	killAll(append(f.workers[:len(f.workers):len(f.workers)], f.apis...)...)
	if f.infra != nil {
		f.infra.kill()
	}
	for _, l := range []*stack.Link{f.temporal, f.nats, f.database} {
		if l != nil {
			l.Close()
		}
	}
	if f.model != nil {
		f.model.close()
	}
	if f.desk != nil {
		f.desk.close()
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// idleTimeout is short, so that threads complete and begin anew in the storm.
const idleTimeout = 5 * time.Second
