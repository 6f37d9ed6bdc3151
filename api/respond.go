package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/identity"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/db"
)

// byID returns a route's handler that reads the path's id for h. Text that is none of our
// ids gets a 404.
func byID(h func(c *gin.Context, id string) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		id, err := request.PathID(c, "id")
		if err != nil {
			return err
		}
		return h(c, id)
	}
}

const maxServerName = 64

// byServer is byID for routes with the name of an MCP server.
func byServer(h func(c *gin.Context, server string) error) func(*gin.Context) error {
	return func(c *gin.Context) error {
		server := c.Param("server")
		if len(server) > maxServerName {
			return problem.NotFound
		}
		return h(c, server)
	}
}

// respond answers with v as JSON.
func respond(c *gin.Context, status int, v any) error {
	c.JSON(status, v)
	return nil
}

// respondEmpty answers with 204, unless there is an error.
func respondEmpty(c *gin.Context, err error) error {
	if err == nil {
		c.Status(http.StatusNoContent)
	}
	return err
}

// list is the JSON of every list.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
}

func listOf[T, V any](p db.Page[T], show func(T) V) list[V] {
	return list[V]{Items: showAll(p.Items, show), Next: p.Next}
}

// showAll returns the JSON of each item; it is never nil, which JSON would show as null.
func showAll[T, V any](items []T, show func(T) V) []V {
	out := make([]V, 0, len(items))
	for _, item := range items {
		out = append(out, show(item))
	}
	return out
}

// readPage reads the page of one of the caller's lists that ?cursor= and ?limit= ask for.
// The limit is normal by default and at most most.
func readPage[T any](c *gin.Context, normal, most int, read func(ctx context.Context, owner, cursor string, n int) (db.Page[T], error)) (db.Page[T], error) {
	var p dialect.Problems
	n := request.Limit(c, &p, normal, most)
	cursor := request.Query(c, &p, "cursor", request.MaxCursor)
	if err := p.Err(); err != nil {
		return db.Page[T]{}, err
	}
	return read(c.Request.Context(), identity.Of(c).ID, cursor, n)
}
