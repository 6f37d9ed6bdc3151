package admin

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/palaver-chat/palaver/workflows"
)

const (
	// versionTimeout limits the query for a thread's version.
	versionTimeout   = 5 * time.Second
	movePollInterval = time.Second
)

// MoveThreads moves every open thread to the version of the client's rules, and waits until
// all have moved or ctx ends. Run it before a downgrade to a release that does not know the
// newer version. A thread in the middle of a step moves after that step.
func MoveThreads(ctx context.Context, threads *workflows.Client, out io.Writer) error {
	version := threads.Rules.Version
	for {
		open, left := 0, 0
		err := threads.OpenThreads(ctx, func(id string) error {
			open++
			ctx, cancel := context.WithTimeout(ctx, versionTimeout)
			defer cancel()
			state, err := threads.State(ctx, id)
			if err != nil {
				return fmt.Errorf("thread %s: %w", id, err)
			}
			if state.Owner == "" || state.Version == version { // closed meanwhile, or already moved
				return nil
			}
			left++
			return threads.FollowVersion(ctx, id, version)
		})
		if err != nil {
			return err
		}
		if left == 0 {
			return say(out, "%d open threads follow version %d.\n", open, version)
		}
		if err := say(out, "%d of %d open threads are asked to follow version %d.\n", left, open, version); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d threads still follow another version: %w", left, ctx.Err())
		case <-time.After(movePollInterval):
		}
	}
}
