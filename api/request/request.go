// Package request reads what HTTP requests hold, within their size and time limits.
package request

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/palaver-chat/palaver/api/dialect"
	"github.com/palaver-chat/palaver/api/problem"
	"github.com/palaver-chat/palaver/chat/messages"
)

// Limits of query parameters.
const (
	MaxCursor = 512
	MaxQuery  = 1000
)

const (
	idHeader = "X-Request-Id"
	idKey    = "request_id"
	maxID    = 64
)

// SetID uses the caller's request id if it is valid, else makes one.
func SetID(c *gin.Context) {
	id := c.GetHeader(idHeader)
	if len(id) > maxID || !dialect.Plain(id) {
		id = uuid.NewString()
	}
	c.Set(idKey, id)
	c.Header(idHeader, id)
}

// ID returns the request's id.
func ID(c *gin.Context) string { return c.GetString(idKey) }

// checkJSON refuses a body that is announced as something else than JSON, or as too long.
func checkJSON(c *gin.Context, limit int64) error {
	if kind, _, err := mime.ParseMediaType(c.ContentType()); err != nil || kind != "application/json" {
		return problem.Unsupported(messages.RequestNotJSON)
	}
	if c.Request.ContentLength > limit {
		return problem.TooLarge(messages.RequestTooLarge)
	}
	return nil
}

func readAll(c *gin.Context, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.Copy(&b, http.MaxBytesReader(c.Writer, c.Request.Body, limit)); err != nil {
		return nil, readError(err)
	}
	BodyReceived(c)
	return b.Bytes(), nil
}

// readError converts the error of a failed read of the body to a 400 (413 if too long).
func readError(err error) error {
	var large *http.MaxBytesError
	if err == nil || errors.As(err, &large) {
		return err
	}
	return problem.Invalid("body", "could not be read")
}

// Decode reads a small JSON body into out.
func Decode(c *gin.Context, out any) error {
	raw, err := Body(c, dialect.MaxBody)
	if err != nil {
		return err
	}
	return dialect.Decode(raw, out)
}

// Limit reads ?limit=.
func Limit(c *gin.Context, p *dialect.Problems, normal, most int) int {
	s := c.Query("limit")
	if s == "" {
		return normal
	}
	return Number(p, "limit", s, 1, most)
}

// Number reads a number from least to most.
func Number(p *dialect.Problems, field, s string, least, most int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		p.Add(field, "must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		return least
	}
	return n
}

// Query reads a parameter that holds text from a person.
func Query(c *gin.Context, p *dialect.Problems, field string, most int) string {
	s := c.Query(field)
	if !utf8.ValidString(s) {
		p.Add(field, "must be UTF-8")
		return ""
	}
	p.Text(field, s, 0, most)
	return s
}

// PathID reads a path parameter that is one of our ids. Other text gets a 404.
func PathID(c *gin.Context, name string) (string, error) {
	s := c.Param(name)
	if len(s) != 36 || uuid.Validate(s) != nil {
		return "", problem.NotFound
	}
	return strings.ToLower(s), nil
}
