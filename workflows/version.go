package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/palaver-chat/palaver/chat"
)

// A run of a thread follows one version of the workflow's code from its first
// event to its last: ThreadInput.Version. Code that adds, drops or moves a command
// checks the run's version, so that an older run replays as it was recorded. A
// thread changes its version when it continues as new. docs/upgrades.md says how
// to add a version.
const (
	// firstVersion is known to every build.
	firstVersion = 1
	// NewestVersion is the newest version that this build knows. It runs all versions
	// from 1 on.
	NewestVersion = 1
	// DefaultVersion is the version of new runs unless WORKFLOW_VERSION is set. A
	// release that adds a version keeps the previous default, which the release
	// before it can run, too. So processes of both releases can run side by side
	// during a rollout or a rollback.
	DefaultVersion = 1
)

// Rules are the operator's settings for all threads. The API sends them with each
// command, so that they reach open threads, too.
type Rules struct {
	Settings
	Version int `json:"version,omitempty"`
}

// Settings bound a thread and its turns.
type Settings struct {
	IdleTimeout time.Duration `json:"idle"` // the thread completes when no turn was open for so long
	// TurnDeadline bounds a turn's time, without the time that it waits for people.
	// MaxSteps, MaxTokens and MaxCostUSD bound its model calls, their tokens and what they cost; 0:
	// no limit.
	TurnDeadline time.Duration `json:"deadline"`
	// ApprovalTimeout bounds how long a question about tools stays open; 0: no limit.
	ApprovalTimeout time.Duration `json:"approval_timeout,omitempty"`
	MaxSteps        int           `json:"max_steps,omitempty"`
	MaxTokens       int           `json:"max_tokens,omitempty"`
	MaxCostUSD      float64       `json:"max_cost_usd,omitempty"`
	// Effort of turns whose message names none; empty: quick.
	Effort chat.Effort `json:"effort,omitempty"`
}

// adoptRules applies the rules that came with a command: the settings at once, the
// version when the thread next continues as new.
func (t *thread) adoptRules(r *Rules) {
	if r == nil {
		return
	}
	if t.IdleTimeout != r.IdleTimeout {
		t.idle = nil // the running timer is for the old timeout
	}
	t.Settings, t.nextVersion = r.Settings, r.Version
}

// knownVersion reports whether the build that received a version signal knows the version. It
// is recorded, because a later build may know more when it replays the run.
func knownVersion(ctx workflow.Context, version int) (known bool) {
	if version <= firstVersion {
		return version >= 0
	}
	_ = workflow.SideEffect(ctx, func(workflow.Context) any { return version <= NewestVersion }).Get(&known)
	return known
}

// requireKnownVersion fails the workflow task of a run whose version is newer than
// this build. Temporal retries the task, so that a newer worker can take it.
func requireKnownVersion(version int) {
	if version > NewestVersion {
		panic(fmt.Sprintf("the thread follows version %d of the workflow, and this build knows versions up to %d: run the newer release, or see docs/upgrades.md for the way back", version, NewestVersion))
	}
}
