package storm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/testkit/process"
)

// Program is a program of Palaver and its extra environment.
type Program struct {
	Path string
	Env  []string // added to the storm's environment
}

// member runs one program of the fleet, which may be killed and started again.
type member struct {
	name    string
	program Program
	args    []string
	env     []string
	log     *os.File
	// ready matches the lines of output that show that the program is ready; each has
	// a capture group with an address, by name.
	ready  map[string]*regexp.Regexp
	clock  string        // the file that shifts its clocks, of a worker
	paused time.Duration // how long its monotonic clock has stood still; faults come one after another

	mu       sync.Mutex
	captured map[string]string // what ready captured since the last start
	process  *process.Process  // nil: not running
	since    time.Time         // when it became ready; zero when it does not run
}

const startTimeout = 2 * time.Minute

func newMember(name string, p Program, args, env []string, logs string, ready map[string]*regexp.Regexp) (*member, error) {
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return nil, err
	}
	return &member{name: name, program: p, args: args, env: env, log: log, ready: ready}, nil
}

// start starts the program and waits until it is ready.
func (m *member) start(ctx context.Context) error {
	out := &output{member: m, captured: map[string]string{}, ready: make(chan struct{})}
	command := exec.Command(m.program.Path, m.args...)
	command.Env = append(process.Env(m.env...), m.program.Env...)
	command.Dir = filepath.Dir(m.log.Name()) // not the current folder, which may have a .env
	command.Stdout, command.Stderr = out, out
	started, err := process.Start(command)
	if err != nil {
		return fmt.Errorf("start %s: %w", m.name, err)
	}
	m.mu.Lock()
	m.process = started
	m.mu.Unlock()

	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case <-out.ready:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.captured, m.since = out.captured, time.Now()
		return nil
	case <-started.Exited():
		err = errors.New("the process exited; see its log")
	case <-timeout.C:
		err = errors.New("not ready before the timeout; see its log")
	case <-ctx.Done():
		err = ctx.Err()
	}
	m.kill()
	return fmt.Errorf("start %s: %w", m.name, err)
}

// output copies a program's output to its log, and closes ready once the program is
// ready; captured does not change after that.
type output struct {
	member   *member
	captured map[string]string
	ready    chan struct{}
	line     []byte // without its end yet
	isReady  bool
}

func (o *output) Write(p []byte) (int, error) {
	_, _ = o.member.log.Write(p)
	if o.isReady {
		return len(p), nil
	}
	o.line = append(o.line, p...)
	for {
		line, rest, whole := bytes.Cut(o.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		o.line = rest
		for name, pattern := range o.member.ready {
			if found := pattern.FindSubmatch(line); found != nil && o.captured[name] == "" {
				o.captured[name] = string(found[len(found)-1])
			}
		}
		if o.captured["ready"] != "" {
			o.isReady, o.line = true, nil
			close(o.ready)
			return len(p), nil
		}
	}
}

// kill sends SIGKILL and waits for the end.
func (m *member) kill() {
	m.mu.Lock()
	running := m.process
	m.process, m.since = nil, time.Time{}
	m.mu.Unlock()
	if running != nil {
		running.Kill()
	}
}

// freeze stops the program: its connections stay open, but do not answer.
func (m *member) freeze() error { return m.control("freeze", (*process.Process).Freeze) }

// thaw continues a frozen program.
func (m *member) thaw() error { return m.control("thaw", (*process.Process).Thaw) }

func (m *member) control(what string, do func(*process.Process) error) error {
	m.mu.Lock()
	running := m.process
	m.mu.Unlock()
	err := errors.New("not running")
	if running != nil {
		err = do(running)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, m.name, err)
	}
	return nil
}

// shiftClock shifts the wall clock of a worker against the true time, and stops its monotonic
// clock for a while.
func (m *member) shiftClock(wall, pause time.Duration) error {
	m.paused += pause
	next := m.clock + ".next" // renamed, so that the worker never reads half of it
	if err := os.WriteFile(next, []byte(wall.String()+" "+(-m.paused).String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, m.clock)
}

// fillDisk makes writes of the program to files fail, as on a full disk, or frees the disk.
func (m *member) fillDisk(full bool) error {
	return m.control("limit the disk of", func(p *process.Process) error { return limitFiles(p.Pid(), full) })
}

// runs reports whether the program is ready, and since when.
func (m *member) runs() (since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.since, !m.since.IsZero()
}

// address is an address from the program's output, by name.
func (m *member) address(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.captured[name]
}
