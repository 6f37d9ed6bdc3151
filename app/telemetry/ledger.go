package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
)

const (
	ledgerEvery   = 15 * time.Second // a process that is killed loses this much
	ledgerTimeout = 3 * time.Second
	maxLedger     = 500 // days and models that wait to be stored
)

// Ledger adds up what models use, by day and model, and stores it every few seconds. A nil
// Ledger records nothing. Close it when done.
type Ledger struct {
	store interface {
		AddModelUsage(ctx context.Context, more []db.ModelUsage) error
	}
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	sums map[ledgerKey]db.ModelUsage

	stop, done chan struct{}
}

type ledgerKey struct {
	day   time.Time
	model string
}

// NewLedger returns a Ledger, and starts the goroutine that stores what it has.
func NewLedger(store db.Administration, log *slog.Logger) *Ledger {
	l := &Ledger{store: store, log: log, now: time.Now, sums: map[ledgerKey]db.ModelUsage{}, stop: make(chan struct{}), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *Ledger) add(model string, u chat.Usage) {
	if l == nil {
		return
	}
	more := db.ModelUsage{Calls: int64(max(u.Calls, 1)), TokensIn: int64(u.TokensIn), TokensOut: int64(u.TokensOut), CostUSD: u.CostUSD}
	if u.Unpriced {
		more.Unpriced = more.Calls
	}
	more.Day, more.Model = l.now().UTC().Truncate(24*time.Hour), model
	l.merge([]db.ModelUsage{more})
}

func (l *Ledger) merge(more []db.ModelUsage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range more {
		key := ledgerKey{u.Day, u.Model}
		sum, known := l.sums[key]
		if !known && len(l.sums) >= maxLedger {
			l.log.Error("the usage of a model is not counted: the database cannot store it", "model", u.Model)
			continue
		}
		l.sums[key] = db.ModelUsage{Day: u.Day, Model: u.Model, Calls: sum.Calls + u.Calls, Unpriced: sum.Unpriced + u.Unpriced,
			TokensIn: sum.TokensIn + u.TokensIn, TokensOut: sum.TokensOut + u.TokensOut, CostUSD: sum.CostUSD + u.CostUSD}
	}
}

func (l *Ledger) run() {
	defer close(l.done)
	tick := time.NewTicker(ledgerEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.flush()
		case <-l.stop:
			l.flush()
			return
		}
	}
}

// flush stores the sums. What could not be stored is stored with the next ones.
func (l *Ledger) flush() {
	l.mu.Lock()
	var all []db.ModelUsage
	for _, u := range l.sums {
		all = append(all, u)
	}
	clear(l.sums)
	l.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTimeout)
	defer cancel()
	if err := l.store.AddModelUsage(ctx, all); err != nil {
		l.log.Warn("storing the usage of models failed; retrying", "error", err)
		l.merge(all)
	}
}

// Close stores what is left. It takes a few seconds at most.
func (l *Ledger) Close() {
	if l == nil {
		return
	}
	close(l.stop)
	<-l.done
}
