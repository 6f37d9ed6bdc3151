// Package prune has the daily workflow that removes what anonymous callers have left unused.
package prune

import (
	"context"

	"go.temporal.io/sdk/worker"

	"github.com/palaver-chat/palaver/activities"
)

// Pruner removes unused data of callers without an account. Removed data is not revisited, so
// another attempt continues where the previous one ended.
type Pruner interface {
	Prune(ctx context.Context) error
}

// Activities has the activity of the workflow.
type Activities struct {
	*activities.Kit
	Pruner Pruner // nil: nothing is pruned
}

// acts names activities; it is never called.
var acts *Activities

// Register registers the activity under the name of its method.
func (a *Activities) Register(r worker.ActivityRegistry) { r.RegisterActivity(a.Prune) }

// Prune runs the Pruner, with heartbeats.
func (a *Activities) Prune(parent context.Context) error {
	if a.Pruner == nil {
		return nil
	}
	ctx, w := a.WatchFor(parent, "", 0)
	defer w.End()
	return a.EndError(w, ctx, activities.TurnRef{}, "prune", a.Pruner.Prune(ctx))
}
