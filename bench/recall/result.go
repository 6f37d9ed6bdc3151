package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/palaver-chat/palaver/chat"
)

// line is the result of one ranking of a part of a set in a store.
type line struct {
	part, ranking             string
	questions                 int
	first, recall, reciprocal float64 // sums until finish, then means: hit@1, share of the labels found, 1/rank
	times                     []time.Duration
}

// count adds a question's hits. It reports whether all labels were found.
func (l *line) count(q item, hits []chat.Hit) bool {
	best, all := 0, true
	for _, label := range q.labels {
		rank := 1 + slices.IndexFunc(hits, func(h chat.Hit) bool { return label[h.ID] })
		if rank == 0 {
			all = false
			continue
		}
		l.recall += 1 / float64(len(q.labels))
		if best == 0 || rank < best {
			best = rank
		}
	}
	if best == 1 {
		l.first++
	}
	if best > 0 {
		l.reciprocal += 1 / float64(best)
	}
	return all
}

func (l *line) finish() {
	l.first /= float64(max(1, l.questions))
	l.recall /= float64(max(1, l.questions))
	l.reciprocal /= float64(max(1, l.questions))
	slices.Sort(l.times)
}

func (l *line) write(w io.Writer, set, store string) {
	fmt.Fprintf(w, "| %s | %s | %d | %s | %s | %.3f | %.3f | %.3f | %s / %s |\n", set, l.part, l.questions, store, l.ranking,
		l.first, l.recall, l.reciprocal, l.quantile(0.5), l.quantile(0.95))
}

func (l *line) quantile(q float64) time.Duration {
	if len(l.times) == 0 {
		return 0
	}
	return l.times[int(q*float64(len(l.times)-1))].Round(100 * time.Microsecond)
}
