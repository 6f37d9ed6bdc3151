package service

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
)

// 65 connections that sent half of a request were still open after a minute.
func TestServerEndsConnectionsWithoutHeaders(t *testing.T) {
	s := httpServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	require.Positive(t, s.ReadHeaderTimeout)
	s.ReadHeaderTimeout = time.Millisecond
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = s.Serve(l) }() // until Close
	defer s.Close()
	c := must.Have(net.Dial("tcp", l.Addr().String()))(t)
	defer c.Close()
	must.Have(io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))(t)
	_, err := io.ReadAll(c) // until the server closes the connection
	require.NoError(t, err)
}
