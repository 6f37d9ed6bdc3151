package relay_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/must"
	"github.com/palaver-chat/palaver/testkit/relay"
)

// echo starts a server that sends each line back.
func echo(t *testing.T) string {
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, l *relay.Link) (net.Conn, *bufio.Reader) {
	c := must.Have(net.Dial("tcp", l.Address()))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c, bufio.NewReader(c)
}

func TestCutLinkClosesConnectionsUntilRestored(t *testing.T) {
	l := must.Have(relay.New(echo(t)))(t)
	defer l.Close()
	c, in := dial(t, l)
	say := func() (string, error) {
		_, _ = c.Write([]byte("hello\n"))
		return in.ReadString('\n')
	}
	line := must.Have(say())(t)
	require.Equal(t, "hello\n", line)

	l.Cut()
	_, err := say()
	require.Error(t, err)
	// The link accepts a new connection and drops it at once, so the dial may fail or
	// succeed.
	if cut, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = cut.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, cut.Close())
	}

	l.Restore()
	c, in = dial(t, l)
	line = must.Have(say())(t)
	require.Equal(t, "hello\n", line)

	l.To("127.0.0.1:1") // no server listens
	if lost, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = lost.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, lost.Close())
	}
}

func TestSilentLinkTransfersNothingUntilRestored(t *testing.T) {
	l := must.Have(relay.New(echo(t)))(t)
	defer l.Close()
	c, in := dial(t, l)
	l.Silence()
	must.Have(c.Write([]byte("old\n")))(t)
	fresh, freshIn := dial(t, l)
	must.Have(fresh.Write([]byte("new\n")))(t)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := in.ReadString('\n')
	require.Error(t, err)

	require.NoError(t, c.SetReadDeadline(time.Time{}))
	l.Restore()
	for want, r := range map[string]*bufio.Reader{"old\n": in, "new\n": freshIn} {
		line := must.Have(r.ReadString('\n'))(t)
		require.Equal(t, want, line)
	}
}
