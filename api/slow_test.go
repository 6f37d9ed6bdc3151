package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"github.com/ulule/limiter/v3"

	"github.com/palaver-chat/palaver/api/limits"
	"github.com/palaver-chat/palaver/internal/guard"
	"github.com/palaver-chat/palaver/testkit/must"
)

// A client that announces a body and sends none, or one that stops in the middle, must
// not keep its connection: 65 of 65 were still open after 140 s.
func TestConnectionOfBodyThatDoesNotArriveIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, func(d *Deps) { d.Config.BodyTimeout = 50 * time.Millisecond })
	address := strings.TrimPrefix(b.url, "http://")
	requests := map[string]string{}
	for _, r := range append(b.server.routes().(*gin.Engine).Routes(), gin.RouteInfo{Method: "POST", Path: "/nothing"}, gin.RouteInfo{Method: "GET", Path: "/"}) {
		path := pathParam.ReplaceAllString(r.Path, someThread)
		for kind, body := range map[string]string{
			"application/json": "{", "text/plain": "", "multipart/form-data; boundary=x": "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nabc",
		} {
			for _, length := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
				if length[0] == 'T' && body != "" {
					body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
				}
				requests[r.Method+" "+r.Path+" "+kind+" "+length] =
					r.Method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + kind + "\r\n" + length + "\r\n\r\n" + body
			}
		}
	}
	require.Greater(t, len(requests), 150)
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := must.Have(net.Dial("tcp", address))(t)
			defer c.Close()
			must.Have(io.WriteString(c, request))(t)
			answer, err := io.ReadAll(c) // until the server closes the connection
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(answer), "HTTP/1.1 "), string(answer))
		})
	}
}

// A client that reads the answer only after it has sent its whole body saw a connection reset.
func TestClientThatSendsAllBeforeItReadsGetsTheRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(limits.Config{LargeBodies: limiter.Rate{Limit: 1, Period: time.Hour}}), func(d *Deps) { d.Config.Hosts, _ = guard.NewHosts("127.0.0.1", "") })
	require.Equal(t, http.StatusOK, b.client().send("POST", "/v1/chat/completions", large()).StatusCode)
	piece := strings.Repeat("x", 1<<20) // more of them than both ends of a connection buffer
	for name, r := range map[string]struct {
		head   string
		pieces int
		status int
	}{
		"too long":                    {"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", 40, http.StatusRequestEntityTooLarge},
		"too long a file":             {"POST /api/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x", 80, http.StatusRequestEntityTooLarge},
		"too many":                    {"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", 15, http.StatusTooManyRequests},
		"another host":                {"POST /api/chat HTTP/1.1\r\nHost: elsewhere.example\r\nContent-Type: application/json", 40, http.StatusMisdirectedRequest},
		"no route":                    {"POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json", 40, http.StatusNotFound},
		"too long, of unknown length": {"POST /api/chat HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json", -40, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := must.Have(net.Dial("tcp", strings.TrimPrefix(b.url, "http://")))(t)
			defer c.Close()
			sent := func(format string, args ...any) {
				_, err := fmt.Fprintf(c, format, args...)
				require.NoError(t, err)
			}
			if r.pieces > 0 {
				sent("%s\r\nContent-Length: %d\r\n\r\n", r.head, r.pieces<<20)
			} else {
				sent("%s\r\n\r\n", r.head)
			}
			for range max(r.pieces, -r.pieces) {
				if r.pieces > 0 {
					sent("%s", piece)
				} else {
					sent("%x\r\n%s\r\n", len(piece), piece)
				}
			}
			if r.pieces < 0 {
				sent("0\r\n\r\n")
			}
			answer := must.Have(http.ReadResponse(bufio.NewReader(c), nil))(t)
			require.Equal(t, r.status, answer.StatusCode)
			require.Contains(t, string(must.Have(io.ReadAll(answer.Body))(t)), `"message"`)
		})
	}
}
