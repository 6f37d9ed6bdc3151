package follow

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/db"
	"github.com/palaver-chat/palaver/internal/bus"
)

func TestTokensFlowDuringADatabaseOutageAndViewersGetOneNotice(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		w.set(func() { w.storeErr = db.ErrUnavailable })
		w.delta(1, 1, 0, "one ")
		shows(t, v, "~one ")
		time.Sleep(pingFailures*pingInterval + time.Millisecond)
		synctest.Wait()
		i, _, err := v.Next()
		if err != nil || i.Type != chat.EventNotice || i.Code != chat.NoticeNotSaved || i.Message == "" {
			t.Fatalf("%+v, %v", i, err)
		}
		w.addAndHint(inquire) // its event needs no text
		w.delta(1, 1, 4, "two ")
		shows(t, v, "2:status", "~two ")
		w.addAndHint(finished) // its text cannot be read
		w.delta(1, 1, 8, "three")
		shows(t, v, "~three")
		time.Sleep(time.Minute)
		shows(t, v)

		w.set(func() { w.storeErr = nil })
		time.Sleep(pollMax + pingInterval)
		shows(t, v, "3:text")
		w.set(func() { w.storeErr = db.ErrUnavailable })
		time.Sleep(time.Minute)
		shows(t, v, "!") // the notice of a second outage
		w.set(func() { w.storeErr = nil })
		w.settle()
		if i, err := v.Wait(t.Context()); err != nil || i.Type != chat.EventResponse {
			t.Fatalf("%+v, %v", i, err)
		}
	})
}

func TestSingleFailedPingIsNoOutage(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		for range 5 {
			w.set(func() { w.storeErr = db.ErrUnavailable })
			time.Sleep(pingInterval)
			w.set(func() { w.storeErr = nil })
			time.Sleep(pingInterval)
		}
		shows(t, v, "1:turn_started")
	})
}

func TestDatabaseUnavailableNotifiesViewersAtOnce(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		w.storeErr = db.ErrUnavailable
		h.DatabaseUnavailable()
		v := h.Follow(testRef, Position{})
		shows(t, v, "!", "1:turn_started")
		v.Close()

		w.set(func() { w.storeErr = nil })
		time.Sleep(time.Hour)
		late := h.Follow(testRef, Position{})
		defer late.Close()
		shows(t, late, "1:turn_started") // no notice about the outage of an hour ago
	})
}

func TestEveryEventOfAViewerCarriesItsRunID(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		v, plain := h.Follow(testRef, Position{}), h.Follow(testRef, Position{})
		defer v.Close()
		defer plain.Close()
		v.RunID = "r2"
		synctest.Wait()
		w.delta(1, 1, 0, "one")
		for range 2 {
			synctest.Wait()
			i, more, err := v.Next()
			if err != nil || more != nil || i.StreamRunID != "r2" {
				t.Fatalf("%+v, %v", i, err)
			}
		}
		if i, _, err := plain.Next(); err != nil || i.StreamRunID != "" {
			t.Fatalf("%+v, %v", i, err)
		}
		replay := h.Replay(testRef, []chat.Event{{Type: chat.EventResponse, N: 1, StreamRunID: "r1"}}, Position{})
		if i, _, err := replay.Next(); err != nil || i.StreamRunID != "r1" {
			t.Fatalf("%+v, %v", i, err)
		}
	})
}

func TestSlowReadersShareOneCopyOfTheText(t *testing.T) {
	const readers, deltas, size = 200, 1000, 1000
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		viewers := make([]*Viewer, readers)
		for i := range viewers {
			viewers[i] = h.Follow(testRef, Position{})
		}
		synctest.Wait()
		before := heap()
		text := strings.Repeat("x", size)
		for i := range deltas {
			w.delta(1, 1, i*size, text)
			if i%100 == 0 {
				synctest.Wait() // the follower keeps up; its viewers do not read
			}
		}
		synctest.Wait()
		// The text is 1 MB, 4 MB as runes, kept once; a copy for each reader would be 200 MB.
		if grown := heap() - before; grown > 64<<20 {
			t.Errorf("%d readers that do not read take %d MB", readers, grown>>20)
		}
		w.set(func() { w.texts["p1"] = strings.Repeat(text, deltas) })
		w.addAndHint(finished)
		w.settle()
		w.signal(bus.Signal{N: 3})
		for _, v := range viewers {
			got := 0
			for {
				i, err := v.Wait(t.Context())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if i.Type == chat.EventToken {
					got += len(i.Text)
				}
			}
			if got != deltas*size {
				t.Fatalf("a slow reader got %d characters", got)
			}
			v.Close()
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
