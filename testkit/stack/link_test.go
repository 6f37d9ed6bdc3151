package stack_test

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/testkit/stack"
)

// echo starts a server that sends each line back.
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

func TestCutLinkClosesConnectionsUntilRestored(t *testing.T) {
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
	// The link accepts a new connection and drops it at once, so the dial may fail or
	// succeed.
	if cut, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = cut.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, cut.Close())
	}

	l.Restore()
	c, in = dial(t, l)
	line, err = say()
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)

	l.To("127.0.0.1:1") // no server listens
	if lost, err := net.Dial("tcp", l.Address()); err == nil {
		_, err = lost.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, lost.Close())
	}
}

func TestSilentLinkTransfersNothingUntilRestored(t *testing.T) {
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
	l.Restore()
	for want, r := range map[string]*bufio.Reader{"old\n": in, "new\n": freshIn} {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want, line)
	}
}

func TestDelayAddsToRoundTripsAndDoesNotLimitBandwidth(t *testing.T) {
	l, err := stack.NewLink(echo(t))
	require.NoError(t, err)
	defer l.Close()
	const far = 60 * time.Millisecond
	c, in := dial(t, l)
	say := func(lines ...string) time.Duration {
		began := time.Now()
		for _, line := range lines {
			_, err := c.Write([]byte(line + "\n"))
			require.NoError(t, err)
		}
		for _, line := range lines {
			got, err := in.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, line+"\n", got)
		}
		return time.Since(began)
	}
	say("near")

	l.Delay(far)
	require.GreaterOrEqual(t, say("one"), far)
	// Sent one after another these lines would take 200 round trips.
	var many []string
	for i := range 200 {
		many = append(many, strconv.Itoa(i))
	}
	together := say(many...)
	require.GreaterOrEqual(t, together, far)
	require.Less(t, together, 200*far)

	began := time.Now()
	c, in = dial(t, l)
	say("new")
	require.GreaterOrEqual(t, time.Since(began), 2*far, "connecting takes one round trip")

	l.Restore()
	require.GreaterOrEqual(t, say("still slow"), far)
}
