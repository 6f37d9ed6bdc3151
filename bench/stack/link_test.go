package stack_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/bench/stack"
)

// echo answers each line with itself.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
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

func dial(t *testing.T, l *stack.Link) (net.Conn, *bufio.Reader) {
	c, err := net.Dial("tcp", l.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c, bufio.NewReader(c)
}

func TestALinkThatIsCutEndsConnectionsAndComesBack(t *testing.T) {
	l, err := stack.NewLink(echo(t))
	require.NoError(t, err)
	defer l.Close()
	c, in := dial(t, l)
	say := func() (string, error) {
		_, _ = c.Write([]byte("hello\n"))
		return in.ReadString('\n')
	}
	line, err := say()
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)

	l.Cut()
	_, err = say()
	require.Error(t, err)
	// A new connection is taken and dropped at once, before its dialler knows that
	// it stands or after.
	if cut, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = cut.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, cut.Close())
	}

	l.Mend()
	c, in = dial(t, l)
	line, err = say()
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)

	l.To("127.0.0.1:1") // nobody is there
	if lost, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = lost.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, lost.Close())
	}
}

func TestASilentLinkHoldsEverythingBackUntilItIsMended(t *testing.T) {
	l, err := stack.NewLink(echo(t))
	require.NoError(t, err)
	defer l.Close()
	c, in := dial(t, l)
	l.Silence()
	_, err = c.Write([]byte("old\n"))
	require.NoError(t, err)
	fresh, freshIn := dial(t, l)
	_, err = fresh.Write([]byte("new\n"))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = in.ReadString('\n')
	require.Error(t, err)

	require.NoError(t, c.SetReadDeadline(time.Time{}))
	l.Mend()
	for want, r := range map[string]*bufio.Reader{"old\n": in, "new\n": freshIn} {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want, line)
	}
}
