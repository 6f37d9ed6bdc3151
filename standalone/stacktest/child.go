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
	command *exec.Cmd // nil: not running
	exited  chan struct{}
}

// start starts a program and returns when ready is closed.
func (c *child) start(command *exec.Cmd, stdout, stderr io.Writer, ready <-chan struct{}) {
	c.t.Helper()
	require.Nil(c.t, c.command, "the process is already running")
	command.Stdout, command.Stderr = stdout, stderr
	require.NoError(c.t, command.Start())
	exited := make(chan struct{})
	c.command, c.exited = command, exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	select {
	case <-ready:
	case <-exited:
		require.FailNow(c.t, "the process ended while it started")
	case <-time.After(startTimeout):
		require.FailNow(c.t, "the process did not become ready")
	}
}

// kill sends SIGKILL and waits for the process to end.
func (c *child) kill() {
	if c.command == nil {
		return
	}
	_ = c.command.Process.Kill()
	<-c.exited
	c.command = nil
}

// stop sends SIGTERM, waits and returns the exit code.
func (c *child) stop() int {
	c.t.Helper()
	c.signal(syscall.SIGTERM)
	command := c.command
	<-c.exited
	c.command = nil
	return command.ProcessState.ExitCode()
}

// freeze sends SIGSTOP and returns when the process has stopped: its connections
// stay open but nothing responds.
func (c *child) freeze() {
	c.t.Helper()
	c.signal(syscall.SIGSTOP)
	_, err := syscall.Wait4(c.command.Process.Pid, nil, syscall.WUNTRACED, nil)
	require.NoError(c.t, err)
}

// thaw continues a frozen process.
func (c *child) thaw() { c.signal(syscall.SIGCONT) }

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	require.NotNil(c.t, c.command, "the process is not running")
	require.NoError(c.t, c.command.Process.Signal(s))
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
