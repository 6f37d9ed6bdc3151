package bus_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
	"github.com/palaver-chat/palaver/testkit/must"
)

// startServer runs a NATS server in this process.
func startServer(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.NoSigs, opts.NoLog = true, true
	ns := must.Have(server.NewServer(&opts))(t)
	ns.Start()
	require.True(t, ns.ReadyForConnections(10*time.Second))
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	return ns
}

func connectInProcess(t *testing.T, ns *server.Server) *bus.NATS {
	t.Helper()
	nc := must.Have(nats.Connect("", nats.InProcessServer(ns)))(t)
	b := bus.FromConn(nc)
	t.Cleanup(b.Close)
	return b
}

// forEachBus runs a test on each kind of bus, with two connections to it.
func forEachBus(t *testing.T, test func(t *testing.T, one, two bus.Bus)) {
	t.Run("NATS", func(t *testing.T) {
		ns := startServer(t, server.Options{DontListen: true})
		test(t, connectInProcess(t, ns), connectInProcess(t, ns))
	})
	t.Run("local", func(t *testing.T) {
		b := bus.NewLocal()
		t.Cleanup(b.Close)
		test(t, b, b)
	})
}

// receive waits for one value. Only a failing test reaches the timeout.
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

func waitClosed[V any](t *testing.T, ch <-chan V) {
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

func TestTurnSignalsArriveInOrderAtFollowersOfThatTurnOnly(t *testing.T) {
	forEachBus(t, func(t *testing.T, publisher, reader bus.Bus) {
		turn, other := uuid.NewString(), uuid.NewString()

		first := must.Have(reader.Subscribe(t.Context(), turn))(t)
		second := must.Have(publisher.Subscribe(t.Context(), turn))(t)
		otherSignals := must.Have(reader.Subscribe(t.Context(), other))(t)

		delta := bus.Delta{TurnID: turn, Piece: 1, Attempt: 2, Offset: 3, Text: "drei Wörter, 四"}
		publisher.Hint(turn, 4)
		publisher.PublishDelta(delta)
		publisher.Hint(turn, 5)
		publisher.Retrying(turn, 2)
		progress := bus.Progress{TurnID: turn, Report: chat.Report{Of: "c1", Call: true, N: 1, Node: chat.NodeImport, Text: "half"}, Logged: 5}
		publisher.PublishProgress(progress)
		publisher.Hint(other, 9)

		for _, follower := range []<-chan bus.Signal{first, second} {
			assert.Equal(t, bus.Signal{N: 4}, receive(t, follower))
			assert.Equal(t, bus.Signal{Delta: &delta}, receive(t, follower))
			assert.Equal(t, bus.Signal{N: 5}, receive(t, follower))
			assert.Equal(t, bus.Signal{Retry: 2}, receive(t, follower))
			assert.Equal(t, bus.Signal{Progress: &progress}, receive(t, follower))
		}
		assert.Equal(t, bus.Signal{N: 9}, receive(t, otherSignals), "the other turn's first signal is its own")
	})
}

func TestLongSettledLogIsNotSentOverNATS(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	b, id := connectInProcess(t, ns), uuid.NewString()
	signals := must.Have(b.Subscribe(t.Context(), id))(t)
	end := func(bytes int) bus.End {
		return bus.End{Owner: "o", Events: []chat.Event{{Type: chat.EventText, N: 1, Text: strings.Repeat("x", bytes)}}}
	}
	b.Settled(id, end(60<<10))
	b.Settled(id, end(64<<10))
	require.Equal(t, bus.Signal{Settled: true, End: end(60 << 10)}, receive(t, signals))
	require.Equal(t, bus.Signal{Settled: true}, receive(t, signals))
}

func TestDeltasWithoutFollowersAreNotSentAndOnesThatSubscribeGetTheNext(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	nc := must.Have(nats.Connect("", nats.InProcessServer(ns)))(t)
	worker, reader := bus.FromConn(nc), connectInProcess(t, ns)
	t.Cleanup(worker.Close)
	turn, watched := uuid.NewString(), uuid.NewString()
	others := must.Have(reader.Subscribe(t.Context(), watched))(t)
	sent := 0
	publish := func(turn string) bool {
		before := nc.Stats().OutMsgs
		worker.PublishDelta(bus.Delta{TurnID: turn, Piece: 1, Attempt: 1, Offset: sent, Text: "x"})
		sent++
		return nc.Stats().OutMsgs > before
	}
	for publish(turn) { // until the server's reply has arrived
		<-time.After(time.Millisecond)
	}
	require.True(t, publish(watched))
	receive(t, others)

	signals := must.Have(reader.Subscribe(t.Context(), turn))(t) // while its deltas are not sent
	for !publish(turn) {
		<-time.After(time.Millisecond)
	}
	require.Equal(t, sent-1, receive(t, signals).Delta.Offset)
	for range 3 {
		require.True(t, publish(turn))
		require.Equal(t, sent-1, receive(t, signals).Delta.Offset, "nothing is lost any more")
	}
}

func TestStopsAndThreadsHaveTheirOwnSubjects(t *testing.T) {
	forEachBus(t, func(t *testing.T, b, _ bus.Bus) {
		turn, thread := uuid.NewString(), uuid.NewString()
		stops := must.Have(b.SubscribeStops(t.Context(), turn))(t)
		turns := must.Have(b.SubscribeThread(t.Context(), thread))(t)

		b.Hint(turn, 1)
		b.AnnounceStop(turn)
		b.ThreadChanged(thread, turn)

		receive(t, stops)
		assert.Equal(t, turn, receive(t, turns))
	})
}

func TestStopAnnouncedBeforeSubscribingIsDelivered(t *testing.T) {
	forEachBus(t, func(t *testing.T, worker, workflow bus.Bus) {
		turn, other := uuid.NewString(), uuid.NewString()
		workflow.AnnounceStop(turn)
		workflow.AnnounceStop(other)
		others := must.Have(worker.SubscribeStops(t.Context(), other))(t)
		receive(t, others) // both have arrived

		for range 2 { // two activities of the turn, one after the other
			ctx, cancel := context.WithCancel(t.Context())
			stops := must.Have(worker.SubscribeStops(ctx, turn))(t)
			receive(t, stops)
			workflow.AnnounceStop(turn) // a repeated announcement changes nothing
			cancel()
			waitClosed(t, stops)
		}
	})
}

func TestStopsAreKeptUntilManyNewerOnesArrive(t *testing.T) {
	forEachBus(t, func(t *testing.T, b, _ bus.Bus) {
		first, last := uuid.NewString(), uuid.NewString()
		stops := must.Have(b.SubscribeStops(t.Context(), first))(t)
		b.AnnounceStop(first)
		receive(t, stops)
		for range 10_000 {
			b.AnnounceStop(uuid.NewString())
		}
		b.AnnounceStop(last)
		late := must.Have(b.SubscribeStops(t.Context(), last))(t)
		receive(t, late)
		b.AnnounceStop(first) // forgotten, but still subscribed to
		again := must.Have(b.SubscribeStops(t.Context(), first))(t)
		receive(t, again)
	})
}

func TestWatchedAsksEveryProcess(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	asker, second, third := connectInProcess(t, ns), connectInProcess(t, ns), connectInProcess(t, ns)
	watched, alone := uuid.NewString(), uuid.NewString()
	ask := func(turn string) bool {
		yes := must.Have(asker.Watched(t.Context(), turn))(t)
		return yes
	}
	require.False(t, ask(watched), "no process answers")

	noViewers := func(string) bool { return false }
	require.NoError(t, asker.AnswerWatched(t.Context(), noViewers))
	require.NoError(t, second.AnswerWatched(t.Context(), noViewers))
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, third.AnswerWatched(ctx, func(turn string) bool { return turn == watched }))
	require.True(t, ask(watched))
	require.False(t, ask(alone))

	cancel()
	require.Eventually(t, func() bool { return !ask(watched) }, 20*time.Second, time.Millisecond)
	asker.Close()
	_, err := asker.Watched(t.Context(), watched)
	require.Error(t, err, "an unanswered question is not a no")
	require.Error(t, asker.AnswerWatched(t.Context(), noViewers))
}

func TestLocalBusAnswersWatchedForItsProcess(t *testing.T) {
	b := bus.NewLocal()
	watched, alone := uuid.NewString(), uuid.NewString()
	ask := func(turn string) bool {
		yes := must.Have(b.Watched(t.Context(), turn))(t)
		return yes
	}
	require.False(t, ask(watched))
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, b.AnswerWatched(ctx, func(turn string) bool { return turn == watched }))
	require.True(t, ask(watched))
	require.False(t, ask(alone))
	cancel()
	require.False(t, ask(watched))
	b.Close()
	_, err := b.Watched(t.Context(), watched)
	require.Error(t, err, "an unanswered question is not a no")
	require.Error(t, b.AnswerWatched(t.Context(), func(string) bool { return true }))
}

func TestFullBufferDropsMessagesAndNeverBlocksThePublisher(t *testing.T) {
	forEachBus(t, func(t *testing.T, b, _ bus.Bus) {
		turn := uuid.NewString()
		slow := must.Have(b.Subscribe(t.Context(), turn))(t)

		const sent = 5000
		for n := range sent {
			b.Hint(turn, n+1)
		}
		// A new follower receives the last hint after all earlier ones were delivered.
		last := must.Have(b.Subscribe(t.Context(), turn))(t)
		b.Hint(turn, sent+1)
		receive(t, last)

		b.Close()
		got := 0
		for range slow {
			got++
		}
		assert.Positive(t, got)
		assert.Less(t, got, sent, "the buffer is bounded")
	})
}

func TestSubscriptionClosesWithItsContextAndWithTheBus(t *testing.T) {
	forEachBus(t, func(t *testing.T, b, _ bus.Bus) {
		ctx, cancel := context.WithCancel(t.Context())
		byContext := must.Have(b.Subscribe(ctx, uuid.NewString()))(t)
		byBus := must.Have(b.SubscribeStops(t.Context(), uuid.NewString()))(t)

		cancel()
		waitClosed(t, byContext)
		b.Close()
		b.Close()
		waitClosed(t, byBus)
		assert.False(t, b.Ready())
		b.Hint(uuid.NewString(), 1) // a closed bus drops
	})
}

func TestInvalidIDsAreNeverPublished(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	b := connectInProcess(t, ns)
	for _, id := range []string{"", "*", ">", "a.b", "urn:uuid:" + uuid.NewString(), "{" + uuid.NewString() + "}", "00000000-0000-0000-0000-00000000000*"} {
		_, err := b.Subscribe(t.Context(), id)
		require.Error(t, err, id)
	}

	nc := must.Have(nats.Connect("", nats.InProcessServer(ns)))(t)
	defer nc.Close()
	all := must.Have(nc.SubscribeSync(">"))(t)
	require.NoError(t, nc.Flush())
	b.Hint("*", 1)
	b.AnnounceStop(">")
	turn := uuid.NewString()
	b.Hint(turn, 1)
	msg := must.Have(all.NextMsg(10 * time.Second))(t)
	assert.Equal(t, "palaver.turn."+turn, msg.Subject, "messages with invalid ids were never sent")
}

func TestMalformedMessagesAreDropped(t *testing.T) {
	ns := startServer(t, server.Options{DontListen: true})
	b := connectInProcess(t, ns)
	turn := uuid.NewString()
	signals := must.Have(b.Subscribe(t.Context(), turn))(t)
	nc := must.Have(nats.Connect("", nats.InProcessServer(ns)))(t)
	defer nc.Close()

	for _, body := range []string{"", "{", "[]", "{}", `{"n":-1}`, `{"delta":{"turn_id":"another"}}`, `{"delta":{"turn_id":"` + turn + `","offset":-1}}`} {
		require.NoError(t, nc.Publish("palaver.turn."+turn, []byte(body)))
	}
	require.NoError(t, nc.Publish("palaver.turn."+turn, []byte(`{"n":7}`)))
	assert.Equal(t, bus.Signal{N: 7}, receive(t, signals))
}

func TestConnectRetriesAnUnavailableServer(t *testing.T) {
	ns := startServer(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	url := ns.ClientURL()
	port := ns.Addr().String()
	ns.Shutdown()
	ns.WaitForShutdown()

	b := must.Have(bus.Connect(url, bus.Login{}))(t)
	defer b.Close()
	assert.False(t, b.Ready())
	turn := uuid.NewString()
	signals := must.Have(b.Subscribe(t.Context(), turn))(t)
	b.Hint(turn, 1) // dropped

	startServer(t, server.Options{Host: "127.0.0.1", Port: portOf(t, port)})
	require.Eventually(t, b.Ready, 20*time.Second, 10*time.Millisecond)
	b.Hint(turn, 2)
	assert.Equal(t, bus.Signal{N: 2}, receive(t, signals), "the subscription was restored; the dropped hint was not sent")
}

// stallingServer forwards connections to target until stalled is closed; then it
// drops all bytes.
func stallingServer(t *testing.T, target string, stalled <-chan struct{}) (url string) {
	t.Helper()
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	pass := func(to, from net.Conn) {
		for buffer := make([]byte, 4096); ; {
			n, err := from.Read(buffer)
			if err != nil {
				_ = to.Close()
				return
			}
			select {
			case <-stalled:
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

func TestStalledServerMakesWatchedFailAndTheBusNotReady(t *testing.T) {
	ns := startServer(t, server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
	stalled := make(chan struct{})
	b := must.Have(bus.Connect(stallingServer(t, ns.Addr().String(), stalled), bus.Login{}))(t)
	t.Cleanup(b.Close)
	turn := uuid.NewString()
	followed := must.Have(b.Watched(t.Context(), turn))(t)
	require.False(t, followed, "the server answers that nobody follows")

	other := connectInProcess(t, ns)
	require.NoError(t, other.AnswerWatched(t.Context(), func(string) bool { return true }))
	close(stalled)
	_, err := b.Watched(t.Context(), turn)
	require.Error(t, err, "somebody follows, but no reply gets through")
	require.Eventually(t, func() bool { return !b.Ready() }, time.Minute, 10*time.Millisecond)
	b.Hint(turn, 1) // does not block
}

func TestConnectRefusesAMalformedURL(t *testing.T) {
	_, err := bus.Connect("nats://[::1", bus.Login{})
	require.Error(t, err)
}

func TestNoopDropsMessagesAndClosesSubscriptions(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b bus.Bus = bus.Noop{}
	signals := must.Have(b.Subscribe(ctx, uuid.NewString()))(t)
	b.Hint(uuid.NewString(), 1)
	assert.True(t, b.Ready(), "a bus that is not configured counts as ready")
	cancel()
	waitClosed(t, signals)
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n := must.Have(strconv.Atoi(port))(t)
	return n
}
