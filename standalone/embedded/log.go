package embedded

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog sends the logs of Temporal's server to slog. While the server stops,
// it drops all but errors, because the server's parts then warn about each other.
type serverLog struct {
	to       *slog.Logger
	tags     []tag.Tag // formatted only when something is logged: the server makes a logger for every task
	stopping *atomic.Bool
}

// noNexus begins a warning that the server logs at every start, about an HTTP API that
// Palaver does not use.
const noNexus = "HTTP API port has not been set."

var _ log.WithLogger = serverLog{}

func (l serverLog) Debug(msg string, tags ...tag.Tag) { l.log(slog.LevelDebug, msg, tags) }
func (l serverLog) Info(msg string, tags ...tag.Tag)  { l.log(slog.LevelInfo, msg, tags) }
func (l serverLog) Warn(msg string, tags ...tag.Tag)  { l.log(slog.LevelWarn, msg, tags) }
func (l serverLog) Error(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.log(slog.LevelError, msg, tags) }

func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	panic("temporal: " + msg)
}

// Fatal exits the process: the server's state is undefined.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.log(slog.LevelError, msg, tags)
	os.Exit(1)
}

func (l serverLog) With(tags ...tag.Tag) log.Logger {
	return serverLog{l.to, slices.Concat(l.tags, tags), l.stopping}
}

func (l serverLog) log(level slog.Level, msg string, tags []tag.Tag) {
	if level < slog.LevelError && (l.stopping.Load() || strings.HasPrefix(msg, noNexus)) {
		return
	}
	ctx := context.Background()
	if l.to.Enabled(ctx, level) {
		l.to.LogAttrs(ctx, level, msg, attrs(slices.Concat(l.tags, tags))...)
	}
}

func attrs(tags []tag.Tag) []slog.Attr {
	all := make([]slog.Attr, len(tags))
	for i, t := range tags {
		all[i] = slog.Any(t.Key(), t.Value())
	}
	return all
}
