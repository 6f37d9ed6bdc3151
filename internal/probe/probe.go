// Package probe runs readiness checks.
package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// A Check returns nil when a part is available.
type Check = func(context.Context) error

// Run runs the checks concurrently, so that a slow one does not fail the others, and
// returns the result of each; nil means that it passed. A check fails, too, if it panics or
// has not answered when ctx ends.
func Run(ctx context.Context, checks map[string]Check, log *slog.Logger) map[string]error {
	type answer struct {
		part string
		err  error
	}
	answers := make(chan answer, len(checks))
	found := map[string]error{}
	for part, check := range checks {
		found[part] = errors.New("no answer")
		go func() {
			err := errors.New("panic")
			defer func() {
				if v := recover(); v != nil {
					log.Error("panic in a readiness check", "part", part, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				}
				answers <- answer{part, err}
			}()
			err = check(ctx)
		}()
	}
	for range checks {
		select {
		case a := <-answers:
			found[a.part] = a.err
		case <-ctx.Done():
			return found
		}
	}
	return found
}
