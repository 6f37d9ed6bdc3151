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

// childVariable tells a test binary which program it is to be.
const childVariable = "PALAVER_STACKTEST_CHILD"

const (
	standaloneProgram = "palaver-standalone"
	rolesProgram      = "palaver"
)

// A test binary holds the programs already: run again as a child, it becomes
// one of them before any test is looked at. That saves linking binaries of
// 200 MB for each test run.
func init() {
	switch os.Getenv(childVariable) {
	case standaloneProgram:
		os.Exit(program.Main(os.Args[1:], os.Stdout, os.Stderr))
	case rolesProgram:
		os.Exit(palaver.Main(os.Args[1:]))
	}
}

// self is the test binary as a program that has not started yet.
func self(t testing.TB, program string, flags []string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(binary, flags...)
	command.Env = append(os.Environ(), childVariable+"="+program)
	return command
}

// Programs are the path of the test binary, and the variable that makes it the
// one-process program or the program of the roles: for who starts processes
// without this package.
func Programs(t testing.TB) (path, standalone, roles string) {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	return binary, childVariable + "=" + standaloneProgram, childVariable + "=" + rolesProgram
}

// child is a program that runs in a process of its own, or has been one.
type child struct {
	t       testing.TB
	command *exec.Cmd // nil: it does not run
	exited  chan struct{}
}

// start runs a program until it is ready, which whoever reads its output knows.
func (c *child) start(command *exec.Cmd, stdout, stderr io.Writer, ready <-chan struct{}) {
	c.t.Helper()
	require.Nil(c.t, c.command, "the process runs already")
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
	case <-time.After(startPatience):
		require.FailNow(c.t, "the process did not become ready")
	}
}

// kill sends SIGKILL and waits for the end.
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

// freeze stops the process (SIGSTOP) and returns when it stands still: its
// connections stay open and nothing answers on them.
func (c *child) freeze() {
	c.t.Helper()
	c.signal(syscall.SIGSTOP)
	_, err := syscall.Wait4(c.command.Process.Pid, nil, syscall.WUNTRACED, nil)
	require.NoError(c.t, err)
}

// thaw lets a frozen process go on.
func (c *child) thaw() { c.signal(syscall.SIGCONT) }

func (c *child) signal(s os.Signal) {
	c.t.Helper()
	require.NotNil(c.t, c.command, "the process does not run")
	require.NoError(c.t, c.command.Process.Signal(s))
}

// lineWriter hands each whole line that is written to it to a function.
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
