package openai

import (
	"context"
	"time"
)

const (
	// A streamed answer is read this often, at moments that all streams of the
	// process share, so that many tokens of many streams wake it once: a token that
	// is read alone costs ten times as much.
	gatherEvery = 25 * time.Millisecond
	// An answer is read as it comes for this long. One that a fast provider sends
	// whole is not slowed down.
	gatherAfter = 100 * time.Millisecond
)

// gather has an answer's text handed over in batches: whenever all that was read
// is parsed, and before more is waited for. nil gathers nothing.
type gather struct {
	flush func() error // hands over what was parsed
	since time.Time    // when the text began; zero before
	more  bool         // the last read filled its buffer
}

func (g *gather) began() {
	if g.since.IsZero() {
		g.since = time.Now()
	}
}

// before is called when more must be read. Its error ends the call.
func (g *gather) before(ctx context.Context) error {
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

func (g *gather) after(more bool) {
	if g != nil {
		g.more = more
	}
}
