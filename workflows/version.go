package workflows

import (
	"fmt"
	"time"
)

// A run of a thread follows one version of the workflow's code from its first
// event to its last: ThreadInput.Version. Code that adds, drops or moves a
// command asks for the run's version first, so that a run which began under
// older rules replays as it was recorded. A thread changes its version when it
// continues as new. docs/upgrades.md says how to add one.
const (
	// NewestVersion is the newest that this build knows. It runs every version
	// from 0 on (0: what ran before there were versions).
	NewestVersion = 1
	// DefaultVersion is the one that new runs follow unless WORKFLOW_VERSION says
	// otherwise. In a release that adds a version it stays at the one before, which
	// the release before it can run, too: so a release can be rolled out, and back,
	// while its processes run beside those of the release before.
	DefaultVersion = 1
)

// Rules are what the operator decides for all threads. They come with each
// command that the API sends, so that they reach threads that are open.
type Rules struct {
	Settings
	Version int `json:"version,omitempty"`
}

// Settings bound a thread and its turns.
type Settings struct {
	IdleTimeout time.Duration `json:"idle"` // completes after so long with nothing open
	// TurnDeadline bounds the time a turn may work; waiting for people is not
	// counted. MaxSteps and MaxTokens bound its model calls and what they use; 0:
	// no bound.
	TurnDeadline time.Duration `json:"deadline"`
	// ApprovalTimeout bounds how long a question about tools stays open; 0: as long
	// as it takes.
	ApprovalTimeout time.Duration `json:"approval_timeout,omitempty"`
	MaxSteps        int           `json:"max_steps,omitempty"`
	MaxTokens       int           `json:"max_tokens,omitempty"`
}

// adopt takes the rules that came with a command: the settings at once, the
// version when the thread next continues as new.
func (t *thread) adopt(r *Rules) {
	if r == nil {
		return
	}
	if t.IdleTimeout != r.IdleTimeout {
		t.idle = nil // the timer under way is for the old one
	}
	t.Settings, t.wanted = r.Settings, r.Version
}

// requireKnown stops a workflow task of a run whose version is newer than this
// build. The task is tried again, so that a newer worker can take it.
func requireKnown(version int) {
	if version > NewestVersion {
		panic(fmt.Sprintf("the thread follows version %d of the workflow, and this build knows versions up to %d: run the newer release, or see docs/upgrades.md for the way back", version, NewestVersion))
	}
}
