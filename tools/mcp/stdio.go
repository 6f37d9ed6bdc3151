package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// How long a child may take to exit after its input was closed, and again after a signal.
	// Then it is killed.
	childExitTimeout = time.Second
	maxStderrLine    = 1000
	maxLine          = 16 << 20 // of one message
)

// stdioTransport starts a child process. Our environment holds keys, so the child inherits only PATH
// and HOME.
func stdioTransport(ctx context.Context, s Server, log *slog.Logger) sdk.Transport {
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Env = []string{}
	for _, name := range []string{"PATH", "HOME"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = &errorLog{log: log}
	cmd.WaitDelay = childExitTimeout // a grandchild may keep the streams open
	return &childTransport{cmd: cmd, log: log}
}

// childTransport is the transport of a child process. The SDK's own ends at the first line of the child's
// output that is no message.
type childTransport struct {
	cmd *exec.Cmd
	log *slog.Logger
}

// Connect implements sdk.Transport.
func (c *childTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	input, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	dropped := func(line []byte) {
		c.log.Debug("MCP server wrote something else than a message to its output", "line", clean(string(line), maxStderrLine))
	}
	messages := lines(io.NopCloser(output), dropped)
	t := sdk.IOTransport{Reader: messages, Writer: &childInput{input, c.cmd}, MaxLineLength: maxLine}
	return t.Connect(ctx)
}

// childInput is a child's input. Closing it ends the child.
type childInput struct {
	io.WriteCloser
	cmd *exec.Cmd
}

func (i *childInput) Close() error {
	err := i.WriteCloser.Close()
	ended := make(chan struct{})
	go func() { _ = i.cmd.Wait(); close(ended) }()
	for _, end := range []func(){func() {}, func() { _ = i.cmd.Process.Signal(syscall.SIGTERM) }, func() { _ = i.cmd.Process.Kill() }} {
		end()
		select {
		case <-ended:
			return err
		case <-time.After(childExitTimeout):
		}
	}
	return errors.New("the child process does not end")
}

// errorLog logs a child's standard error at level debug, to help find the reason of a failure.
type errorLog struct {
	log *slog.Logger
	buf []byte
}

func (l *errorLog) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	for {
		i := bytes.IndexByte(l.buf, '\n')
		if i < 0 && len(l.buf) <= maxStderrLine {
			return len(p), nil
		}
		line, rest := l.buf, []byte(nil)
		if i >= 0 {
			line, rest = l.buf[:i], l.buf[i+1:]
		}
		l.log.Debug("MCP server wrote to stderr", "line", clean(string(line), maxStderrLine))
		l.buf = append(l.buf[:0], rest...)
	}
}
