package api

import (
	"github.com/palaver-chat/palaver/db"
)

// list is the JSON of every list.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

func listOf[T, V any](p db.Page[T], show func(T) V) list[V] {
	out := list[V]{Items: make([]V, 0, len(p.Items)), Next: p.Next}
	for _, item := range p.Items {
		out.Items = append(out.Items, show(item))
	}
	return out
}
