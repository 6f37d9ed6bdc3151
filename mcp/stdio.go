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
	// A child that is told to end gets this long to do so, then a signal, then
	// is killed.
	childPatience = time.Second
	maxStderrLine = 1000
)

// stdioTransport starts a child process. Of our environment, which holds keys,
// it gets the two variables that programs cannot do without.
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
	cmd.WaitDelay = childPatience // for whoever of its children keeps the streams open
	return &sdk.CommandTransport{Command: cmd, TerminateDuration: childPatience}
}

// lines logs what a child writes to its standard error, for whoever looks for
// the reason of a failure. It may be anything, so it is no more than a detail.
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
		l.log.Debug("an MCP server's own words", "line", clean(string(line), maxStderrLine))
		l.buf = append(l.buf[:0], rest...)
	}
}
