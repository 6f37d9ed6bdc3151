// Package clock measures spans of time within one process.
package clock

import "time"

// Reading is a moment by both clocks of a machine. The wall clock can be set, forwards and
// backwards. The monotonic clock cannot, but on Linux it stops while the machine is suspended
// or a virtual machine is paused.
type Reading struct {
	Wall time.Time
	Mono time.Duration // since the process began
}

var start = time.Now()

// Read reads both clocks.
func Read() Reading {
	now := time.Now()
	return Reading{Wall: now.Round(0), Mono: now.Sub(start)}
}

// Since returns how much time has passed from before to r, by each clock.
func (r Reading) Since(before Reading) (wall, mono time.Duration) {
	return r.Wall.Sub(before.Wall), r.Mono - before.Mono
}
