package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/palaver-chat/palaver/bench/stack"
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
	There  time.Time
	Silent string // the worker that fell silent, if one did
	kind   faultKind
}

type faultKind struct {
	name   string
	strike func(ctx context.Context, f *fleet, which int) (mend func(ctx context.Context) error, _ error)
	hits   target
	lasts  func(o Options) time.Duration // nil: as it is drawn
}

// target is what a fault hits, as far as the promises differ.
type target int

const (
	hitsOther target = iota
	hitsWorkers
	hitsDatabase
	silencesAWorker
	hitsNothing // so short that no work under way may be cut
)

func freezeTime(o Options) time.Duration { return o.Freeze }
func hiccupTime(o Options) time.Duration { return o.Hiccup }

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

// freezing stops a process without a word, and lets it go on to mend it.
func freezing(which func(f *fleet, n int) *process) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		p := which(f, n)
		return func(context.Context) error { return p.thaw() }, p.freeze()
	}
}

// linking does something to every link on the way to one server.
func linking(which func(f *fleet) *network, do func(*stack.Link)) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		n := which(f)
		n.each(do)
		return mended(func() { n.each((*stack.Link).Mend) }), nil
	}
}

// silencing has one worker's links swallow everything.
func silencing(which func(f *fleet) []*network) func(context.Context, *fleet, int) (func(context.Context) error, error) {
	return func(_ context.Context, f *fleet, n int) (func(context.Context) error, error) {
		for _, way := range which(f) {
			way.workers[n%len(f.workers)].Silence()
		}
		return mended(func() {
			for _, way := range which(f) {
				way.workers[n%len(f.workers)].Mend()
			}
		}), nil
	}
}

func aWorker(f *fleet, n int) *process { return f.workers[n%len(f.workers)] }
func anAPI(f *fleet, n int) *process   { return f.apis[n%len(f.apis)] }

func toTemporal(f *fleet) *network { return f.temporal }
func toNATS(f *fleet) *network     { return f.nats }
func toDatabase(f *fleet) *network { return f.database }

var faultKinds = []faultKind{
	{name: "kill a worker", strike: killing(func(f *fleet, n int) []*process { return []*process{aWorker(f, n)} }), hits: hitsWorkers},
	{name: "kill an API process", strike: killing(func(f *fleet, n int) []*process { return []*process{anAPI(f, n)} })},
	{name: "kill all workers and APIs", strike: killing(func(f *fleet, _ int) []*process {
		return append(f.workers[:len(f.workers):len(f.workers)], f.apis...)
	}), hits: hitsWorkers},
	{name: "kill Temporal and NATS", strike: killing(func(f *fleet, _ int) []*process { return []*process{f.infra} })},
	{name: "kill everything", strike: killing(func(f *fleet, _ int) []*process {
		return append(append(f.workers[:len(f.workers):len(f.workers)], f.apis...), f.infra)
	}), hits: hitsWorkers},
	{name: "freeze a worker", strike: freezing(aWorker), hits: silencesAWorker, lasts: freezeTime},
	{name: "freeze an API process", strike: freezing(anAPI), lasts: freezeTime},
	{name: "silence Temporal for a worker", strike: silencing(func(f *fleet) []*network { return []*network{f.temporal} }),
		hits: silencesAWorker, lasts: freezeTime},
	{name: "silence everything for a worker", strike: silencing(func(f *fleet) []*network {
		all := []*network{f.temporal, f.nats}
		if f.database != nil {
			all = append(all, f.database)
		}
		return all
	}), hits: silencesAWorker, lasts: freezeTime},
	{name: "cut Temporal off", strike: linking(toTemporal, (*stack.Link).Cut)},
	{name: "cut Temporal off for a moment", strike: linking(toTemporal, (*stack.Link).Cut), hits: hitsNothing, lasts: hiccupTime},
	{name: "silence Temporal for a moment", strike: linking(toTemporal, (*stack.Link).Silence), hits: hitsNothing, lasts: hiccupTime},
	{name: "cut NATS off", strike: linking(toNATS, (*stack.Link).Cut)},
	{name: "silence NATS", strike: linking(toNATS, (*stack.Link).Silence)},
}

var sqliteFaults = []faultKind{
	{name: "hold the database's write lock", strike: func(ctx context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		release, err := litetest.Hold(ctx, f.sqlite)
		return func(context.Context) error { return release() }, err
	}, hits: hitsDatabase},
}

// far is how much longer a round trip takes to a database that is far away.
const far = 30 * time.Millisecond

var postgresFaults = []faultKind{
	{name: "cut the database off", strike: linking(toDatabase, (*stack.Link).Cut), hits: hitsDatabase},
	{name: "silence the database", strike: linking(toDatabase, (*stack.Link).Silence), hits: hitsDatabase},
	{name: "drop the database's connections", strike: linking(toDatabase, (*stack.Link).Reset), hits: hitsDatabase},
	{name: "move the database far away", strike: func(_ context.Context, f *fleet, _ int) (func(context.Context) error, error) {
		f.database.each(func(l *stack.Link) { l.Delay(far) })
		return mended(func() { f.database.each(func(l *stack.Link) { l.Delay(0) }) }), nil
	}},
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

// strike plays a fault from its beginning to the recovery.
func (s *storm) strike(ctx context.Context, n int, f *fault) error {
	pause(ctx, f.Wait)
	f.At = time.Now()
	s.say("fault %2d: %s (%d) for %v", n, f.Name, f.Which, f.Lasts)
	mend, err := f.kind.strike(ctx, s.fleet, f.Which)
	if err != nil {
		return fmt.Errorf("fault %d, %s: %w", n, f.Name, err)
	}
	switch f.kind.hits {
	case hitsWorkers:
		f.There = s.workerThere()
	case silencesAWorker:
		f.Silent = aWorker(s.fleet, f.Which).name
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
