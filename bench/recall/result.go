package main

import (
	"slices"
	"time"
)

// result is the result of one store.
type result struct {
	labels, found      int
	recall, reciprocal float64 // of all labels; the mean of 1/rank
	times              []time.Duration
	load               time.Duration
}

// count records the rank at which a label was found; 0 when it was not found.
func (r *result) count(rank int) {
	r.labels++
	if rank > 0 {
		r.found++
		r.reciprocal += 1 / float64(rank)
	}
}

func (r *result) finish() {
	if r.labels > 0 {
		r.recall, r.reciprocal = float64(r.found)/float64(r.labels), r.reciprocal/float64(r.labels)
	}
	slices.Sort(r.times)
}

func (r *result) quantile(q float64) time.Duration {
	if len(r.times) == 0 {
		return 0
	}
	return r.times[int(q*float64(len(r.times)-1))].Round(100 * time.Microsecond)
}
