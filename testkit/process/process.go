// Package process runs a program as a child process that tests and benchmarks stop,
// kill and freeze.
package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a child process that was started. Its methods may be called by several
// goroutines.
type Process struct {
	command *exec.Cmd
	exited  chan struct{}
}

// Start starts command. The caller must end it with Stop or Kill.
func Start(command *exec.Cmd) (*Process, error) {
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Process{command: command, exited: make(chan struct{})}
	go func() {
		_ = command.Wait() // the exit code and the output have the reason
		close(p.exited)
	}()
	return p, nil
}

// Env returns an environment for a child process: PATH, HOME and TMPDIR of this process,
// and more. Nothing else is inherited.
func Env(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, more...)
}

// Pid returns the id of the process.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Exited is closed once the process has ended and its output has been read.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Kill sends SIGKILL and waits until the process has ended.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	<-p.exited
}

// Stop sends s and waits until the process has ended; after timeout, it kills the process.
// It returns the exit code, -1 after a kill.
func (p *Process) Stop(s os.Signal, timeout time.Duration) int {
	_ = p.command.Process.Signal(s)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		p.Kill()
	}
	return p.command.ProcessState.ExitCode()
}

// Freeze sends SIGSTOP and returns when the process has stopped: its connections stay
// open, but nothing answers on them.
func (p *Process) Freeze() error {
	if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	_, err := syscall.Wait4(p.Pid(), nil, syscall.WUNTRACED, nil)
	return err
}

// Thaw continues a frozen process.
func (p *Process) Thaw() error { return p.command.Process.Signal(syscall.SIGCONT) }
