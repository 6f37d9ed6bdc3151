package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/bench/stack"
)

// results are the times of all turns of one measurement.
type results struct {
	turns             int
	took              time.Duration
	first, token, end []time.Duration
}

func (r *results) perSecond() float64 { return float64(r.turns) / r.took.Seconds() }

func (r *results) quantiles(d []time.Duration) string {
	slices.Sort(d)
	at := func(q float64) float64 {
		if len(d) == 0 {
			return 0
		}
		return float64(d[min(len(d)-1, int(q*float64(len(d))))].Microseconds()) / 1000
	}
	return fmt.Sprintf("%.1f / %.1f ms", at(0.5), at(0.95))
}

// measure runs turns on n threads at once, each thread one turn after another.
func measure(ctx context.Context, u *stack.User, n, turns int, doc, action string) (*results, error) {
	r := &results{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	began := time.Now()
	for range n {
		wg.Go(func() {
			thread := uuid.NewString()
			for range turns / n {
				t, err := u.Turn(ctx, thread, doc, action, nil)
				mu.Lock()
				if err != nil {
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				r.turns++
				r.first, r.token, r.end = append(r.first, t.First), append(r.token, t.Token), append(r.end, t.End)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.took = time.Since(began)
	return r, failed
}
