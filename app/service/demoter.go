package service

import (
	"context"
	"log/slog"
)

// activityErrorDemoter demotes the Temporal SDK's log lines about activity errors: the activity has
// already logged them, with more detail.
type activityErrorDemoter struct{ slog.Handler }

const activityError = "Activity error."

func (q activityErrorDemoter) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == activityError {
		r.Level = slog.LevelDebug
		if !q.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return q.Handler.Handle(ctx, r)
}

func (q activityErrorDemoter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return activityErrorDemoter{q.Handler.WithAttrs(attrs)}
}
func (q activityErrorDemoter) WithGroup(name string) slog.Handler {
	return activityErrorDemoter{q.Handler.WithGroup(name)}
}
