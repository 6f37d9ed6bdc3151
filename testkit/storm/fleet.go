package storm

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/testkit/drivetest"
	"github.com/palaver-chat/palaver/testkit/freeport"
)

// fleet is Palaver as in production, each program in its own process: Temporal and
// NATS, workers and APIs, with a database and a model. They connect through links
// that can be cut.
type fleet struct {
	model    *ledger
	desk     *desk
	drive    *drivetest.Server
	infra    *member // Temporal and NATS
	workers  []*member
	apis     []*member
	temporal *network
	nats     *network
	database *network // nil with SQLite
	postgres *url.URL // of the database itself; nil with SQLite
	sqlite   string   // the file; "" with Postgres
	data     string   // the data folder
	users    []*user
	backups  []*backup
	files    int // in the Drive

	later  sync.WaitGroup // what faults have begun; see afterwards
	mu     sync.Mutex
	broken []Violation // found by what faults have begun
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

// openFleet starts everything. Close it even after an error.
func openFleet(ctx context.Context, o Options) (*fleet, error) {
	f := &fleet{drive: drivetest.Open(), data: filepath.Join(o.Dir, "data")}
	var err error
	if f.model, err = openLedger(); err != nil {
		return f, err
	}
	if f.desk, err = openDesk(); err != nil {
		return f, err
	}
	logs := filepath.Join(o.Dir, "logs")
	if err := errors.Join(os.MkdirAll(logs, 0o755), os.MkdirAll(f.data, 0o755)); err != nil {
		return f, err
	}
	if f.infra, err = newMember("infra", o.Server, nil, []string{"LOG_LEVEL=warn"}, logs, infraSays); err != nil {
		return f, err
	}
	f.infra.args = []string{"--only-infra", "--temporal-port=0", "--temporal-ui-port=0", "--data-dir=" + f.data}
	f.infra.args = append(f.infra.args, o.ServerFlags...)
	if err := f.startInfra(ctx, o.Workers); err != nil {
		return f, err
	}
	if err := f.openDatabase(o); err != nil {
		return f, err
	}
	for i := range o.Workers {
		name := "worker" + strconv.Itoa(i+1)
		file := filepath.Join(o.Dir, name+".clock")
		p, err := newMember(name, o.Palaver, []string{"worker", "--clock-file=" + file}, f.environment(o, name, i), logs, roleSays)
		if err != nil {
			return f, err
		}
		p.clock = file
		f.workers = append(f.workers, p)
	}
	for i := range o.APIs {
		name := "api" + strconv.Itoa(i+1)
		args := []string{"api", "--clock-offset=" + clockOffset(o.ClocksApart, i, o.APIs).String()}
		if i == 0 {
			args = append(args, "--continue-after="+strconv.Itoa(continueAfter))
		}
		p, err := newMember(name, o.Palaver, args, f.environment(o, name, -1), logs, roleSays)
		if err != nil {
			return f, err
		}
		f.apis = append(f.apis, p)
	}
	// Start one first: it creates the database's schema.
	if err := f.workers[0].start(ctx); err != nil {
		return f, err
	}
	return f, startAll(ctx, append(f.workers[1:len(f.workers):len(f.workers)], f.apis...))
}

// continueAfter is a history length that a thread reaches every few turns.
const continueAfter = 150

// clockOffset spreads the clocks of n processes evenly over a span around the true
// time.
func clockOffset(span time.Duration, i, n int) time.Duration {
	if n < 2 {
		return 0
	}
	return span*time.Duration(i)/time.Duration(n-1) - span/2
}

const natsToken = "shared-by-the-processes"

// environment is a process's environment; worker is its number, or -1.
func (f *fleet) environment(o Options, name string, worker int) []string {
	env := []string{
		"HOST=127.0.0.1", "PORT=0", "PALAVER_DATA_DIR=" + f.data, "LOG_LEVEL=info", "COOKIE_SECRET=shared-by-the-processes-of-a-test",
		"CHAT_MODEL_PROVIDER=openai-compatible", "CHAT_MODEL_NAME=scripted", "LLM_API_KEY=none", "LLM_BASE_URL=" + f.model.urlFor(name),
		"TEMPORAL_ADDRESS=" + f.temporal.of(worker).Address(), "NATS_URL=nats://" + f.nats.of(worker).Address(), "NATS_TOKEN=" + natsToken,
		"THREAD_IDLE_TIMEOUT=" + idleTimeout.String(),
		"TITLES=off", // their calls belong to no activity, and may be repeated
		"MCP_SERVERS=" + f.desk.servers(), "MCP_JWT_SECRET=shared-with-the-servers", "ALLOW_PRIVATE_ADDRESSES=127.0.0.0/8",
		"GOOGLE_API_KEY=" + drivetest.Key, "GOOGLE_DRIVE_BASE_URL=" + f.drive.URL, "SUPABASE_JWT_SECRET=" + jwtSecret, "REPAIR_INTERVAL=10s",
		"CHAT_RATE_LIMIT=off", "MAX_TURNS_PER_CALLER=100", "MAX_STREAMS_PER_CALLER=1000", "MAX_NEW_THREADS_PER_ADDRESS=off",
		"USER_RATE_LIMIT=off", "CHANGE_RATE_LIMIT=off", "MAX_STREAMS_PER_ADDRESS=0", "QUOTA_PER_ADDRESS=off",
	}
	if f.database != nil {
		u := *f.postgres
		u.Host = f.database.of(worker).Address()
		env = append(env, "DATABASE_URL="+u.String())
	}
	return env
}

// openDatabase finds the SQLite file, or opens links to Postgres.
func (f *fleet) openDatabase(o Options) (err error) {
	if o.DatabaseURL == "" {
		f.sqlite = filepath.Join(f.data, "palaver.db")
		return nil
	}
	if f.postgres, err = url.Parse(o.DatabaseURL); err != nil {
		return errors.New("the database's URL cannot be read")
	}
	host := f.postgres.Host
	if f.postgres.Port() == "" {
		host = net.JoinHostPort(f.postgres.Hostname(), "5432")
	}
	f.database, err = openNetwork(host, o.Workers)
	return err
}

// startInfra starts Temporal and NATS on new ports and points the links there.
func (f *fleet) startInfra(ctx context.Context, workers int) (err error) {
	port, err := freeport.Get()
	if err != nil {
		return err
	}
	args := f.infra.args
	f.infra.args = append(args[:len(args):len(args)], "--nats-port="+strconv.Itoa(port), "--nats-token="+natsToken)
	err = f.infra.start(ctx)
	f.infra.args = args
	if err != nil {
		return err
	}
	for to, name := range map[**network]string{&f.temporal: "temporal", &f.nats: "nats"} {
		target := strings.TrimSuffix(f.infra.address(name), "/")
		if *to != nil {
			(*to).to(target)
		} else if *to, err = openNetwork(target, workers); err != nil {
			return err
		}
	}
	return nil
}

// api is the address of a running API process, chosen by n; "" when none runs.
func (f *fleet) api(n int) string {
	for i := range f.apis {
		p := f.apis[(n+i)%len(f.apis)]
		if _, ok := p.runs(); ok {
			return p.address("address")
		}
	}
	return ""
}

// restart starts all processes that do not run.
func (f *fleet) restart(ctx context.Context) error {
	if _, ok := f.infra.runs(); !ok {
		if err := f.startInfra(ctx, len(f.workers)); err != nil {
			return err
		}
	}
	return startAll(ctx, append(f.workers[:len(f.workers):len(f.workers)], f.apis...))
}

// startAll starts, concurrently, those that do not run.
func startAll(ctx context.Context, all []*member) error {
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

// afterwards runs do while the storm goes on. Its error is a violation.
func (f *fleet) afterwards(ctx context.Context, timeout time.Duration, kind string, do func(context.Context) error) {
	f.later.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := do(ctx); err != nil {
			f.violated(kind, err)
		}
	})
}

func (f *fleet) violated(kind string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = append(f.broken, Violation{kind, err.Error()})
}

// processes are all that run Palaver, Temporal first.
func (f *fleet) processes() []*member {
	return append(append([]*member{f.infra}, f.workers...), f.apis...)
}

func killAll(all ...*member) {
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
	for _, n := range []*network{f.temporal, f.nats, f.database} {
		n.close()
	}
	if f.model != nil {
		f.model.close()
	}
	if f.desk != nil {
		f.desk.close()
	}
	f.drive.Close()
}

// idleTimeout is short, so that threads complete and start again during the storm.
const idleTimeout = 5 * time.Second
