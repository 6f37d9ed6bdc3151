package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

// world fakes the engine, store and bus of one turn. Its log holds entries whose
// texts are in texts.
type world struct {
	mu       sync.Mutex
	entries  []chat.Entry
	texts    map[string]string
	settled  []chat.Event // the stored log; nil while the turn is open
	former   string       // an owner who does not have the turn any more; empty: none
	unknown  bool         // the workflow does not know the turn
	queryErr error        // returned by queries
	storeErr error        // returned by the database
	draft    *db.Draft
	kept     int           // how many of the first entries are rows
	reports  []chat.Report // stored by the call "c", which runs
	page     int           // entries per query; 0: all
	queries  int
	drafts   int
	reads    int // of the settled log
	subs     []chan bus.Signal
	noBus    bool          // Subscribe fails and Connected is false
	waiting  bool          // the turn waits for a person
	gate     chan struct{} // queries block until it is closed
}

func (w *world) Progress(_ context.Context, _, _ string, after int) (chat.Progress, error) {
	w.mu.Lock()
	gate := w.gate
	w.mu.Unlock()
	if gate != nil {
		<-gate
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queries++
	if w.queryErr != nil {
		return chat.Progress{}, w.queryErr
	}
	if w.unknown {
		return chat.Progress{}, nil
	}
	p := chat.Progress{Known: true, Waiting: w.waiting, Kept: w.kept, Over: len(w.entries) > 0 && w.entries[len(w.entries)-1].Type.Terminal()}
	if len(w.reports) > 0 {
		p.Reporting = []string{"c"}
	}
	to := len(w.entries)
	from := min(max(after, w.kept), to)
	if w.page > 0 {
		to = min(from+w.page, to)
	}
	p.Entries, p.More = slices.Clone(w.entries[from:to]), to < len(w.entries)
	return p, nil
}

func (w *world) Texts(context.Context, string, string) (map[string]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settled != nil {
		return nil, db.ErrSettled
	}
	b, err := json.Marshal(w.entries[:w.kept])
	if err != nil {
		return nil, err
	}
	texts := map[string]string{chat.LogKey(1): string(b)}
	for _, r := range w.reports {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		texts[r.Key()] = string(b)
	}
	return texts, nil
}

func (w *world) Events(_ context.Context, owner, _ string, after int) ([]chat.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.settled == nil || owner == w.former {
		return nil, db.ErrNotFound
	}
	return slices.Clone(w.settled[min(after, len(w.settled)):]), nil
}

func (w *world) Draft(_ context.Context, _, _ string, piece int) (db.Draft, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drafts++
	if w.storeErr != nil {
		return db.Draft{}, w.storeErr
	}
	if w.draft == nil || w.draft.Piece != piece {
		return db.Draft{}, db.ErrNotFound
	}
	return *w.draft, nil
}

func (w *world) Ping(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.storeErr
}

func (w *world) Subscribe(ctx context.Context, _ string) (<-chan bus.Signal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noBus {
		return nil, errors.New("no bus")
	}
	ch := make(chan bus.Signal, 256)
	w.subs = append(w.subs, ch)
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.subs = slices.DeleteFunc(w.subs, func(c chan bus.Signal) bool { return c == ch })
		close(ch)
	})
	return ch, nil
}

func (w *world) subscribed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.subs)
}

func (w *world) Connected() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.noBus
}

// entry returns e with its number in the log.
func entry(n int, e chat.Entry) chat.Entry {
	e.N = n
	return e
}

func (w *world) render(_ context.Context, ref Ref, entries []chat.Entry, _ []chat.Document) ([]chat.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []chat.Event
	for _, e := range entries {
		if w.storeErr != nil && e.Ref != "" {
			return nil, w.storeErr
		}
		if w.settled != nil && e.Ref != "" {
			return nil, fmt.Errorf("render: %w", db.ErrSettled)
		}
		out = append(out, w.event(ref, e))
	}
	return out, nil
}

func (w *world) event(ref Ref, e chat.Entry) chat.Event {
	out := chat.Event{Type: e.Type, N: e.N, TurnID: ref.TurnID, ThreadID: ref.ThreadID, Node: e.Node, Piece: e.Piece, Text: w.texts[e.Ref]}
	if e.Call != nil {
		out.ToolCallID = e.Call.ID
	}
	if _, n, is := chat.ReadProgressKey(e.Ref); is {
		out.Report, out.Message = e.Ref, "report "+strconv.Itoa(n)
	}
	return out
}

// report stores the next report of the call "c" and, with a bus, publishes it.
func (w *world) report(publish bool) {
	w.mu.Lock()
	n := len(w.reports) + 1
	r := chat.Report{Of: "c", Call: true, N: n, Node: chat.NodeImport, Text: "report " + strconv.Itoa(n)}
	w.reports = append(w.reports, r)
	logged := len(w.entries)
	w.mu.Unlock()
	if publish {
		w.signal(bus.Signal{Progress: &bus.Progress{TurnID: "t", Report: r, Logged: logged}})
	}
}

// endCall adds the reports and the result of the call "c" to the log. It returns the entries.
func (w *world) endCall() (entries []chat.Entry) {
	w.mu.Lock()
	call, n := &chat.CallRef{ID: "c"}, len(w.reports)
	w.reports = nil
	w.mu.Unlock()
	for i := range n {
		entries = append(entries, chat.Entry{Type: chat.EventStatus, Node: chat.NodeImport, Ref: chat.ProgressKey("c", i+1), Call: call})
	}
	entries = append(entries, chat.Entry{Type: chat.EventToolResult, Call: call})
	w.add(entries...)
	return entries
}

// add appends to the log without a hint.
func (w *world) add(entries ...chat.Entry) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range entries {
		e.N = len(w.entries) + 1
		w.entries = append(w.entries, e)
	}
	return len(w.entries)
}

// addAndHint appends to the log and publishes a hint.
func (w *world) addAndHint(entries ...chat.Entry) { w.signal(bus.Signal{N: w.add(entries...)}) }

func (w *world) signal(s bus.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.subs {
		ch <- s
	}
}

func (w *world) delta(piece, attempt, offset int, text string) {
	w.signal(bus.Signal{Delta: &bus.Delta{TurnID: "t", Piece: piece, Attempt: attempt, Offset: offset, Text: text}})
}

func (w *world) saveDraft(piece, attempt int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draft = &db.Draft{TurnID: "t", Piece: piece, Attempt: attempt, Text: text}
}

// settle stores the log as it stands with a response, and ends the turn.
func (w *world) settle() {
	w.add(chat.Entry{Type: chat.EventResponse})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.entries {
		w.settled = append(w.settled, w.event(testRef, e))
	}
	w.settled[len(w.settled)-1].Response = &chat.Response{Text: "stored"}
}

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

var (
	testRef  = Ref{Owner: "o", ThreadID: "th", TurnID: "t"}
	started  = chat.Entry{Type: chat.EventTurnStarted}
	inquire  = chat.Entry{Type: chat.EventStatus, Node: chat.NodeInquire}
	finished = chat.Entry{Type: chat.EventText, Piece: 1, Ref: "p1"}
)

func newWorld() (*world, *Hub) {
	w := &world{texts: map[string]string{"p1": "one two three"}}
	return w, NewHub(w, w, w, w.render, slog.New(slog.DiscardHandler))
}

// format writes items as "1:turn_started", "~one " for a token and "!" for a
// restart notice, "+Message" for a status that is not in the log.
func format(i Item) string {
	switch {
	case i.Type == chat.EventToken:
		return "~" + i.Text
	case i.N == 0 && i.Type == chat.EventStatus:
		return "+" + i.Message
	case i.N == 0:
		return "!"
	}
	return strconv.Itoa(i.N) + ":" + string(i.Type)
}

// drain reads a viewer until it has no more events.
func drain(t *testing.T, v *Viewer) (got []string, at Position, end error) {
	t.Helper()
	synctest.Wait()
	for {
		i, more, err := v.Next()
		if err != nil || more != nil {
			return got, at, err
		}
		got, at = append(got, format(i)), i.At
	}
}

// shows requires that the viewer has exactly these events now.
func shows(t *testing.T, v *Viewer, expected ...string) {
	t.Helper()
	got, _, _ := drain(t, v)
	want(t, got, expected...)
}

// ends is shows for the last events of a turn.
func ends(t *testing.T, v *Viewer, expected ...string) {
	t.Helper()
	got, _, err := drain(t, v)
	want(t, got, expected...)
	if err != io.EOF {
		t.Fatal(err)
	}
}

func want(t *testing.T, got []string, expected ...string) {
	t.Helper()
	if !slices.Equal(got, expected) {
		t.Fatalf("got  %q\nwant %q", got, expected)
	}
}

func run(t *testing.T, f func(t *testing.T, w *world, h *Hub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, h := newWorld()
		f(t, w, h)
		synctest.Wait()
		if len(h.followers) > 0 {
			t.Errorf("%d followers are left", len(h.followers))
		}
	})
}

// watch runs f with a viewer that has seen the beginning of the turn.
func watch(t *testing.T, f func(t *testing.T, w *world, h *Hub, v *Viewer)) {
	t.Helper()
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		shows(t, v, "1:turn_started")
		f(t, w, h, v)
	})
}

// Rule T3.
func TestViewerGetsEventsInOrderAndTheStoredTerminalEvent(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		shows(t, v, "1:turn_started")
		w.addAndHint(inquire)
		w.delta(1, 1, 0, "one ")
		w.delta(1, 1, 4, "two ")
		shows(t, v, "2:status", "~one two ")
		w.delta(1, 1, 8, "three")
		shows(t, v, "~three")
		w.addAndHint(finished)
		shows(t, v, "3:text")
		w.settle()
		w.signal(bus.Signal{N: 4})
		i, err := v.Wait(t.Context())
		if err != nil || i.N != 4 || i.Response == nil || i.Response.Text != "stored" {
			t.Fatalf("terminal event %+v, %v", i, err)
		}
		if _, err := v.Wait(t.Context()); err != io.EOF {
			t.Fatalf("after the terminal event: %v", err)
		}
	})
}

// Rules T7, N14.
func TestReconnectDeliversEventsOnceAndResumesInsideAPiece(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, inquire)
		first := h.Follow(testRef, Position{})
		defer first.Close()
		drain(t, first)
		w.delta(1, 1, 0, "one two")

		var all []string
		at := Position{}
		for step := range 6 {
			v := h.Follow(testRef, at)
			synctest.Wait()
			i, more, err := v.Next()
			if err != nil {
				t.Fatal(err)
			}
			if more == nil {
				all = append(all, format(i))
				parsed, err := ParsePosition(i.At.String())
				if err != nil || parsed != i.At {
					t.Fatalf("id %q reads as %+v, %v", i.At.String(), parsed, err)
				}
				at = parsed
			}
			v.Close()
			switch step {
			case 2:
				w.delta(1, 1, 7, " three")
			case 3:
				w.addAndHint(finished)
			case 4:
				w.settle()
				w.signal(bus.Signal{N: 4})
			}
		}
		want(t, all, "1:turn_started", "2:status", "~one two", "~ three", "3:text", "4:response")
	})
}

// Rule T5.
func TestLateViewerGetsTheDraftAndThenLiveText(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, inquire)
		w.saveDraft(1, 1, "one tw")
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.delta(1, 1, 8, "three") // the draft ends before it, so there is a gap
		shows(t, v)
		time.Sleep(pollMin)
		shows(t, v, "~one tw")
		w.saveDraft(1, 1, "one two three")
		time.Sleep(pollMax)
		shows(t, v, "~o three")
	})
}

func TestLostDeltaIsRecoveredFromTheDraftWithoutDuplicates(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.delta(1, 1, 0, "one ")
		w.delta(1, 1, 0, "one ") // duplicated
		w.delta(1, 1, 2, "e tw") // overlapping
		w.delta(1, 1, 10, "ree")
		shows(t, v, "~one tw")
		w.saveDraft(1, 1, "one two th")
		time.Sleep(pollMin)
		shows(t, v, "~o three")
	})
}

// Rule T7.
func TestNewAttemptIsAnnouncedOnceAndStartsAtOffsetZero(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.delta(1, 1, 0, "one tw")
		drain(t, v)
		w.delta(1, 2, 0, "uno ")
		w.delta(1, 1, 6, "o") // a late delta of the dead attempt
		got, at, _ := drain(t, v)
		want(t, got, "!", "~uno ")
		if at.String() != "t.1.1.2.4" {
			t.Fatalf("id %s", at)
		}
		late := h.Follow(testRef, Position{})
		defer late.Close()
		shows(t, late, "1:turn_started", "~uno ")
		back := h.Follow(testRef, Position{N: 1, Piece: 1, Attempt: 1, Offset: 3})
		defer back.Close()
		shows(t, back, "!", "~uno ")
	})
}

// Rule T5.
func TestFinishedTextThatDiffersFromTheLiveTextIsSentAgain(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.delta(1, 1, 0, "one zwei")
		drain(t, v)
		w.addAndHint(finished)
		shows(t, v, "!", "~one two three", "2:text")
		early := h.Follow(testRef, Position{N: 1, Piece: 1, Attempt: 1, Offset: 4}) // disconnected before the texts differ
		defer early.Close()
		shows(t, early, "~two three", "2:text")
	})
}

func TestSlowViewerGetsMissedTextAsOneTokenAndEveryDurableEvent(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		long := strings.Repeat("word ", 2000)
		w.set(func() { w.texts["p1"] = long })
		w.add(started)
		slow, quick := h.Follow(testRef, Position{}), h.Follow(testRef, Position{})
		defer slow.Close()
		defer quick.Close()
		synctest.Wait()
		seen := ""
		for i := range 2000 {
			w.delta(1, 1, 5*i, "word ")
			got, _, _ := drain(t, quick)
			for _, s := range got {
				if rest, token := strings.CutPrefix(s, "~"); token {
					seen += rest
				}
			}
		}
		w.addAndHint(finished, inquire)
		if seen != long {
			t.Fatalf("the fast viewer got %d characters", len(seen))
		}
		shows(t, slow, "1:turn_started", "~"+long, "2:text", "3:status")
	})
}

// The same turn of another owner: it was claimed. What one owner cannot read any more must
// not end the other's view.
func TestViewersOfTwoOwnersHaveFollowersOfTheirOwn(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		h.Check = func(_ context.Context, ref Ref) (bool, error) {
			if ref.Owner != testRef.Owner {
				return false, ErrTurnNotFound
			}
			return false, nil
		}
		w.add(started)
		w.former = "former"
		former := h.Follow(Ref{Owner: w.former, ThreadID: testRef.ThreadID, TurnID: testRef.TurnID}, Position{})
		defer former.Close()
		v := h.Follow(testRef, Position{})
		defer v.Close()
		if n := h.Viewers("t"); n != 2 {
			t.Fatalf("%d viewers", n)
		}
		drain(t, v)
		drain(t, former)
		w.settle()
		time.Sleep(idlePollMax + deletedTimeout + idlePollMax)
		if _, _, err := drain(t, v); err != io.EOF {
			t.Fatalf("the owner's view: %v", err)
		}
		if _, _, err := drain(t, former); !errors.Is(err, ErrTurnNotFound) {
			t.Fatalf("the former owner's view: %v", err)
		}
	})
}

func TestViewersOfATurnGetTheSameEventsFromOneFollower(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		var vs [3]*Viewer
		var got [3]string
		var durable [3][]string
		for i := range vs {
			vs[i] = h.Follow(testRef, Position{})
			defer vs[i].Close()
		}
		if n := h.Viewers("t"); n != 3 {
			t.Fatalf("%d viewers", n)
		}
		look := func(i int) {
			items, _, _ := drain(t, vs[i])
			for _, s := range items {
				if token, ok := strings.CutPrefix(s, "~"); ok {
					got[i] += token
				} else {
					durable[i] = append(durable[i], s)
				}
			}
		}
		look(0)
		w.delta(1, 1, 0, "one ")
		look(1)
		w.delta(1, 1, 4, "two ")
		look(0)
		w.addAndHint(finished)
		w.settle()
		time.Sleep(2 * pollMax)
		for i := range vs {
			look(i)
			if got[i] != "one two three" {
				t.Errorf("viewer %d read %q", i, got[i])
			}
			want(t, durable[i], "1:turn_started", "2:text", "3:response")
		}
		if len(w.subs) > 1 || w.queries > 10 {
			t.Errorf("%d subscriptions, %d queries for three viewers", len(w.subs), w.queries)
		}
	})
}

func TestPollingFindsEntriesWhoseHintWasLost(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		time.Sleep(10 * time.Second) // the poll interval has grown
		w.add(inquire)
		time.Sleep(idlePollMax)
		shows(t, v, "2:status")
	})
}

func TestHintTriggersAnImmediateQuery(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		time.Sleep(10 * time.Second)
		before := time.Now()
		w.addAndHint(inquire)
		i, err := v.Wait(t.Context())
		if err != nil || i.N != 2 {
			t.Fatalf("%+v, %v", i, err)
		}
		if took := time.Since(before); took != 0 {
			t.Fatalf("the query came after %v, want at once", took)
		}
	})
}

func TestDeliveredEntriesCostNoQuery(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := h.Follow(testRef, Position{}, entry(1, started))
		defer v.Close()
		shows(t, v, "1:turn_started")
		w.signal(bus.Signal{Log: []chat.Entry{entry(2, inquire)}})
		w.signal(bus.Signal{Delta: &bus.Delta{TurnID: "t", Piece: 1, Attempt: 1, Text: "one two three", Logged: 2}})
		shows(t, v, "2:status", "~one two three")
		time.Sleep(idlePollMin - time.Millisecond)
		w.add(started, inquire, finished)
		w.settle()
		w.signal(bus.Signal{Settled: true})
		got, _, err := drain(t, v)
		want(t, got, "3:text", "4:response")
		if err != io.EOF || w.queries > 0 || w.drafts > 0 {
			t.Fatalf("%v; %d queries, %d drafts", err, w.queries, w.drafts)
		}
	})
}

func TestSettledLogThatTheBusDeliversIsNotReadExceptByAnotherOwner(t *testing.T) {
	for owner, reads := range map[string]int{testRef.Owner: 0, "other": 1} {
		run(t, func(t *testing.T, w *world, h *Hub) {
			v := h.Follow(testRef, Position{}, entry(1, started))
			defer v.Close()
			shows(t, v, "1:turn_started")
			w.add(started, inquire, finished)
			w.settle()
			w.signal(bus.Signal{Settled: true, End: bus.End{Owner: owner, Events: w.settled}})
			got, _, err := drain(t, v)
			want(t, got, "2:status", "~one two three", "3:text", "4:response")
			if err != io.EOF || w.reads != reads {
				t.Fatalf("%v; %d reads, want %d", err, w.reads, reads)
			}
		})
	}
}

func TestDeliveredLogThatIsShorterThanTheFollowedOneReplacesIt(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := h.Follow(testRef, Position{}, entry(1, started), entry(2, inquire), entry(3, inquire))
		defer v.Close()
		shows(t, v, "1:turn_started", "2:status", "3:status")
		w.add(started, finished)
		w.settle()
		w.signal(bus.Signal{Settled: true, End: bus.End{Owner: testRef.Owner, Events: w.settled}})
		got, _, err := drain(t, v)
		want(t, got, "3:response")
		if err != io.EOF || w.reads > 0 {
			t.Fatalf("%v; %d reads", err, w.reads)
		}
	})
}

func TestTurnSubscribedToBeforeItsSubmitIsNotPolled(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		early := h.Expect(testRef.TurnID)
		defer early.Close()
		early.Subscribed()
		w.signal(bus.Signal{Log: []chat.Entry{entry(2, inquire)}}) // arrives before Follow
		v := early.Follow(h, testRef, Position{}, entry(1, started))
		defer v.Close()
		time.Sleep(pollMax - time.Millisecond) // the model has not answered yet
		shows(t, v, "1:turn_started", "2:status")
		if w.queries > 0 {
			t.Fatalf("%d queries", w.queries)
		}
	})
}

// The round trip to the bus runs beside those to the database.
func TestSubmitDoesNotWaitForTheBusBeforeItsRowIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const roundTrip = time.Second
		h := NewHub(nil, nil, slowBus{roundTrip}, nil, nil)
		began := time.Now()
		early := h.Expect(testRef.TurnID)
		defer early.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("it waited %s", took)
		}
		time.Sleep(2 * roundTrip) // the row is written
		written := time.Now()
		early.Subscribed()
		if took := time.Since(written); took != 0 {
			t.Errorf("it waited %s when the row was written", took)
		}
	})
}

type slowBus struct{ roundTrip time.Duration }

func (b slowBus) Subscribe(context.Context, string) (<-chan bus.Signal, error) {
	time.Sleep(b.roundTrip)
	return nil, nil
}

func (slowBus) Connected() bool { return true }

func TestTurnWhoseWorkerHasNoBusIsPolledAfterASecond(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		early := h.Expect(testRef.TurnID)
		defer early.Close()
		v := early.Follow(h, testRef, Position{}, entry(1, started))
		defer v.Close()
		drain(t, v)
		w.add(started, inquire)
		time.Sleep(pollMax)
		shows(t, v, "2:status")
	})
}

func TestEarlySubscriptionEndsWithItsFollowerOrWithClose(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		unused := h.Expect(testRef.TurnID)
		unused.Close()
		other := h.Expect("another turn")
		v := other.Follow(h, testRef, Position{})
		drain(t, v)
		v.Close()
		other.Close()
		used := h.Expect(testRef.TurnID)
		v = used.Follow(h, testRef, Position{})
		used.Close() // the follower goes on
		w.add(started)
		w.signal(bus.Signal{N: 1})
		shows(t, v, "1:turn_started")
		v.Close()
		synctest.Wait()
		if n := w.subscribed(); n > 0 {
			t.Fatalf("%d subscriptions are left", n)
		}
	})
}

func TestTurnThatEndedBeforeTheSubscriptionIsPolledSoon(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, finished)
		w.settle()
		v := h.Follow(testRef, Position{}, entry(1, started))
		defer v.Close()
		shows(t, v, "1:turn_started")
		time.Sleep(pollMin)
		ends(t, v, "~one two three", "2:text", "3:response")
	})
}

func TestGapBeforeDeliveredEntriesTriggersAnImmediateQuery(t *testing.T) {
	for name, signal := range map[string]bus.Signal{
		"entries": {Log: []chat.Entry{entry(3, inquire)}},
		"a delta": {Delta: &bus.Delta{TurnID: "t", Piece: 1, Attempt: 1, Logged: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world, h *Hub) {
				v := h.Follow(testRef, Position{}, entry(1, started))
				defer v.Close()
				drain(t, v)
				w.add(started, inquire, inquire)
				w.signal(signal)
				shows(t, v, "2:status", "3:status")
				w.signal(bus.Signal{Log: []chat.Entry{entry(2, inquire), entry(3, inquire)}}) // late
				shows(t, v)
			})
		})
	}
}

func TestTurnThatWaitsForAPersonIsPolledEveryHalfMinute(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		w.set(func() { w.waiting = true })
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		queries := func() (n int) { w.set(func() { n = w.queries }); return n }
		before := queries()
		time.Sleep(4 * waitingPoll)
		synctest.Wait()
		if n := queries() - before; n != 4 {
			t.Fatalf("%d queries in %s", n, 4*waitingPoll)
		}
		w.set(func() { w.waiting = false })
		w.signal(bus.Signal{Log: []chat.Entry{entry(2, inquire)}})
		w.add(inquire, inquire) // the message about the third is lost
		time.Sleep(idlePollMin)
		shows(t, v, "2:status", "3:status")
	})
}

func TestDisconnectedBusIsReplacedByPollingWithinASecond(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		time.Sleep(20 * time.Second) // the poll interval has grown
		w.set(func() { w.noBus = true })
		w.add(inquire)
		time.Sleep(pollMax)
		shows(t, v, "2:status")
	})
}

func TestTextWaitsForTheHintedEvents(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		gate := make(chan struct{})
		w.set(func() { w.gate = gate })
		w.addAndHint(inquire)
		w.delta(1, 1, 0, "one ")
		shows(t, v)
		close(gate)
		shows(t, v, "2:status", "~one ")
	})
}

func TestFailedQueryReleasesTheTextThatWaitedForIt(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.set(func() { w.queryErr = errors.New("busy") })
		w.addAndHint(inquire)
		w.delta(1, 1, 0, "one ")
		shows(t, v, "~one ")
		w.set(func() { w.queryErr = nil })
		time.Sleep(pollMax)
		shows(t, v, "2:status")
	})
}

func TestHoldTextWithholdsTextUntilTheEventsBeforeItWereDelivered(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.queryErr = errors.New("Temporal is unavailable")
		v := h.Follow(testRef, Position{})
		defer v.Close()
		v.HoldText(true)
		w.saveDraft(1, 1, "one ")
		time.Sleep(pollMax)
		shows(t, v)
		w.add(started, chat.Entry{Type: chat.EventInterrupt}, chat.Entry{Type: chat.EventResumed})
		w.set(func() { w.queryErr = nil })
		time.Sleep(pollMax)
		shows(t, v, "1:turn_started", "2:interrupt", "3:resumed")
		v.HoldText(false)
		shows(t, v, "~one ")
	})
}

// Rule T10.
func TestRetryOfAModelCallIsShownOnceAndOnlyUntilTheModelAnswers(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		for n := 1; n <= 2; n++ {
			w.signal(bus.Signal{Retry: n})
			synctest.Wait()
			item, _, err := v.Next()
			if err != nil || item.Type != chat.EventStatus || item.Node != chat.NodeRetry || item.Message != chat.RetryMessage(n).Text || item.N != 0 || item.At.String() != "t.1" {
				t.Fatalf("retry %d: %+v at %s, %v", n, item, item.At, err)
			}
		}
		shows(t, v)
		late := h.Follow(testRef, Position{})
		defer late.Close()
		if got, _, _ := drain(t, late); len(got) != 2 {
			t.Fatalf("while the model is busy, a late viewer gets %q", got)
		}
		w.delta(1, 1, 0, "one ")
		shows(t, v, "~one ")
		later := h.Follow(testRef, Position{})
		defer later.Close()
		shows(t, later, "1:turn_started", "~one ")

		w.signal(bus.Signal{Retry: 1})
		w.addAndHint(inquire)
		shows(t, v, "2:status")
	})
}

// Each query of such a thread replays its whole history. Without the long interval
// one open page caused 26 queries a second.
func TestThreadThatCannotBeReplayedIsQueriedTwiceAMinute(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		w.queryErr = fmt.Errorf("query: %w", chat.ErrCannotReplay)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		time.Sleep(10 * time.Minute)
		w.set(func() {
			if w.queries > 25 {
				t.Errorf("%d queries in 10 minutes", w.queries)
			}
			w.queryErr = nil // the matching release runs again
		})
		time.Sleep(unreplayablePoll)
		shows(t, v, "1:turn_started")
	})
}

func TestLongLogIsReadFromItsRowsAndThenInPages(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		for range 8 {
			w.add(inquire)
		}
		w.set(func() { w.kept, w.page = 4, 2 })
		v := h.Follow(testRef, Position{})
		defer v.Close()
		shows(t, v, "1:turn_started", "2:status", "3:status", "4:status", "5:status", "6:status", "7:status", "8:status", "9:status")

		late := h.Follow(testRef, Position{N: 3})
		defer late.Close()
		shows(t, late, "4:status", "5:status", "6:status", "7:status", "8:status", "9:status")
	})
}

// The turn is settled after the workflow answers and before its texts are read.
func TestTurnSettledBetweenQueryAndTextsIsReadFromItsStoredLog(t *testing.T) {
	for name, kept := range map[string]int{"entries of the workflow": 0, "entries in rows": 2} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, w *world, h *Hub) {
				w.add(started, inquire, finished)
				w.settle()
				w.set(func() { w.kept, w.entries = kept, w.entries[:3] })
				v := h.Follow(testRef, Position{})
				defer v.Close()
				ends(t, v, "1:turn_started", "2:status", "~one two three", "3:text", "4:response")
			})
		})
	}
}

func TestWithoutABusTextComesFromDrafts(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.noBus = true
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.saveDraft(1, 1, "one ")
		time.Sleep(pollMax)
		shows(t, v, "~one ")
		w.saveDraft(1, 1, "one two ")
		time.Sleep(pollMax)
		shows(t, v, "~two ")
		w.add(finished)
		time.Sleep(pollMax)
		shows(t, v, "~three", "2:text")
	})
}

func TestTurnWhoseWorkflowHasCompletedIsReadFromItsStoredLog(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.add(finished)
		w.settle()
		w.set(func() { w.unknown = true }) // the workflow has completed
		time.Sleep(idlePollMax)
		ends(t, v, "~one two three", "2:text", "3:response")
		late := h.Follow(testRef, Position{N: 1, Piece: 1, Attempt: 1, Offset: 4})
		defer late.Close()
		shows(t, late, "~two three", "2:text", "3:response")
	})
}

func TestFollowerWaitsForASubmitInFlightAndGivesUpOnADeletedTurn(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.unknown = true
		v := h.Follow(testRef, Position{})
		defer v.Close()
		time.Sleep(unknownTimeout / 2)
		if _, _, err := drain(t, v); err != nil {
			t.Fatalf("gave up too early: %v", err)
		}
		w.set(func() { w.unknown = false })
		w.add(started)
		time.Sleep(pollMax)
		shows(t, v, "1:turn_started")
		w.set(func() { w.unknown = true })
		time.Sleep(2 * deletedTimeout)
		if _, _, err := drain(t, v); !errors.Is(err, ErrTurnNotFound) {
			t.Fatalf("got %v", err)
		}
	})
}

// Rule T4.
func TestReplayOfASettledTurn(t *testing.T) {
	_, h := newWorld()
	log := []chat.Event{
		{Type: chat.EventTurnStarted, N: 1}, {Type: chat.EventText, N: 2, Piece: 1, Text: "täxt"},
		{Type: chat.EventText, N: 3, Piece: 2, Text: "more"}, {Type: chat.EventResponse, N: 4},
	}
	for _, c := range []struct {
		name  string
		after Position
		want  []string
		done  bool
	}{
		{"from the beginning", Position{}, []string{"1:turn_started", "~täxt", "2:text", "~more", "3:text", "4:response"}, false},
		{"in the middle of a piece", Position{N: 1, Piece: 1, Attempt: 1, Offset: 2}, []string{"~xt", "2:text", "~more", "3:text", "4:response"}, false},
		{"at the end of a piece", Position{N: 2, Piece: 2, Attempt: 3, Offset: 4}, []string{"3:text", "4:response"}, false},
		{"after everything", Position{N: 4}, nil, true},
		{"beyond everything, for the log was rebuilt and is shorter", Position{N: 400}, []string{"4:response"}, false},
		{"an offset that the text does not have", Position{N: 1, Piece: 1, Attempt: 1, Offset: 99}, []string{"!", "~täxt", "2:text", "~more", "3:text", "4:response"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := h.Replay(testRef, log, c.after)
			defer v.Close()
			if v.Done() != c.done {
				t.Errorf("done %v", v.Done())
			}
			var got []string
			for {
				i, more, err := v.Next()
				if err == io.EOF {
					break
				}
				if err != nil || more != nil {
					t.Fatal(i, err)
				}
				got = append(got, format(i))
			}
			want(t, got, c.want...)
		})
	}
}

// The workflow no longer exists, and the log that was rebuilt from the rows is
// shorter than what was seen live.
func TestLostTurnEndsForViewersThatSawMoreThanItsRebuiltLog(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		lost := []chat.Event{{Type: chat.EventTurnStarted, N: 1}, {Type: chat.EventFailed, N: 2}}
		h.Check = func(context.Context, Ref) (bool, error) {
			w.set(func() { w.settled = lost })
			return false, nil
		}
		w.add(started, inquire, inquire)
		v, behind := h.Follow(testRef, Position{}), h.Follow(testRef, Position{})
		defer v.Close()
		defer behind.Close()
		got, seen, _ := drain(t, v)
		want(t, got, "1:turn_started", "2:status", "3:status")
		w.set(func() { w.unknown = true })
		time.Sleep(idlePollMax)
		got, at, err := drain(t, v)
		want(t, got, "2:failed")
		if err != io.EOF || !v.Done() {
			t.Fatalf("after it: %v", err)
		}
		got, _, err = drain(t, behind)
		want(t, got, "1:turn_started", "2:failed")
		if err != io.EOF {
			t.Fatalf("behind: %v", err)
		}
		for from, expected := range map[Position][]string{seen: {"2:failed"}, at: nil} {
			again := h.Follow(testRef, from)
			got, _, err := drain(t, again)
			again.Close()
			want(t, got, expected...)
			if err != io.EOF {
				t.Fatalf("from %v: %v", from, err)
			}
		}
	})
}

func TestFollowerKeepsWaitingWhileTheTurnsRowIsOpen(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		checks := 0
		h.Check = func(context.Context, Ref) (bool, error) {
			checks++
			if checks%2 == 0 {
				return false, errors.New("not known")
			}
			return true, nil
		}
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.set(func() { w.unknown = true })
		time.Sleep(2 * unknownTimeout)
		if _, _, err := drain(t, v); err != nil {
			t.Fatal(err)
		}
		w.set(func() { w.unknown = false }) // its submit arrived
		w.settle()
		time.Sleep(2 * pollMax)
		if _, _, err := drain(t, v); err != io.EOF {
			t.Fatalf("got %v", err)
		}
	})
}

func TestLastViewerStopsTheFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h := newWorld()
		a, b := h.Follow(testRef, Position{}), h.Follow(testRef, Position{})
		synctest.Wait()
		a.Close()
		a.Close()
		if h.Viewers("t") != 1 {
			t.Fatal("the second Close was counted")
		}
		b.Close()
		synctest.Wait()
		asked := w.queries
		time.Sleep(time.Minute)
		if w.queries != asked || len(w.subs) != 0 {
			t.Errorf("after the last viewer: %d more queries, %d subscriptions", w.queries-asked, len(w.subs))
		}
	})
}
