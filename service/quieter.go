package service

import (
	"context"
	"log/slog"
)

// quieter demotes what the Temporal SDK says of an activity's error: the
// activity has logged it once, with all that is known about it.
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
