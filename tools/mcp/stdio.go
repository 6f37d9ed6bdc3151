package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// How long a child may take to exit after its input was closed, and again after a signal.
	// Then it is killed.
	childExitTimeout = time.Second
	maxStderrLine    = 1000
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
	cmd.Stderr = &lines{log: log}
	cmd.WaitDelay = childExitTimeout // a grandchild may keep the streams open
	return &sdk.CommandTransport{Command: cmd, TerminateDuration: childExitTimeout}
}

// lines logs a child's standard error at level debug, to help find the reason of a failure.
type lines struct {
	log *slog.Logger
	buf []byte
}

func (l *lines) Write(p []byte) (int, error) {
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
