package stack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/testkit/process"
)

const (
	readyTimeout = 5 * time.Minute // of a busy machine
	stopTimeout  = 20 * time.Second
)

// Program is a child process that keeps the end of its output. It inherits only PATH, HOME
// and TMPDIR from the environment.
type Program struct {
	*process.Process
	path   string
	output Tail
}

// Run starts a program, in the folder dir unless it is empty. The caller must Stop it.
func Run(dir string, env []string, path string, args ...string) (*Program, error) {
	if filepath.Base(path) != path {
		whole, err := filepath.Abs(path) // the program runs in another folder
		if err != nil {
			return nil, err
		}
		path = whole
	}
	p := &Program{path: path}
	command := exec.Command(path, args...)
	command.Dir, command.Env = dir, process.Env(env...)
	command.Stdout, command.Stderr = &p.output, &p.output
	var err error
	if p.Process, err = process.Start(command); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// Said returns the end of the program's output.
func (p *Program) Said() string { return p.output.String() }

// Answers waits until the URL returns 200.
func (p *Program) Answers(ctx context.Context, url string) error {
	return p.await(ctx, func() bool {
		resp, err := http.Get(url)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// Says waits until the program has written text.
func (p *Program) Says(ctx context.Context, text string) error {
	return p.await(ctx, func() bool { return strings.Contains(p.Said(), text) })
}

func (p *Program) await(ctx context.Context, ready func() bool) error {
	for until := time.Now().Add(readyTimeout); time.Now().Before(until); {
		if ready() {
			return nil
		}
		select {
		case <-p.Exited():
			return fmt.Errorf("%s ended: %s", p.path, p.Said())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s did not become ready: %s", p.path, p.Said())
}

// Stop sends SIGTERM to the program, and kills it after stopTimeout.
func (p *Program) Stop() { p.Process.Stop(syscall.SIGTERM, stopTimeout) }

// maxOutput is how much of a program's output is kept, in bytes.
const maxOutput = 64 << 10

// Tail keeps the last maxOutput bytes that are written to it. Safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(b)
	if over := t.kept.Len() - maxOutput; over > 0 {
		t.kept.Next(over)
	}
	return len(b), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}
