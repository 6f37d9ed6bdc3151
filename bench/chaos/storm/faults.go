package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/palaver-chat/palaver/db/dbtest/litetest"
)

// fault is one thing that goes wrong, and is mended.
type fault struct {
	Name  string
	Which int           // of the processes it may hit
	Wait  time.Duration // before it
	Lasts time.Duration

	At     time.Time
	Mended time.Time
	// There is, after workers died, since when one is there; zero when none died.
	There time.Time
	kind  faultKind
}

type faultKind struct {
	name   string
	strike func(ctx context.Context, f *fleet, which int) (mend func(ctx context.Context) error, _ error)
	hits   target
}

// target is what a fault hits, as far as the promises differ.
type target int

const (
	hitsOther target = iota
	hitsWorkers
	hitsDatabase
)

// killing has the processes killed; what does not run is started to mend it.
func killing(which func(f *fleet, n int) []*process) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		killAll(which(f, n)...)
		return f.mend, nil
	}
}

func mended(mend func()) func(context.Context) error {
	return func(context.Context) error {
		mend()
		return nil
	}
}

var faultKinds = []faultKind{
	{"kill a worker", killing(func(f *fleet, n int) []*process { return f.workers[n%len(f.workers) : n%len(f.workers)+1] }), hitsWorkers},
	{"kill an API process", killing(func(f *fleet, n int) []*process { return f.apis[n%len(f.apis) : n%len(f.apis)+1] }), hitsOther},
	{"kill all workers and APIs", killing(func(f *fleet, _ int) []*process {
		return append(f.workers[:len(f.workers):len(f.workers)], f.apis...)
	}), hitsWorkers},
	{"kill Temporal and NATS", killing(func(f *fleet, _ int) []*process { return []*process{f.infra} }), hitsOther},
	{"kill everything", killing(func(f *fleet, _ int) []*process {
		return append(append(f.workers[:len(f.workers):len(f.workers)], f.apis...), f.infra)
	}), hitsWorkers},
	{"cut Temporal off", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.temporal.Cut()
		return mended(f.temporal.Mend), nil
	}, hitsOther},
	{"cut NATS off", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.nats.Cut()
		return mended(f.nats.Mend), nil
	}, hitsOther},
	{"silence NATS", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.nats.Silence()
		return mended(f.nats.Mend), nil
	}, hitsOther},
}

var sqliteFaults = []faultKind{
	{"hold the database's write lock", func(ctx context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		release, err := litetest.Hold(ctx, f.sqlite)
		return func(context.Context) error { return release() }, err
	}, hitsDatabase},
}

var postgresFaults = []faultKind{
	{"cut the database off", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.database.Cut()
		return mended(f.database.Mend), nil
	}, hitsDatabase},
	{"silence the database", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.database.Silence()
		return mended(f.database.Mend), nil
	}, hitsDatabase},
	{"drop the database's connections", func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.database.Reset()
		return mended(func() {}), nil
	}, hitsDatabase},
}

// plan draws the faults of a storm: every kind before any comes again. One in
// four lasts long.
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

// strike plays a fault from its beginning to the recovery.
func (s *storm) strike(ctx context.Context, n int, f *fault) error {
	pause(ctx, f.Wait)
	f.At = time.Now()
	s.say("fault %2d: %s (%d) for %v", n, f.Name, f.Which, f.Lasts)
	mend, err := f.kind.strike(ctx, s.fleet, f.Which)
	if err != nil {
		return fmt.Errorf("fault %d, %s: %w", n, f.Name, err)
	}
	if f.kind.hits == hitsWorkers {
		f.There = s.workerThere()
	}
	pause(ctx, f.Lasts)
	if err := mend(ctx); err != nil {
		return fmt.Errorf("mend fault %d, %s: %w", n, f.Name, err)
	}
	f.Mended = time.Now()
	if f.kind.hits == hitsWorkers && f.There.IsZero() {
		f.There = s.workerThere()
	}
	return ctx.Err()
}

// workerThere is since when, in this calm or fault, a worker is there; zero when
// none is.
func (s *storm) workerThere() (first time.Time) {
	for _, w := range s.fleet.workers {
		if since, ok := w.runs(); ok && (first.IsZero() || since.Before(first)) {
			first = since
		}
	}
	return first
}
