package request_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/api/request"
	"github.com/palaver-chat/palaver/testkit/must"
)

// 12 connections that were not read kept the memory of their files until they closed.
func TestResponseThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	long := strings.Repeat("x", 64<<20)
	for name, write := range map[string]func(*gin.Context) error{
		"a file": func(c *gin.Context) error {
			_, err := c.Writer.WriteString(long)
			return err
		},
		"a stream": func(c *gin.Context) error {
			request.Streams(c)
			rc := http.NewResponseController(c.Writer)
			for {
				if _, err := c.Writer.Write([]byte(long[:1<<16])); err != nil {
					return err
				}
				if err := rc.Flush(); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			e := gin.New()
			e.Use(request.LimitWrites(50 * time.Millisecond))
			e.GET("/", func(c *gin.Context) { ended <- write(c) })
			server := httptest.NewServer(e)
			t.Cleanup(server.Close)
			c := must.Have(net.Dial("tcp", strings.TrimPrefix(server.URL, "http://")))(t)
			defer c.Close()
			must.Have(c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")))(t)
			require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
		})
	}
}

// A connection that rested longer than the timeout serves its next request.
func TestSlowHandlersAndRestingConnectionsAreNotCutOff(t *testing.T) {
	t.Parallel()
	e := gin.New()
	e.Use(request.LimitWrites(time.Nanosecond))
	e.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	require.Equal(t, http.StatusNoContent, serve(e).Code)
}

func serve(h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w
}
