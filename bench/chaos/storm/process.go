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

// Program is how a program of Palaver's is started.
type Program struct {
	Path string
	Env  []string // beside the environment that the storm makes
}

// process is one program in a process of its own, which may be killed and
// started again.
type process struct {
	name    string
	program Program
	args    []string
	env     []string
	log     *os.File
	// ready finds, in a line of output, that the program is ready, and what it says
	// of its addresses: capture groups by name.
	ready map[string]*regexp.Regexp

	mu      sync.Mutex
	said    map[string]string // of the last start
	command *exec.Cmd
	exited  chan struct{} // closed at the end of the last start
	since   time.Time     // it is there since then; zero when it is not
}

const startPatience = 2 * time.Minute

func newProcess(name string, p Program, args, env []string, logs string, ready map[string]*regexp.Regexp) (*process, error) {
	log, err := os.Create(filepath.Join(logs, name+".log"))
	if err != nil {
		return nil, err
	}
	return &process{name: name, program: p, args: args, env: env, log: log, ready: ready}, nil
}

// start starts the program and waits until it says that it is ready.
func (p *process) start(ctx context.Context) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	command := exec.Command(p.program.Path, p.args...)
	command.Env = append(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, p.env...), p.program.Env...)
	command.Dir = filepath.Dir(p.log.Name()) // no .env of whoever runs this
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

	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case said := <-ready:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.said, p.since = said, time.Now()
		return nil
	case <-exited:
		err = errors.New("it ended; see its log")
	case <-patience.C:
		err = errors.New("it did not become ready; see its log")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return fmt.Errorf("start %s: %w", p.name, err)
}

// read copies what the program says to its log until it ends, and hands over
// what it said by the time it was ready.
func (p *process) read(r io.Reader, ready chan<- map[string]string) {
	said := map[string]string{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		_, _ = p.log.WriteString(line)
		for name, pattern := range p.ready {
			if m := pattern.FindStringSubmatch(line); m != nil && said[name] == "" {
				said[name] = m[len(m)-1]
			}
		}
		if said["ready"] != "" && ready != nil {
			ready <- said
			ready = nil
		}
		if err != nil {
			return
		}
	}
}

// kill ends it with SIGKILL and waits for its end.
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

// freeze stops it (SIGSTOP) and returns when it stands still: its connections
// stay open and nothing answers on them.
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

// thaw lets a frozen process go on.
func (p *process) thaw() error {
	_, err := p.signal(syscall.SIGCONT)
	return err
}

func (p *process) signal(s os.Signal) (pid int, err error) {
	p.mu.Lock()
	command := p.command
	p.mu.Unlock()
	if command == nil {
		return 0, fmt.Errorf("signal %s: it does not run", p.name)
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

// address is what the program said of one of its addresses.
func (p *process) address(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said[name]
}
