package stream_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/stream"
)

// startServer runs a NATS server in this process.
func startServer(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.NoSigs, opts.NoLog = true, true
	ns, err := server.NewServer(&opts)
	require.NoError(t, err)
	ns.Start()
	require.True(t, ns.ReadyForConnections(10*time.Second))
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	return ns
}

func inProcess(t *testing.T, ns *server.Server) *stream.NATS {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(ns))
	require.NoError(t, err)
	bus := stream.FromConn(nc)
	t.Cleanup(bus.Close)
	return bus
}

// receive waits for one value; a bound that only a failure reaches.
func receive[V any](t *testing.T, ch <-chan V) V {
	t.Helper()
	select {
	case v, ok := <-ch:
		require.True(t, ok, "the channel is closed")
		return v
	case <-time.After(10 * time.Second):
		require.FailNow(t, "nothing arrived")
		panic("unreachable")
	}
}

func drained[V any](t *testing.T, ch <-chan V) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case _, ok := <-ch:
			if !ok {
				return
			}
		case <-deadline:
			require.FailNow(t, "the channel was not closed")
		}
	}
}

func TestTurnSignalsArriveInOrderAtEveryFollowerAndAtNobodyElse(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	publisher, reader := inProcess(t, ns), inProcess(t, ns)
	turn, other := uuid.NewString(), uuid.NewString()

	first, err := reader.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	second, err := publisher.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	elsewhere, err := reader.Subscribe(t.Context(), other)
	require.NoError(t, err)

	delta := stream.Delta{TurnID: turn, Piece: 1, Attempt: 2, Offset: 3, Text: "drei Wörter, 四"}
	publisher.Hint(turn, 4)
	publisher.PublishDelta(delta)
	publisher.Hint(turn, 5)
	publisher.Hint(other, 9)

	for _, follower := range []<-chan stream.Signal{first, second} {
		assert.Equal(t, stream.Signal{N: 4}, receive(t, follower))
		assert.Equal(t, stream.Signal{Delta: &delta}, receive(t, follower))
		assert.Equal(t, stream.Signal{N: 5}, receive(t, follower))
	}
	assert.Equal(t, stream.Signal{N: 9}, receive(t, elsewhere), "the other turn's first signal is its own")
}

func TestStopsAndThreadsHaveTheirOwnSubjects(t *testing.T) {
	bus := inProcess(t, startServer(t, server.Options{DontListen: true}))
	turn, thread := uuid.NewString(), uuid.NewString()
	stops, err := bus.SubscribeStops(t.Context(), turn)
	require.NoError(t, err)
	turns, err := bus.SubscribeThread(t.Context(), thread)
	require.NoError(t, err)

	bus.Hint(turn, 1)
	bus.AnnounceStop(turn)
	bus.ThreadChanged(thread, turn)

	receive(t, stops)
	assert.Equal(t, turn, receive(t, turns))
}

func TestAStopAnnouncedBeforeAnybodyListensIsHeardAllTheSame(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	worker, workflow := inProcess(t, ns), inProcess(t, ns)
	turn, other := uuid.NewString(), uuid.NewString()
	workflow.AnnounceStop(turn)
	workflow.AnnounceStop(other)
	others, err := worker.SubscribeStops(t.Context(), other)
	require.NoError(t, err)
	receive(t, others) // both have arrived

	for range 2 { // two activities of the turn, one after the other
		ctx, cancel := context.WithCancel(t.Context())
		stops, err := worker.SubscribeStops(ctx, turn)
		require.NoError(t, err)
		receive(t, stops)
		workflow.AnnounceStop(turn) // once more changes nothing
		cancel()
		drained(t, stops)
	}
}

func TestManyStopsAreRememberedAndOldOnesForgotten(t *testing.T) {
	bus := inProcess(t, startServer(t, server.Options{DontListen: true}))
	first, last := uuid.NewString(), uuid.NewString()
	stops, err := bus.SubscribeStops(t.Context(), first)
	require.NoError(t, err)
	bus.AnnounceStop(first)
	receive(t, stops)
	for range 10_000 {
		bus.AnnounceStop(uuid.NewString())
	}
	bus.AnnounceStop(last)
	late, err := bus.SubscribeStops(t.Context(), last)
	require.NoError(t, err)
	receive(t, late)
	bus.AnnounceStop(first) // forgotten, and still waited for
	again, err := bus.SubscribeStops(t.Context(), first)
	require.NoError(t, err)
	receive(t, again)
}

func TestWhetherSomebodyWatchesIsAskedOfEveryProcess(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	asker, second, third := inProcess(t, ns), inProcess(t, ns), inProcess(t, ns)
	watched, alone := uuid.NewString(), uuid.NewString()
	ask := func(turn string) bool {
		yes, err := asker.Watched(t.Context(), turn)
		require.NoError(t, err)
		return yes
	}
	require.False(t, ask(watched), "nobody is there to answer")

	nobody := func(string) bool { return false }
	require.NoError(t, asker.AnswerWatched(t.Context(), nobody))
	require.NoError(t, second.AnswerWatched(t.Context(), nobody))
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, third.AnswerWatched(ctx, func(turn string) bool { return turn == watched }))
	require.True(t, ask(watched))
	require.False(t, ask(alone))

	cancel()
	require.Eventually(t, func() bool { return !ask(watched) }, 20*time.Second, time.Millisecond)
	asker.Close()
	_, err := asker.Watched(t.Context(), watched)
	require.Error(t, err, "not known is not no")
	require.Error(t, asker.AnswerWatched(t.Context(), nobody))
}

func TestAFullBufferDropsAndNeverBlocksThePublisher(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	bus := inProcess(t, ns)
	turn := uuid.NewString()
	slow, err := bus.Subscribe(t.Context(), turn)
	require.NoError(t, err)

	const sent = 5000
	for n := range sent {
		bus.Hint(turn, n+1)
	}
	// A follower that subscribes now hears a last hint after all the others
	// have been handed out.
	last, err := bus.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	bus.Hint(turn, sent+1)
	receive(t, last)

	bus.Close()
	got := 0
	for range slow {
		got++
	}
	assert.Positive(t, got)
	assert.Less(t, got, sent, "a bounded buffer cannot hold them all")
}

func TestTheChannelClosesWithItsContextAndWithTheBus(t *testing.T) {
	bus := inProcess(t, startServer(t, server.Options{DontListen: true}))
	ctx, cancel := context.WithCancel(t.Context())
	byContext, err := bus.Subscribe(ctx, uuid.NewString())
	require.NoError(t, err)
	byBus, err := bus.SubscribeStops(t.Context(), uuid.NewString())
	require.NoError(t, err)

	cancel()
	drained(t, byContext)
	bus.Close()
	bus.Close()
	drained(t, byBus)
	assert.False(t, bus.Ready())
	bus.Hint(uuid.NewString(), 1) // a closed bus drops
}

func TestIdsThatAreNoUUIDReachNoSubject(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	bus := inProcess(t, ns)
	for _, id := range []string{"", "*", ">", "a.b", "urn:uuid:" + uuid.NewString(), "{" + uuid.NewString() + "}", "00000000-0000-0000-0000-00000000000*"} {
		_, err := bus.Subscribe(t.Context(), id)
		require.Error(t, err, id)
	}

	nc, err := nats.Connect("", nats.InProcessServer(ns))
	require.NoError(t, err)
	defer nc.Close()
	all, err := nc.SubscribeSync(">")
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	bus.Hint("*", 1)
	bus.AnnounceStop(">")
	turn := uuid.NewString()
	bus.Hint(turn, 1)
	msg, err := all.NextMsg(10 * time.Second)
	require.NoError(t, err)
	assert.Equal(t, "palaver.turn."+turn, msg.Subject, "the malformed ones were never sent")
}

func TestMessagesThatMakeNoSenseAreDropped(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	bus := inProcess(t, ns)
	turn := uuid.NewString()
	signals, err := bus.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	nc, err := nats.Connect("", nats.InProcessServer(ns))
	require.NoError(t, err)
	defer nc.Close()

	for _, body := range []string{"", "{", "[]", "{}", `{"n":-1}`, `{"delta":{"turn_id":"another"}}`, `{"delta":{"turn_id":"` + turn + `","offset":-1}}`} {
		require.NoError(t, nc.Publish("palaver.turn."+turn, []byte(body)))
	}
	require.NoError(t, nc.Publish("palaver.turn."+turn, []byte(`{"n":7}`)))
	assert.Equal(t, stream.Signal{N: 7}, receive(t, signals))
}

func TestConnectWaitsForAServerThatIsAwayAndDropsMeanwhile(t *testing.T) {
	ns := startServer(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	url := ns.ClientURL()
	port := ns.Addr().String()
	ns.Shutdown()
	ns.WaitForShutdown()

	bus, err := stream.Connect(url)
	require.NoError(t, err)
	defer bus.Close()
	assert.False(t, bus.Ready())
	turn := uuid.NewString()
	signals, err := bus.Subscribe(t.Context(), turn)
	require.NoError(t, err)
	bus.Hint(turn, 1) // dropped

	startServer(t, server.Options{Host: "127.0.0.1", Port: portOf(t, port)})
	require.Eventually(t, bus.Ready, 20*time.Second, 10*time.Millisecond)
	bus.Hint(turn, 2)
	assert.Equal(t, stream.Signal{N: 2}, receive(t, signals), "the subscription came along, the dropped hint did not")
}

// silentServer accepts connections to target, and lets nothing through once silent
// is closed.
func silentServer(t *testing.T, target string, silent <-chan struct{}) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	pass := func(to, from net.Conn) {
		for buffer := make([]byte, 4096); ; {
			n, err := from.Read(buffer)
			if err != nil {
				_ = to.Close()
				return
			}
			select {
			case <-silent:
			default:
				_, _ = to.Write(buffer[:n])
			}
		}
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				_ = near.Close()
				continue
			}
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return "nats://" + listener.Addr().String()
}

func TestASilentServerIsNotReadAsANoAndIsNoticed(t *testing.T) {
	ns := startServer(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	silent := make(chan struct{})
	bus, err := stream.Connect(silentServer(t, ns.Addr().String(), silent))
	require.NoError(t, err)
	t.Cleanup(bus.Close)
	turn := uuid.NewString()
	followed, err := bus.Watched(t.Context(), turn)
	require.NoError(t, err)
	require.False(t, followed, "nobody follows, and the server says so")

	other := inProcess(t, ns)
	require.NoError(t, other.AnswerWatched(t.Context(), func(string) bool { return true }))
	close(silent)
	_, err = bus.Watched(t.Context(), turn)
	require.Error(t, err, "somebody follows, and nothing comes through")
	require.Eventually(t, func() bool { return !bus.Ready() }, time.Minute, 10*time.Millisecond)
	bus.Hint(turn, 1) // does not block
}

func TestConnectRefusesAMalformedURL(t *testing.T) {
	_, err := stream.Connect("nats://[::1")
	require.Error(t, err)
}

func TestNowhereDropsAndCloses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var bus stream.Bus = stream.Nowhere{}
	signals, err := bus.Subscribe(ctx, uuid.NewString())
	require.NoError(t, err)
	bus.Hint(uuid.NewString(), 1)
	assert.True(t, bus.Ready(), "left out is not down")
	cancel()
	drained(t, signals)
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return n
}
