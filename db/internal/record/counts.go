package record

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// Digest is what is kept of a key that nobody needs to read.
func Digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// PruneCountsAfter is how long counts stay that are over: longer than the clocks
// of processes differ.
const PruneCountsAfter = time.Minute

// Pruned is when counts were last pruned.
type Pruned struct{ at atomic.Int64 }

// Due reports, once in PruneCountsAfter, that it is time again.
func (p *Pruned) Due(now time.Time) bool {
	last := p.at.Load()
	return now.UnixMicro()-last >= PruneCountsAfter.Microseconds() && p.at.CompareAndSwap(last, now.UnixMicro())
}

// JustSent is how old a turn may be that no workflow has accepted and still be
// counted as one that is open.
const JustSent = time.Minute
