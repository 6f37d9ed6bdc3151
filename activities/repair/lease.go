package repair

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/palaver-chat/palaver/db"
)

const (
	leaseName = "sweep"
	// The holder renews its lease this often, and others look at it.
	leaseInterval = 5 * time.Second
	// A lease whose beat stood still this many times is taken over. Clocks are not compared.
	leaseMisses = 3
	leaseWait   = 2 * time.Second // timeout of one call
)

// lease is what a process knows of the lease.
type lease struct {
	store  db.Repair
	holder string
	held   atomic.Bool
	seen   db.Lease // of another holder
	misses int      // how often it stood still
}

// keep renews or takes the lease until ctx ends. Then it ends it, so that another process
// takes it at once.
func (l *lease) keep(ctx context.Context) {
	ticker := time.NewTicker(leaseInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseWait)
			defer cancel()
			_ = l.store.EndLease(ctx, leaseName, l.holder) // else it is taken over later
			return
		case <-ticker.C:
			l.renew(ctx)
		}
	}
}

// renew renews the lease, or takes it if it is free or its holder is dead. While the database
// is unavailable nobody has it.
func (l *lease) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	now, err := l.store.Lease(ctx, leaseName)
	if err != nil {
		l.held.Store(false)
		return
	}
	if now.Holder != "" && now.Holder != l.holder {
		l.held.Store(false)
		if now != l.seen {
			l.seen, l.misses = now, 0
			return
		}
		if l.misses++; l.misses < leaseMisses {
			return
		}
	}
	taken, err := l.store.TakeLease(ctx, leaseName, l.holder, now)
	l.held.Store(taken && err == nil)
}
