package service

import (
	"context"
	"time"
)

// indexInterval is how often a worker checks whether vectors need an index. Without an
// index a search compares vectors one by one.
const indexInterval = time.Hour

// startIndexing indexes vectors at once and then periodically. It is a goroutine, not a
// workflow, because it can take minutes and only the database knows what is missing.
func (p *Process) startIndexing() {
	p.inBackground(func(ctx context.Context) {
		for {
			if err := p.parts.Store.IndexVectors(ctx); err != nil && ctx.Err() == nil {
				p.parts.Log.Warn("indexing vectors failed; they are compared one by one until the next try", "error", err, "next", indexInterval)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(indexInterval):
			}
		}
	})
}
