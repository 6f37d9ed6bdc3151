package record

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// Digest hashes a key that need not be readable.
func Digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// PruneCountsAfter is how long counts stay after their window: longer than the
// clocks of processes differ.
const PruneCountsAfter = time.Minute

// Pruned is when counts were last pruned.
type Pruned struct{ at atomic.Int64 }

// Due returns true once per PruneCountsAfter.
func (p *Pruned) Due(now time.Time) bool {
	last := p.at.Load()
	return now.UnixMicro()-last >= PruneCountsAfter.Microseconds() && p.at.CompareAndSwap(last, now.UnixMicro())
}

// JustSent is how long a turn that no workflow has accepted counts as open.
const JustSent = time.Minute
