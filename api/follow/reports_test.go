package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
)

var toolCall = chat.Entry{Type: chat.EventToolCall, Call: &chat.CallRef{ID: "c"}}

// calling returns a viewer of a turn that has called a tool.
func calling(t *testing.T, w *world, h *Hub) *Viewer {
	w.add(started, toolCall)
	v := h.Follow(testRef, Position{})
	shows(t, v, "1:turn_started", "2:tool_call")
	return v
}

func TestReportOfARunningCallIsSeenOnceAndItsEntryAdvancesThePosition(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := calling(t, w, h)
		defer v.Close()
		w.report(true)
		synctest.Wait()
		i, _, err := v.Next()
		if err != nil || i.N != 0 || i.Type != chat.EventStatus || i.Node != chat.NodeImport || i.ToolCallID != "c" || i.Message != "report 1" || i.At.String() != "t.2" {
			t.Fatalf("%+v at %s, %v", i, i.At, err)
		}
		w.report(true)
		late := h.Follow(testRef, Position{})
		defer late.Close()
		shows(t, v, "+report 2")
		shows(t, late, "1:turn_started", "2:tool_call", "+report 1", "+report 2")

		w.endCall()
		w.signal(bus.Signal{N: 5})
		got, at, _ := drain(t, v)
		want(t, got, "5:tool_result")
		if at.String() != "t.5" {
			t.Fatalf("position %s", at)
		}
		later := h.Follow(testRef, Position{})
		defer later.Close()
		shows(t, later, "1:turn_started", "2:tool_call", "3:status", "4:status", "5:tool_result")
	})
}

func TestReportThatTheLogAlreadyHasIsNotShownAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := calling(t, w, h)
		defer v.Close()
		w.report(false)
		w.report(false)
		late := w.reports[1]
		w.endCall()
		w.signal(bus.Signal{N: 5})
		shows(t, v, "3:status", "4:status", "5:tool_result")
		w.signal(bus.Signal{Progress: &bus.Progress{TurnID: "t", Report: late}})
		late.N = 3
		w.signal(bus.Signal{Progress: &bus.Progress{TurnID: "t", Report: late}})
		shows(t, v)
	})
}

// The bus has lost the entry of the call.
func TestReportWaitsForTheEntriesBeforeIt(t *testing.T) {
	watch(t, func(t *testing.T, w *world, h *Hub, v *Viewer) {
		gate := make(chan struct{})
		w.set(func() { w.gate = gate })
		w.add(toolCall)
		w.report(true)
		shows(t, v)
		w.set(func() { w.gate = nil })
		close(gate)
		shows(t, v, "2:tool_call", "+report 1")
	})
}

func TestLostReportIsReadFromTheTexts(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := calling(t, w, h)
		defer v.Close()
		w.report(false)
		w.report(true)
		shows(t, v, "+report 1", "+report 2")
	})
}

func TestWithoutABusReportsArePolled(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.noBus = true
		w.add(started, toolCall)
		w.report(false)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		shows(t, v, "1:turn_started", "2:tool_call", "+report 1")
		w.report(false)
		time.Sleep(pollMax)
		shows(t, v, "+report 2")
		w.endCall()
		time.Sleep(pollMax)
		shows(t, v, "5:tool_result")
	})
}

// The last call of a turn: its entries come with the settled log.
func TestReportsThatWereSeenAreNotRepeatedFromTheSettledLog(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		v := calling(t, w, h)
		defer v.Close()
		w.report(true)
		shows(t, v, "+report 1")
		w.endCall()
		w.settle()
		w.signal(bus.Signal{Settled: true})
		shows(t, v, "4:tool_result", "5:response")
	})
}
