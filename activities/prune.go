package activities

import "context"

// Pruner removes what callers without an account have left unused. What it has removed
// it does not find again, so that another attempt goes on where the one before ended.
type Pruner interface {
	Prune(ctx context.Context) error
}

// Prune runs the Pruner, with heartbeats.
func (a *Activities) Prune(parent context.Context) error {
	if a.Pruner == nil {
		return nil
	}
	ctx, w := a.watchFor(parent, "", 0)
	defer w.end()
	return a.endError(w, ctx, TurnRef{}, "prune", a.Pruner.Prune(ctx))
}
