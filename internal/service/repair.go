package service

import (
	"context"
	"time"

	"github.com/palaver-chat/palaver/internal/repair"
	"github.com/palaver-chat/palaver/workflows"
)

const (
	// A worker's sweep checks at most this many threads per second.
	sweepRate = 50
	// A turn that was just sent is left for the next sweep.
	sweepMinAge = 30 * time.Second
)

// startSweep checks for lost turns at once and then periodically. It is a goroutine, not
// a workflow, because it repairs lost workflows; every worker can run it at any time.
func (p *Process) startSweep() {
	if p.parts.Config.RepairInterval <= 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := repair.NewSweeper(p.parts.Store, &workflows.Client{Temporal: p.parts.Temporal}, p.parts.Log)
	s.Stop, s.Pause, s.MinAge = p.parts.Bus.AnnounceStop, time.Second/sweepRate, sweepMinAge
	p.sweeping.Go(func() { s.Run(ctx, p.parts.Config.RepairInterval) })
	go func() {
		<-p.stopping
		cancel()
	}()
}
