package api

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
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

// threadID reads a thread's id, which must be a UUID in the native dialect.
func threadID(c *gin.Context) (string, error) {
	var p dialect.Problems
	id := p.UUID("thread_id", c.Param("thread_id"))
	return id, p.Err()
}

// stamp formats a time for JSON.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
