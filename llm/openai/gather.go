package openai

import (
	"context"
	"time"
)

const (
	// Streams are read at this interval, at the same moments in the whole process,
	// so that one wake-up serves many streams: a token that is read alone costs ten
	// times as much. Twenty times a second still look like a stream.
	gatherEvery = 50 * time.Millisecond
	// Batching begins this long after the first text, so that it does not delay
	// short answers of a fast provider.
	gatherAfter = 100 * time.Millisecond
)

// textBatcher emits an answer's text in batches: when all that was read is parsed,
// before the next read. A nil textBatcher does nothing.
type textBatcher struct {
	flush func() error // emits what was parsed
	since time.Time    // time of the first text; zero before
	more  bool         // the last read filled its buffer
}

func (g *textBatcher) began() {
	if g.since.IsZero() {
		g.since = time.Now()
	}
}

// before runs before each read. Its error ends the call.
func (g *textBatcher) before(ctx context.Context) error {
	if g == nil {
		return nil
	}
	if err := g.flush(); err != nil {
		return err
	}
	if g.more || g.since.IsZero() || time.Since(g.since) < gatherAfter {
		return nil
	}
	next := time.NewTimer(gatherEvery - time.Duration(time.Now().UnixNano())%gatherEvery)
	defer next.Stop()
	select {
	case <-next.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *textBatcher) after(more bool) {
	if g != nil {
		g.more = more
	}
}
