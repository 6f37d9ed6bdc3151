package api

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

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
