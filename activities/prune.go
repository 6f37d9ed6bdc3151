package activities

import "context"

// Pruner removes unused data of callers without an account. It does not find again what it
// has removed, so another attempt goes on where the previous one ended.
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
