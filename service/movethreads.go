package service

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/palaver-chat/palaver/workflows"
)

const (
	// How long a thread is asked which version it follows.
	versionTimeout = 5 * time.Second
	movePause      = time.Second
)

// MoveThreads has every open thread follow the version of the rules that the
// settings mean, and waits until all do, or until ctx ends: what must be done
// before a release is replaced by one that does not know the newer version. A
// thread in the middle of a step moves after it.
func MoveThreads(ctx context.Context, parts Parts, out io.Writer) error {
	rules, err := Rules(parts.Config)
	if err != nil {
		return err
	}
	threads := &workflows.Client{Temporal: parts.Temporal}
	for {
		open, left := 0, 0
		err := threads.OpenThreads(ctx, parts.Namespace, func(id string) error {
			open++
			ctx, cancel := context.WithTimeout(ctx, versionTimeout)
			defer cancel()
			state, err := threads.State(ctx, id)
			if err != nil {
				return fmt.Errorf("thread %s: %w", id, err)
			}
			if state.Owner == "" || state.Version == rules.Version { // not open any more, or there
				return nil
			}
			left++
			return threads.FollowVersion(ctx, id, rules.Version)
		})
		if err != nil {
			return err
		}
		if left == 0 {
			_, err := fmt.Fprintf(out, "%d open threads follow version %d.\n", open, rules.Version)
			return err
		}
		if _, err := fmt.Fprintf(out, "%d of %d open threads are asked to follow version %d.\n", left, open, rules.Version); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d threads follow another version still: %w", left, ctx.Err())
		case <-time.After(movePause):
		}
	}
}
