package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/palaver-chat/palaver/chat"
)

// line is the result of one ranking of a part of a set in a store.
type line struct {
	part, ranking string
	questions     int
	first, recall float64 // sums until finish, then means: hit@1, share of the labels found
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
	return all
}

func (l *line) finish() {
	l.first /= float64(max(1, l.questions))
	l.recall /= float64(max(1, l.questions))
}

// writeRows writes a row for each part and ranking of a set, with the figures of all stores
// beside each other.
func writeRows(w io.Writer, set string, stores [][]line) {
	for i, l := range stores[0] {
		of := func(figure func(l *line) string) string {
			var all []string
			for _, lines := range stores {
				all = append(all, figure(&lines[i]))
			}
			return strings.Join(all, ", ")
		}
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s | %s |\n", set, l.part, l.questions, l.ranking,
			of(func(l *line) string { return fmt.Sprintf("%.3f", l.first) }),
			of(func(l *line) string { return fmt.Sprintf("%.3f", l.recall) }))
	}
}
