package storm

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Report is the result of a storm.
type Report struct {
	Store       string         `json:"store"`
	Seed        uint64         `json:"seed"`
	Threads     int            `json:"threads"`
	Rounds      int            `json:"rounds"`
	Faults      map[string]int `json:"faults"`
	Took        time.Duration  `json:"took_ns"`
	Turns       int            `json:"turns"`             // accepted
	Outcomes    map[string]int `json:"outcomes"`          // "how it was sent: how it ended"
	Calls       int            `json:"model_calls"`       //
	CallsCut    int            `json:"model_calls_cut"`   // whose caller died or was stopped
	Cuts        int            `json:"streams_cut"`       // and reconnected
	Restarts    int            `json:"answers_restarted"` // notices that an answer was restarted
	Unsaved     int            `json:"notices_not_saved_yet"`
	Unavailable int            `json:"answers_503"`
	Notes       int            `json:"tool_side_effects"`
	// Unknown counts questions about tool calls with an unknown outcome; ToolErrors
	// counts calls with an error as their result.
	Unknown    int           `json:"tool_outcomes_unknown"`
	ToolErrors int           `json:"tool_errors"`
	Runs       int           `json:"workflow_runs"`
	Continued  int           `json:"continued_as_new"`
	Silence    time.Duration `json:"longest_silence_ns"` // between two events of a turn, faults included
	SilentTurn string        `json:"longest_silence"`    // which turn, and when
	// Gaps are how long turns stalled after their worker died, while another worker
	// ran.
	Gaps []time.Duration `json:"gaps_ns"`
	// StallGaps are the same for workers that stopped answering.
	StallGaps  []time.Duration `json:"silent_gaps_ns"`
	Violations []Violation     `json:"violations"`

	limit time.Duration
	mu    sync.Mutex
}

// Violation is a broken promise.
type Violation struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

func (r *Report) note(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *Report) violation(kind, format string, args ...any) {
	r.note(func() { r.Violations = append(r.Violations, Violation{kind, fmt.Sprintf(format, args...)}) })
}

func (r *Report) outcome(kind, outcome string) {
	r.note(func() {
		if r.Outcomes == nil {
			r.Outcomes = map[string]int{}
		}
		r.Outcomes[kind+": "+outcome]++
	})
}

func (r *Report) gap(d time.Duration, silent bool) {
	r.note(func() {
		if silent {
			r.StallGaps = append(r.StallGaps, d)
		} else {
			r.Gaps = append(r.Gaps, d)
		}
	})
}

// OK reports whether every promise held.
func (r *Report) OK() bool { return len(r.Violations) == 0 }

// quantiles formats how long turns stalled.
func quantiles(gaps []time.Duration) string {
	at := func(q float64) time.Duration {
		if len(gaps) == 0 {
			return 0
		}
		sorted := slices.Sorted(slices.Values(gaps))
		return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(time.Millisecond)
	}
	return fmt.Sprintf("p50 %v, p95 %v, max %v (%d turns)", at(0.5), at(0.95), at(1), len(gaps))
}

// Write writes the report as text.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("")
	line("%s, seed %d: %d faults while %d threads ran %d turns, %v", r.Store, r.Seed, r.Rounds, r.Threads, r.Turns, r.Took.Round(time.Second))
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		line("  %3d × %s", r.Faults[name], name)
	}
	line("turns, by how they were sent and how they ended")
	for _, name := range slices.Sorted(maps.Keys(r.Outcomes)) {
		line("  %4d %s", r.Outcomes[name], name)
	}
	line("%d model calls, %d of them cut; %d streams cut and reconnected; %d answers restarted; %d notices that the database is unavailable; %d responses with 503", r.Calls, r.CallsCut, r.Cuts, r.Restarts, r.Unsaved, r.Unavailable)
	line("%d side effects of tools; %d questions about tool calls with an unknown outcome; %d tool calls with an error as their result", r.Notes, r.Unknown, r.ToolErrors)
	line("%d workflow runs, %d of them by continue-as-new; longest silence of a turn, faults included: %v (%s)", r.Runs, r.Continued, r.Silence.Round(time.Millisecond), r.SilentTurn)
	line("turns stalled while another worker ran (limit %v): after their worker died %s; after their worker stopped answering %s",
		r.limit, quantiles(r.Gaps), quantiles(r.StallGaps))
	if r.OK() {
		line("every promise held")
	}
	for _, v := range r.Violations {
		line("VIOLATION %s: %s", v.Kind, v.What)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
