package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Results are the times of all turns of one measurement.
type Results struct {
	Turns             int
	Took              time.Duration
	First, Token, End Times
}

// PerSecond returns the number of turns per second.
func (r *Results) PerSecond() float64 { return float64(r.Turns) / r.Took.Seconds() }

// Times are durations in any order.
type Times []time.Duration

// At returns the quantile q, from 0 to 1; 0 when there are no times.
func (t Times) At(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (t Times) String() string {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%.1f / %.1f ms", ms(t.At(0.5)), ms(t.At(0.95)))
}

// Caller sends turns to a system. User is the Caller for Palaver.
type Caller interface {
	// Turn sends one message to a thread and reads its stream to the end. It calls
	// began, unless it is nil, at the first event.
	Turn(ctx context.Context, thread string, m Message, began func()) (Timing, error)
}

// Measure runs turns turns on n threads at the same time, on each thread one after another.
func (u *User) Measure(ctx context.Context, n, turns int, m Message) (*Results, error) {
	return Measure(ctx, u, n, turns, m)
}

// Measure runs turns turns on n threads at the same time, on each thread one after another.
func Measure(ctx context.Context, u Caller, n, turns int, m Message) (*Results, error) {
	return MeasureSpread(ctx, u, n, turns, m, 0)
}

// MeasureSpread is Measure with the threads' first turns spread evenly over a time. Without
// that, with a model of constant latency, all threads would send each turn at the same time.
func MeasureSpread(ctx context.Context, u Caller, n, turns int, m Message, spread time.Duration) (*Results, error) {
	r := &Results{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	began := time.Now()
	for i := range n {
		wg.Go(func() {
			time.Sleep(spread * time.Duration(i) / time.Duration(n))
			thread := uuid.NewString()
			for range turns / n {
				t, err := u.Turn(ctx, thread, m, nil)
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				r.Turns++
				r.First, r.Token, r.End = append(r.First, t.First), append(r.Token, t.Token), append(r.End, t.End)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.Took = time.Since(began)
	return r, failed
}
