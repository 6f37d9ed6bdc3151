// Package stacktest starts the whole of Palaver for tests, on free ports and in its
// own folder: in the test's process (Start), or in a separate process that can be
// killed (StartProcess). It uses the offline engine unless Model names a server.
package stacktest

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/app/service"
	"github.com/palaver-chat/palaver/standalone/program"
	"github.com/palaver-chat/palaver/testkit/testlog"
)

// Option changes a setting.
type Option func(*settings)

type settings struct {
	flags  []string
	own    []palaver.Option
	binary string   // path of the program palaver; empty: the test binary
	env    []string // variables in addition to the test's
}

func (s *settings) apply(options []Option) {
	for _, o := range options {
		o(s)
	}
}

// Binary runs another build of palaver for a role, with additional environment
// variables.
func Binary(path string, env ...string) Option {
	return func(s *settings) { s.binary, s.env = path, env }
}

// Env adds environment variables such as "SSL_CERT_FILE=site.pem" to a program in its own
// process. It has no effect on a stack in the test's process.
func Env(variables ...string) Option {
	return func(s *settings) { s.env = append(s.env, variables...) }
}

// Flag sets a flag of the program: "turn-deadline", "20s".
func Flag(name, value string) Option {
	return func(s *settings) { s.flags = append(s.flags, "--"+name+"="+value) }
}

// Additions adds options, as a program with additions has them, to a stack in the test's
// process. It has no effect on programs in separate processes.
func Additions(options ...palaver.Option) Option {
	return func(s *settings) { s.own = append(s.own, options...) }
}

// Model uses an OpenAI-compatible server; url is its base URL.
func Model(url string) Option {
	return func(s *settings) {
		s.flags = append(s.flags, "--chat-model-provider=openai-compatible", "--llm-base-url="+url, "--llm-api-key=scripted", "--chat-model-name=scripted")
	}
}

// ServerDefaults keeps Temporal's default limits, as a production server may have them.
func ServerDefaults() Option {
	return func(s *settings) { s.flags = append(s.flags, "--temporal-defaults") }
}

// flags returns the program's flags; later ones override earlier ones.
func flags(dir string, options []Option) []string {
	return append([]string{"--temporal-port=0", "--temporal-ui-port=0"}, roleFlags(dir, options)...)
}

// variables returns the environment variables that options add.
func variables(options []Option) []string {
	var s settings
	s.apply(options)
	return s.env
}

// roleFlags returns the flags that programs without embedded servers also have.
func roleFlags(dir string, options []Option) []string {
	s := settings{flags: []string{
		"--data-dir=" + dir, "--host=127.0.0.1", keptPort(), "--chat-model-provider=offline", "--log-level=warn",
		"--chat-rate-limit=off", "--max-new-threads-per-address=off", "--max-turns-per-caller=0", "--max-streams-per-caller=0",
		"--user-rate-limit=off", "--change-rate-limit=off", "--max-streams-per-address=0", "--quota-per-address=off",
		"--titles=off", // a scripted model would use an answer meant for the turn
	}}
	s.apply(options)
	return s.flags
}

func additions(t testing.TB, options []Option) service.Additions {
	t.Helper()
	var s settings
	s.apply(options)
	a, err := service.Collect(s.own)
	require.NoError(t, err)
	return a
}

const startTimeout = 5 * time.Minute // of a busy machine

// Stack is Palaver in the test's process.
type Stack struct {
	URL    string       // of page and API; unchanged by Restart
	Dir    string       // data folder
	Client *http.Client // keeps its cookie: one anonymous user
	Parts  service.Parts

	t         testing.TB
	flags     []string
	additions service.Additions
	log       *testlog.Buffer
	running   *program.Stack
}

// Start starts a stack that ends with the test.
func Start(t testing.TB, options ...Option) *Stack {
	t.Helper()
	dir := t.TempDir()
	s := &Stack{Dir: dir, Client: newClient(t), t: t, flags: flags(dir, options), additions: additions(t, options), log: captureLog(t)}
	t.Cleanup(func() { s.Stop() })
	s.start()
	return s
}

// Restart stops the stack and starts it again with the same data and port. Flags that
// options set replace earlier ones.
func (s *Stack) Restart(options ...Option) {
	s.t.Helper()
	s.Stop()
	changed := settings{flags: s.flags}
	changed.apply(options)
	s.flags = changed.flags
	s.start()
}

// Stop stops the stack; a second call does nothing.
func (s *Stack) Stop() {
	if s.running != nil {
		s.Client.CloseIdleConnections()
		s.running.Stop()
		s.running = nil
	}
}

// NewUser returns a client for a new anonymous user.
func (s *Stack) NewUser() *http.Client { return newClient(s.t) }

// Logged returns the log so far, at warn and above unless a flag changes the level.
func (s *Stack) Logged() string { return s.log.String() }

// Temporal returns a client of the stack's Temporal server.
func (s *Stack) Temporal() client.Client { return s.Parts.Temporal }

// TemporalAddress returns the address of the stack's Temporal server.
func (s *Stack) TemporalAddress() string { return s.running.Servers.TemporalAddress() }

// PlainTemporal returns a client without the stack's encryption keys: it reads payloads as
// the server stores them.
func (s *Stack) PlainTemporal() client.Client {
	c, err := client.Dial(client.Options{HostPort: s.TemporalAddress(), Namespace: s.Parts.Namespace, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *Stack) start() {
	s.t.Helper()
	settings, err := program.Parse(s.flags, s.additions)
	require.NoError(s.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s.running, err = program.Start(ctx, settings, s.additions, settings.Logger(s.log))
	require.NoError(s.t, err)
	s.Parts = s.running.Parts
	if s.URL == "" {
		s.URL = s.running.URL()
	}
}

func newClient(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport}
}

// keptPort is the flag of a port that nothing takes while its program restarts: it is below
// those that systems give to connections and to listeners at port 0.
func keptPort() string {
	for {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		if _, given := givenPorts.LoadOrStore(port, true); given {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return "--port=" + port
		}
	}
}

var givenPorts sync.Map // of this test program

// captureLog collects the log of a stack and shows it when the test fails.
func captureLog(t testing.TB) *testlog.Buffer {
	b := &testlog.Buffer{}
	t.Cleanup(func() {
		if log := b.String(); t.Failed() && log != "" {
			t.Logf("the stack's log:\n%s", log)
		}
	})
	return b
}
