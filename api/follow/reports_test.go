package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/palaver-chat/palaver/chat"
	"github.com/palaver-chat/palaver/internal/bus"
)

var toolCall = chat.Entry{Type: chat.EventToolCall, Call: &chat.CallRef{ID: "c"}}

func TestReportOfARunningCallIsSeenOnceAndItsEntryAdvancesThePosition(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, toolCall)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.report(true)
		synctest.Wait()
		i, _, err := v.Next()
		if err != nil || i.N != 0 || i.Type != chat.EventStatus || i.Node != chat.NodeImport || i.ToolCallID != "c" || i.Message != "report 1" || i.At.String() != "t.2" {
			t.Fatalf("%+v at %s, %v", i, i.At, err)
		}
		w.report(true)
		late := h.Follow(testRef, Position{})
		defer late.Close()
		got, _, _ := drain(t, v)
		want(t, got, "+report 2")
		got, _, _ = drain(t, late)
		want(t, got, "1:turn_started", "2:tool_call", "+report 1", "+report 2")

		w.endCall()
		w.signal(bus.Signal{N: 5})
		got, at, _ := drain(t, v)
		want(t, got, "5:tool_result")
		if at.String() != "t.5" {
			t.Fatalf("position %s", at)
		}
		later := h.Follow(testRef, Position{})
		defer later.Close()
		got, _, _ = drain(t, later)
		want(t, got, "1:turn_started", "2:tool_call", "3:status", "4:status", "5:tool_result")
	})
}

func TestReportThatTheLogAlreadyHasIsNotShownAgain(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, toolCall)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.report(false)
		w.report(false)
		late := w.reports[1]
		w.endCall()
		w.signal(bus.Signal{N: 5})
		got, _, _ := drain(t, v)
		want(t, got, "3:status", "4:status", "5:tool_result")
		w.signal(bus.Signal{Progress: &bus.Progress{TurnID: "t", Report: late}})
		late.N = 3
		w.signal(bus.Signal{Progress: &bus.Progress{TurnID: "t", Report: late}})
		got, _, _ = drain(t, v)
		want(t, got)
	})
}

// The bus has lost the entry of the call.
func TestReportWaitsForTheEntriesBeforeIt(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		gate := make(chan struct{})
		w.set(func() { w.gate = gate })
		w.add(toolCall)
		w.report(true)
		got, _, _ := drain(t, v)
		want(t, got)
		w.set(func() { w.gate = nil })
		close(gate)
		got, _, _ = drain(t, v)
		want(t, got, "2:tool_call", "+report 1")
	})
}

func TestLostReportIsReadFromTheTexts(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, toolCall)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.report(false)
		w.report(true)
		got, _, _ := drain(t, v)
		want(t, got, "+report 1", "+report 2")
	})
}

func TestWithoutABusReportsArePolled(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.noBus = true
		w.add(started, toolCall)
		w.report(false)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		got, _, _ := drain(t, v)
		want(t, got, "1:turn_started", "2:tool_call", "+report 1")
		w.report(false)
		time.Sleep(pollMax)
		got, _, _ = drain(t, v)
		want(t, got, "+report 2")
		w.endCall()
		time.Sleep(pollMax)
		got, _, _ = drain(t, v)
		want(t, got, "5:tool_result")
	})
}

// The last call of a turn: its entries come with the settled log.
func TestReportsThatWereSeenAreNotRepeatedFromTheSettledLog(t *testing.T) {
	run(t, func(t *testing.T, w *world, h *Hub) {
		w.add(started, toolCall)
		v := h.Follow(testRef, Position{})
		defer v.Close()
		drain(t, v)
		w.report(true)
		got, _, _ := drain(t, v)
		want(t, got, "+report 1")
		w.endCall()
		w.settle()
		w.signal(bus.Signal{Settled: true})
		got, _, _ = drain(t, v)
		want(t, got, "4:tool_result", "5:response")
	})
}
