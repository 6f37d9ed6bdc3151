package stacktest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/testlog"
)

// Apart is Palaver as in production, on one host: Temporal and NATS in one process,
// and any number of API and worker processes on one database.
type Apart struct {
	Servers *Process // Temporal and NATS; it has no page

	t     testing.TB
	flags []string
}

const natsToken = "shared-by-the-processes"

// StartApart starts Temporal and NATS. The options apply to the roles that API and
// Worker start. Without another database the roles share one SQLite file.
func StartApart(t testing.TB, options ...Option) *Apart {
	t.Helper()
	a := &Apart{t: t}
	port, err := freeport.Get()
	require.NoError(t, err)
	a.Servers = StartProcess(t, Flag("only-infra", "true"), Flag("nats-port", strconv.Itoa(port)), Flag("nats-token", natsToken))
	a.flags = append(roleFlags(t.TempDir(), options),
		"--temporal-address="+a.Servers.Temporal, "--nats-url="+a.Servers.NATS, "--nats-token="+natsToken,
		"--cookie-secret=shared-by-the-processes-of-a-test", "--log-level=info")
	return a
}

// Role is one API or worker process.
type Role struct {
	URL string // of page and API; empty for a worker; unchanged by a restart

	child
	own   settings // binary and environment
	flags []string
	log   *testlog.Buffer
}

// API starts an API process with further options.
func (a *Apart) API(options ...Option) *Role { return a.role("api", options) }

// Serve starts a process with API and worker, with further options.
func (a *Apart) Serve(options ...Option) *Role { return a.role("serve", options) }

// Run runs another palaver command and returns its output.
func (a *Apart) Run(command string, options ...Option) string {
	a.t.Helper()
	own := settings{}
	own.apply(options)
	out, err := exec.Command(own.binary, slices.Concat([]string{command}, a.flags, own.flags)...).CombinedOutput()
	require.NoError(a.t, err, "%s", out)
	return string(out)
}

// Worker starts a worker process with further options.
func (a *Apart) Worker(options ...Option) *Role { return a.role("worker", options) }

func (a *Apart) role(name string, options []Option) *Role {
	a.t.Helper()
	own := settings{}
	own.apply(options)
	r := &Role{child: child{t: a.t}, own: own, flags: slices.Concat([]string{name}, a.flags, []string{keptPort()}, own.flags), log: captureLog(a.t)}
	a.t.Cleanup(r.Kill)
	r.Start()
	return r
}

// NewUser returns a client for a new anonymous user, the same at every API process.
func (a *Apart) NewUser() *http.Client { return newClient(a.t) }

var (
	readyLine   = regexp.MustCompile(`msg=ready\b`)
	addressPart = regexp.MustCompile(`address=(http://\S+)`)
)

// Start starts the process after Kill or Stop and returns when it is ready.
func (r *Role) Start() {
	r.t.Helper()
	ready := make(chan struct{})
	var once sync.Once
	lines := &lineWriter{line: func(line string) {
		if readyLine.MatchString(line) {
			once.Do(func() {
				if m := addressPart.FindStringSubmatch(line); m != nil {
					r.URL = m[1]
				}
				close(ready)
			})
		}
	}}
	command := self(r.t, rolesProgram, r.flags)
	if r.own.binary != "" {
		command = exec.Command(r.own.binary, r.flags...)
		command.Env = append(os.Environ(), r.own.env...)
	}
	r.start(command, nil, io.MultiWriter(r.log, lines), ready)
}

// Kill sends SIGKILL and waits.
func (r *Role) Kill() { r.kill() }

// Stop sends SIGTERM, waits and returns the exit code.
func (r *Role) Stop() int {
	r.t.Helper()
	return r.stop()
}

// Freeze sends SIGSTOP: connections stay open but nothing responds.
func (r *Role) Freeze() {
	r.t.Helper()
	require.NoError(r.t, r.running().Freeze())
}

// Thaw continues the process after Freeze.
func (r *Role) Thaw() {
	r.t.Helper()
	require.NoError(r.t, r.running().Thaw())
}

// Health runs the container's health check with r's settings and returns its exit
// code. r does not have to run.
func (r *Role) Health(role string) int {
	r.t.Helper()
	command := self(r.t, rolesProgram, append([]string{"health", role}, r.flags[1:]...))
	command.Stderr = r.log
	err := command.Run()
	require.True(r.t, err == nil || errors.As(err, new(*exec.ExitError)), "%v", err)
	return command.ProcessState.ExitCode()
}

// Logged returns the log so far.
func (r *Role) Logged() string { return r.log.String() }
