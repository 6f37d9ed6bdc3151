package storm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/palaver-chat/palaver/testkit/dbtest/litetest"
	"github.com/palaver-chat/palaver/testkit/relay"
)

// fault is one failure and its repair.
type fault struct {
	Name  string
	Which int           // index among the processes that it may hit
	Wait  time.Duration // before it
	Lasts time.Duration

	At       time.Time
	Repaired time.Time
	// WorkerSince is the time from which a worker was running again after a fault that
	// kills workers; zero for other faults.
	WorkerSince   time.Time
	StalledWorker string // the worker that stopped answering, if one did
	// HeldLock: the worker froze in the middle of a write to SQLite, so nobody could write.
	HeldLock bool
	kind     faultKind
}

type faultKind struct {
	name string
	// freezes: the worker's process stops and resumes.
	freezes bool
	inject  func(ctx context.Context, f *fleet, which int) (repair func(ctx context.Context) error, _ error)
	hits    target
	lasts   func(o Options) time.Duration // nil: random
}

// target is what a fault hits, as far as the checks depend on it.
type target int

const (
	hitsOther target = iota
	hitsWorkers
	hitsDatabase
	stallsWorker
	hitsNothing // too short to affect running work
)

func freezeTime(o Options) time.Duration { return o.Freeze }
func hiccupTime(o Options) time.Duration { return o.Hiccup }

// killing kills processes; the repair starts all that do not run.
func killing(which func(f *fleet, n int) []*member) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		killAll(which(f, n)...)
		return f.restart, nil
	}
}

func repairWith(repair func()) func(context.Context) error {
	return func(context.Context) error {
		repair()
		return nil
	}
}

// freezing stops a process with SIGSTOP; the repair continues it.
func freezing(which func(f *fleet, n int) *member) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		p := which(f, n)
		return func(context.Context) error { return p.thaw() }, p.freeze()
	}
}

// linking does something to every link to one server.
func linking(which func(f *fleet) *network, do func(*relay.Link)) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		n := which(f)
		n.each(do)
		return repairWith(func() { n.each((*relay.Link).Restore) }), nil
	}
}

// silencing stalls one worker's links.
func silencing(which func(f *fleet) []*network) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		for _, way := range which(f) {
			way.workers[n%len(f.workers)].Silence()
		}
		return repairWith(func() {
			for _, way := range which(f) {
				way.workers[n%len(f.workers)].Restore()
			}
		}), nil
	}
}

// pausing stops a worker as a pause of its virtual machine does: its monotonic clock stands
// still meanwhile.
func pausing(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
	p, began := pickWorker(f, n), time.Now()
	return func(context.Context) error {
		return errors.Join(p.shiftClock(0, time.Since(began)), p.thaw())
	}, p.freeze()
}

// clockJump is more than any lease.
const clockJump = 5 * time.Minute

// settingClock sets a worker's wall clock forwards, and at the repair back.
func settingClock(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
	p := pickWorker(f, n)
	return func(context.Context) error { return p.shiftClock(0, 0) }, p.shiftClock(clockJump, 0)
}

// fillingDisk lets no process write to files: neither Temporal nor Palaver.
func fillingDisk(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
	limit := func(full bool) (err error) {
		for _, p := range f.processes() {
			err = errors.Join(err, p.fillDisk(full))
		}
		return err
	}
	return func(context.Context) error { return limit(false) }, limit(true)
}

func pickWorker(f *fleet, n int) *member { return f.workers[n%len(f.workers)] }
func pickAPI(f *fleet, n int) *member    { return f.apis[n%len(f.apis)] }

func toTemporal(f *fleet) *network { return f.temporal }
func toNATS(f *fleet) *network     { return f.nats }
func toDatabase(f *fleet) *network { return f.database }

var faultKinds = []faultKind{
	{name: "kill a worker", inject: killing(func(f *fleet, n int) []*member { return []*member{pickWorker(f, n)} }), hits: hitsWorkers},
	{name: "kill an API process", inject: killing(func(f *fleet, n int) []*member { return []*member{pickAPI(f, n)} })},
	{name: "kill all workers and APIs", inject: killing(func(f *fleet, _ int) []*member {
		return append(f.workers[:len(f.workers):len(f.workers)], f.apis...)
	}), hits: hitsWorkers},
	{name: "kill Temporal and NATS", inject: killing(func(f *fleet, _ int) []*member { return []*member{f.infra} })},
	{name: "kill everything", inject: killing(func(f *fleet, _ int) []*member {
		return append(append(f.workers[:len(f.workers):len(f.workers)], f.apis...), f.infra)
	}), hits: hitsWorkers},
	{name: "freeze a worker", inject: freezing(pickWorker), hits: stallsWorker, freezes: true, lasts: freezeTime},
	{name: "freeze an API process", inject: freezing(pickAPI), lasts: freezeTime},
	{name: "pause a worker's machine", inject: pausing, hits: stallsWorker, freezes: true, lasts: freezeTime},
	{name: "set a worker's wall clock", inject: settingClock, hits: hitsNothing, lasts: hiccupTime},
	{name: "silence Temporal for a worker", inject: silencing(func(f *fleet) []*network { return []*network{f.temporal} }),
		hits: stallsWorker, lasts: freezeTime},
	{name: "silence everything for a worker", inject: silencing(func(f *fleet) []*network {
		all := []*network{f.temporal, f.nats}
		if f.database != nil {
			all = append(all, f.database)
		}
		return all
	}), hits: stallsWorker, lasts: freezeTime},
	{name: "cut Temporal off", inject: linking(toTemporal, (*relay.Link).Cut)},
	{name: "cut Temporal off for a moment", inject: linking(toTemporal, (*relay.Link).Cut), hits: hitsNothing, lasts: hiccupTime},
	{name: "silence Temporal for a moment", inject: linking(toTemporal, (*relay.Link).Silence), hits: hitsNothing, lasts: hiccupTime},
	{name: "cut NATS off", inject: linking(toNATS, (*relay.Link).Cut)},
	{name: "silence NATS", inject: linking(toNATS, (*relay.Link).Silence)},
	{name: "fill the disk", inject: fillingDisk, hits: hitsDatabase},
	{name: "lose imports in Temporal", inject: losingImports},
	{name: "claim while an API process dies", inject: claiming},
}

var sqliteFaults = []faultKind{
	{name: "hold the database's write lock", inject: func(ctx context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		release, err := litetest.Hold(ctx, f.sqlite)
		return func(context.Context) error { return release() }, err
	}, hits: hitsDatabase},
	{name: "kill everything during a backup", inject: backingUp, hits: hitsWorkers, lasts: hiccupTime},
}

// addedLatency is the added round-trip time to a distant database.
const addedLatency = 30 * time.Millisecond

var postgresFaults = []faultKind{
	{name: "cut the database off", inject: linking(toDatabase, (*relay.Link).Cut), hits: hitsDatabase},
	{name: "silence the database", inject: linking(toDatabase, (*relay.Link).Silence), hits: hitsDatabase},
	{name: "drop the database's connections", inject: linking(toDatabase, (*relay.Link).Reset), hits: hitsDatabase},
	{name: "move the database far away", inject: func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.database.each(func(l *relay.Link) { l.Delay(addedLatency) })
		return repairWith(func() { f.database.each(func(l *relay.Link) { l.Delay(0) }) }), nil
	}},
}

// plan picks the faults of a storm at random: every kind before any is repeated. One
// in four is long.
func plan(o Options) []*fault {
	random := rand.New(rand.NewPCG(o.Seed, 0))
	kinds := append(faultKinds[:len(faultKinds):len(faultKinds)], sqliteFaults...)
	if o.DatabaseURL != "" {
		kinds = append(faultKinds[:len(faultKinds):len(faultKinds)], postgresFaults...)
	}
	if len(o.Only) > 0 {
		kinds = chosen(kinds, o.Only)
	}
	var all []*fault
	for len(all) < o.Rounds {
		for _, i := range random.Perm(len(kinds)) {
			between := func(from, to time.Duration) time.Duration {
				return from + time.Duration(random.Int64N(int64(to-from)+1)).Round(time.Millisecond)
			}
			f := &fault{Name: kinds[i].name, kind: kinds[i], Which: random.IntN(60), Wait: between(o.Calm/2, o.Calm), Lasts: between(o.Fault/4, o.Fault)}
			if random.IntN(4) == 0 {
				f.Lasts = o.LongFault
			}
			if kinds[i].lasts != nil {
				f.Lasts = kinds[i].lasts(o)
			}
			all = append(all, f)
		}
	}
	return all[:o.Rounds]
}

func chosen(kinds []faultKind, names []string) (some []faultKind) {
	for _, k := range kinds {
		for _, name := range names {
			if k.name == name {
				some = append(some, k)
			}
		}
	}
	return some
}

// inject runs a fault from its beginning to the repair.
func (s *storm) inject(ctx context.Context, n int, f *fault) error {
	pause(ctx, f.Wait)
	f.At = time.Now()
	s.logf("fault %2d: %s (%d) for %v", n, f.Name, f.Which, f.Lasts)
	repair, err := f.kind.inject(ctx, s.fleet, f.Which)
	if err != nil {
		return fmt.Errorf("fault %d, %s: %w", n, f.Name, err)
	}
	switch f.kind.hits {
	case hitsWorkers:
		f.WorkerSince = s.workerSince()
	case stallsWorker:
		f.StalledWorker = pickWorker(s.fleet, f.Which).name
	}
	held := func() bool { return false }
	if f.kind.freezes && s.fleet.sqlite != "" {
		held = isHeld(ctx, s.fleet.sqlite)
	}
	pause(ctx, f.Lasts)
	if err := repair(ctx); err != nil {
		return fmt.Errorf("repair fault %d, %s: %w", n, f.Name, err)
	}
	f.HeldLock = held()
	f.Repaired = time.Now()
	if f.kind.hits == hitsWorkers && f.WorkerSince.IsZero() {
		f.WorkerSince = s.workerSince()
	}
	return ctx.Err()
}

// heldFor is longer than any write takes.
const heldFor = 5 * time.Second

// isHeld begins to wait for the write lock of a SQLite file. held waits for it, too, and
// reports whether somebody had it for long.
func isHeld(ctx context.Context, path string) (held func() bool) {
	began, long := time.Now(), make(chan bool, 1)
	go func() {
		release, err := litetest.Hold(ctx, path)
		if err == nil {
			err = release()
		}
		long <- err != nil || time.Since(began) > heldFor
	}()
	return func() bool { return <-long }
}

// workerSince returns the time from which at least one worker has been running; zero when
// none is.
func (s *storm) workerSince() (first time.Time) {
	for _, w := range s.fleet.workers {
		if since, ok := w.runs(); ok && (first.IsZero() || since.Before(first)) {
			first = since
		}
	}
	return first
}
