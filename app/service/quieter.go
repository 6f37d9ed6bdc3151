package service

import (
	"context"
	"log/slog"
)

// quieter demotes the Temporal SDK's log lines about activity errors: the activity has
// already logged them, with more detail.
type quieter struct{ slog.Handler }

const activityError = "Activity error."

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == activityError {
		r.Level = slog.LevelDebug
		if !q.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return q.Handler.Handle(ctx, r)
}

func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }
