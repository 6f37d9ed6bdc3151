package api

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/db"
)

const (
	maxCursor = 512
	maxQuery  = 1000
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

// limit reads ?limit=.
func limit(c *gin.Context, p *dialect.Problems, normal, most int) int {
	s := c.Query("limit")
	if s == "" {
		return normal
	}
	return number(p, "limit", s, 1, most)
}

func number(p *dialect.Problems, field, s string, least, most int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		p.Add(field, "must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return least
	}
	return n
}

// query reads a parameter that holds text from a person.
func query(c *gin.Context, p *dialect.Problems, field string, most int) string {
	s := c.Query(field)
	if !utf8.ValidString(s) {
		p.Add(field, "must be UTF-8")
		return ""
	}
	p.Text(field, s, 0, most)
	return s
}

// id reads a path parameter that is one of our ids. Other text gets a 404.
func id(c *gin.Context, name string) (string, error) {
	s := c.Param(name)
	if len(s) != 36 || uuid.Validate(s) != nil {
		return "", errNotFound
	}
	return lower(s), nil
}

// threadID reads a thread's id, which must be a UUID in the native dialect.
func threadID(c *gin.Context) (string, error) {
	var p dialect.Problems
	id := p.UUID("thread_id", c.Param("thread_id"))
	return id, p.Err()
}

func lower(uuidText string) string { return uuid.MustParse(uuidText).String() }

// stamp formats a time for JSON.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
