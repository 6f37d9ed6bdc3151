package storm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Program is a program of Palaver and its extra environment.
type Program struct {
	Path string
	Env  []string // added to the storm's environment
}

// process runs one program, which may be killed and started again.
type process struct {
	name    string
	program Program
	args    []string
	env     []string
	log     *os.File
	// ready matches the lines of output that show that the program is ready; each has
	// a capture group with an address, by name.
	ready map[string]*regexp.Regexp

	mu       sync.Mutex
	captured map[string]string // what ready captured since the last start
	command  *exec.Cmd
	exited   chan struct{} // closed at the end of the last start
	since    time.Time     // when it became ready; zero when it does not run
}

const startTimeout = 2 * time.Minute

func newProcess(name string, p Program, args, env []string, logs string, ready map[string]*regexp.Regexp) (*process, error) {
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return nil, err
	}
	return &process{name: name, program: p, args: args, env: env, log: log, ready: ready}, nil
}

// start starts the program and waits until it is ready.
func (p *process) start(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	command := exec.Command(p.program.Path, p.args...)
	command.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, p.env...), p.program.Env...)
	command.Dir = filepath.Dir(p.log.Name()) // not the current folder, which may have a .env
	command.Stdout, command.Stderr = writer, writer
	err = command.Start()
	_ = writer.Close()
	if err != nil {
		_ = reader.Close()
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	ready := make(chan map[string]string, 1)
	go func() {
		defer close(exited)
		p.read(reader, ready)
		_ = command.Wait()
		_ = reader.Close()
	}()
	p.mu.Lock()
	p.command, p.exited = command, exited
	p.mu.Unlock()

	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case captured := <-ready:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.captured, p.since = captured, time.Now()
		return nil
	case <-exited:
		err = errors.New("the process exited; see its log")
	case <-timeout.C:
		err = errors.New("not ready before the timeout; see its log")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return fmt.Errorf("start %s: %w", p.name, err)
}

// read copies the program's output to its log until it ends, and sends what ready
// captured once all patterns have matched.
func (p *process) read(r io.Reader, ready chan<- map[string]string) {
	captured := map[string]string{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		_, _ = p.log.WriteString(line)
		for name, pattern := range p.ready {
			if m := pattern.FindStringSubmatch(line); m != nil && captured[name] == "" {
				captured[name] = m[len(m)-1]
			}
		}
		if captured["ready"] != "" && ready != nil {
			ready <- captured
			ready = nil
		}
		if err != nil {
			return
		}
	}
}

// kill sends SIGKILL and waits for the process's end.
func (p *process) kill() {
	p.mu.Lock()
	command, exited := p.command, p.exited
	p.command, p.since = nil, time.Time{}
	p.mu.Unlock()
	if command == nil {
		return
	}
	_ = command.Process.Kill()
	<-exited
}

// freeze sends SIGSTOP and returns when the process is stopped: its connections stay
// open, but do not answer.
func (p *process) freeze() error {
	pid, err := p.signal(syscall.SIGSTOP)
	if err != nil {
		return err
	}
	if _, err := syscall.Wait4(pid, nil, syscall.WUNTRACED, nil); err != nil {
		return fmt.Errorf("freeze %s: %w", p.name, err)
	}
	return nil
}

// thaw continues a frozen process.
func (p *process) thaw() error {
	_, err := p.signal(syscall.SIGCONT)
	return err
}

func (p *process) signal(s os.Signal) (pid int, err error) {
	p.mu.Lock()
	command := p.command
	p.mu.Unlock()
	if command == nil {
		return 0, fmt.Errorf("signal %s: not running", p.name)
	}
	if err := command.Process.Signal(s); err != nil {
		return 0, fmt.Errorf("signal %s: %w", p.name, err)
	}
	return command.Process.Pid, nil
}

// runs reports whether the program is ready, and since when.
func (p *process) runs() (since time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since, !p.since.IsZero()
}

// address is an address from the program's output, by name.
func (p *process) address(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.captured[name]
}
