// Package stack starts a Palaver server with a scripted model for a benchmark, and
// calls its API.
package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/palaver-chat/palaver/testkit/freeport"
	"github.com/palaver-chat/palaver/testkit/llmtest"
	"github.com/palaver-chat/palaver/testkit/process"
)

// Stack is a Palaver server that was started for one benchmark.
type Stack struct {
	URL string

	model   *llmtest.Server
	process *process.Process
	data    string
}

// Start starts the server, given by the path of its program, with a scripted model and
// returns when it is ready. The caller must Stop it.
func Start(ctx context.Context, server string, pace llmtest.Pace) (*Stack, error) {
	model, err := llmtest.Listen("127.0.0.1:0", pace)
	if err != nil {
		return nil, err
	}
	s, err := StartOn(ctx, server, model.URL, os.Stderr)
	if err != nil {
		model.Close()
		return nil, err
	}
	s.model = model
	return s, nil
}

// StartOn starts the server with the caller's model and returns when it is ready; log
// receives what the server writes to standard error. env has further settings. The caller must
// Stop it.
func StartOn(ctx context.Context, server, modelURL string, log io.Writer, env ...string) (_ *Stack, err error) {
	s := &Stack{}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.data, err = os.MkdirTemp("", "palaver-bench-"); err != nil {
		return nil, err
	}
	port, err := freeport.Get()
	if err != nil {
		return nil, err
	}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	command := exec.Command(server)
	command.Env = append(os.Environ(),
		"PORT="+strconv.Itoa(port), "TEMPORAL_PORT=0", "TEMPORAL_UI_PORT=0", "PALAVER_DATA_DIR="+s.data,
		"LOG_LEVEL=warn")
	command.Env = append(append(append(command.Env, modelEnv(modelURL)...), limitsOff...), env...)
	command.Stderr = log
	if s.process, err = process.Start(command); err != nil {
		return nil, fmt.Errorf("start %s (make build builds it): %w", server, err)
	}
	return s, s.ready(ctx)
}

// Pid returns the server's process id.
func (s *Stack) Pid() int { return s.process.Pid() }

func (s *Stack) ready(ctx context.Context) error {
	for until := time.Now().Add(3 * time.Minute); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.URL + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("the server at %s did not become ready", s.URL)
}

// Stop sends SIGTERM to the server, kills it after stopTimeout, and removes its files.
func (s *Stack) Stop() {
	if s.process != nil {
		s.process.Stop(syscall.SIGTERM, stopTimeout)
	}
	if s.model != nil {
		s.model.Close()
	}
	_ = os.RemoveAll(s.data)
}

// Title and Circular are the benchmark's document.
const Title = "Circular on liquidity"

const Circular = `# Circular on liquidity

## 1. Liquidity coverage

A bank must hold a liquidity coverage ratio of at least 100 percent at the end of every business day. The ratio is reported monthly.

## 2. Stress tests

A bank must run a stress test of its funding at least once a quarter and report the result to its board.`
