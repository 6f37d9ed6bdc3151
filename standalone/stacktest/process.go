package stacktest

import (
	"errors"
	"log/slog"
	"net/http"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/palaver-chat/palaver/standalone/embedded"
	"github.com/palaver-chat/palaver/testkit/testlog"
)

// Process is Palaver in its own process. It can be killed and restarted with the
// same data and ports.
type Process struct {
	URL      string       // of page and API; empty with the flag only-infra
	Temporal string       // host:port of its Temporal server
	NATS     string       // URL of its NATS server; empty without a port for it
	Dir      string       // data folder
	Client   *http.Client // keeps its cookie: one anonymous user

	child
	flags []string
	env   []string
	log   *testlog.Buffer
}

// StartProcess starts a process that ends with the test.
func StartProcess(t testing.TB, options ...Option) *Process {
	t.Helper()
	dir := t.TempDir()
	p := &Process{Dir: dir, Client: newClient(t), child: child{t: t}, flags: flags(dir, options), env: variables(options), log: captureLog(t)}
	t.Cleanup(p.Kill)
	p.Start()
	return p
}

var (
	pageLine     = regexp.MustCompile(`page and API\s+(http://\S+)`)
	temporalLine = regexp.MustCompile(`Temporal \(gRPC\)\s+(\S+)`)
	natsLine     = regexp.MustCompile(`NATS\s+(nats://\S+)`)
	lastLine     = regexp.MustCompile(`^Ctrl-C`)
)

// Start starts the process after Kill or Stop and returns when it is ready.
func (p *Process) Start() {
	p.t.Helper()
	ready := make(chan struct{})
	banner := &lineWriter{line: func(line string) {
		for pattern, value := range map[*regexp.Regexp]*string{pageLine: &p.URL, temporalLine: &p.Temporal, natsLine: &p.NATS} {
			if m := pattern.FindStringSubmatch(line); m != nil {
				*value = m[1]
			}
		}
		if lastLine.MatchString(line) {
			close(ready)
		}
	}}
	command := self(p.t, standaloneProgram, p.flags)
	command.Env = append(command.Env, p.env...)
	p.start(command, banner, p.log, ready)
}

// Kill sends SIGKILL and waits: no graceful shutdown.
func (p *Process) Kill() {
	p.kill()
	p.Client.CloseIdleConnections()
}

// Stop sends SIGTERM, waits and returns the exit code.
func (p *Process) Stop() int {
	p.t.Helper()
	defer p.Client.CloseIdleConnections()
	return p.stop()
}

// NewUser returns a client for a new anonymous user.
func (p *Process) NewUser() *http.Client { return newClient(p.t) }

// TemporalClient connects to the process's Temporal server.
func (p *Process) TemporalClient() client.Client {
	p.t.Helper()
	c, err := client.Dial(client.Options{HostPort: p.Temporal, Namespace: embedded.Namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// Repair runs palaver repair on the process's databases and returns the exit code
// and the output. The process does not have to run.
func (p *Process) Repair(flags ...string) (code int, said string) {
	p.t.Helper()
	return p.Palaver(append([]string{"repair"}, flags...)...)
}

// Palaver runs a command of the program palaver with the process's data folder and
// Temporal server, and returns the exit code and the output. The process does not have to
// run.
func (p *Process) Palaver(args ...string) (code int, said string) {
	p.t.Helper()
	command := self(p.t, rolesProgram, append(args, "--data-dir="+p.Dir, "--temporal-address="+p.Temporal))
	command.Stderr = p.log
	out, err := command.Output()
	require.True(p.t, err == nil || errors.As(err, new(*exec.ExitError)), "%v", err)
	return command.ProcessState.ExitCode(), string(out)
}

// Run runs the program with only these flags, for starts that fail, and returns
// its exit code and output.
func Run(t testing.TB, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	command := self(t, standaloneProgram, flags)
	var errs testlog.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return command.ProcessState.ExitCode(), string(out), errs.String()
}
