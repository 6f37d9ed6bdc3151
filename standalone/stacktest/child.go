package stacktest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver"
	"github.com/palaver-chat/palaver/standalone/program"
	"github.com/palaver-chat/palaver/testkit/process"
)

// childVariable selects the program that a test binary runs as.
const childVariable = "PALAVER_STACKTEST_CHILD"

const (
	standaloneProgram = "palaver-standalone"
	rolesProgram      = "palaver"
)

// The test binary contains the programs. Started as a child, it runs one of them
// instead of the tests. This saves linking binaries of 200 MB for each test run.
func init() {
	switch os.Getenv(childVariable) {
	case standaloneProgram:
		os.Exit(program.Main(os.Args[1:], os.Stdout, os.Stderr))
	case rolesProgram:
		os.Exit(palaver.Main(os.Args[1:]))
	}
}

// self returns the command that runs the test binary as a program.
func self(t testing.TB, program string, flags []string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(binary, flags...)
	command.Env = append(os.Environ(), childVariable+"="+program)
	return command
}

// Programs returns the path of the test binary, and the variables that make it run
// as the one-process program or as the program of the roles, for callers that
// start processes themselves.
func Programs(t testing.TB) (path, standalone, roles string) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	return binary, childVariable + "=" + standaloneProgram, childVariable + "=" + rolesProgram
}

// child is a program in its own process; it can be restarted.
type child struct {
	t       testing.TB
	process *process.Process // nil: not running
}

// start starts a program and returns when ready is closed.
func (c *child) start(command *exec.Cmd, stdout, stderr io.Writer, ready <-chan struct{}) {
	c.t.Helper()
	require.Nil(c.t, c.process, "the process is already running")
	command.Stdout, command.Stderr = stdout, stderr
	started, err := process.Start(command)
	require.NoError(c.t, err)
	c.process = started
	select {
	case <-ready:
	case <-started.Exited():
		require.FailNow(c.t, "the process ended while it started")
	case <-time.After(startTimeout):
		require.FailNow(c.t, "the process did not become ready")
	}
}

// kill sends SIGKILL and waits for the process to end.
func (c *child) kill() {
	if c.process != nil {
		c.process.Kill()
		c.process = nil
	}
}

// stop sends SIGTERM, waits and returns the exit code.
func (c *child) stop() int {
	c.t.Helper()
	p := c.running()
	c.process = nil
	return p.Stop(syscall.SIGTERM, startTimeout)
}

// Pid returns the id of the process.
func (c *child) Pid() int {
	c.t.Helper()
	return c.running().Pid()
}

func (c *child) running() *process.Process {
	c.t.Helper()
	require.NotNil(c.t, c.process, "the process is not running")
	return c.process
}

// lineWriter calls a function for each complete line.
type lineWriter struct {
	line func(string)
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.line(string(line))
		w.rest = rest
	}
}
