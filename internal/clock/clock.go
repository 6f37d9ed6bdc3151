// Package clock measures spans of time within one process.
package clock

import (
	"os"
	"strings"
	"time"
)

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

// FromFile returns a Read whose clocks are shifted by the two durations in a file, those of the
// wall clock and of the monotonic clock, such as "5m 0s". The file may change at any time, and
// may be missing. It is for storms: a negative shift of the monotonic clock is a machine that
// was paused.
func FromFile(path string) func() Reading {
	return func() Reading {
		now := Read()
		text, err := os.ReadFile(path)
		wall, mono, two := strings.Cut(strings.TrimSpace(string(text)), " ")
		w, errWall := time.ParseDuration(wall)
		m, errMono := time.ParseDuration(mono)
		if err == nil && two && errWall == nil && errMono == nil {
			now.Wall, now.Mono = now.Wall.Add(w), now.Mono+m
		}
		return now
	}
}

// Since returns how much time has passed from before to r, by each clock.
func (r Reading) Since(before Reading) (wall, mono time.Duration) {
	return r.Wall.Sub(before.Wall), r.Mono - before.Mono
}
