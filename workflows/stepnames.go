package workflows

import "strconv"

// Names of a turn's steps, under which their results are recorded (once). Open threads
// carry them across releases, so they do not change.
const (
	stepBegin = "begin"

	// The tool loop. The steps of a round are numbered; stepRound replaces those of the
	// rounds before.
	stepWrite        = "write"
	stepApprove      = "approve"
	stepRun          = "run"
	stepUnknown      = "unknown"
	stepGiven        = "given"
	stepDecideAfter  = ": decide"  // after the name of the question's step
	stepRunAfter     = ": run"     // after the name of the question's or the call's step
	stepUnknownAfter = ": unknown" // after the name of the call's step
	stepRound        = "round"

	// Agents. The kind of the step follows: the name of an activity, or of a method of Turn.
	stepAgent = "agent "
)

// roundSteps begin the names of a round's steps.
var roundSteps = []string{stepWrite, stepApprove, stepRun, stepUnknown, stepGiven}

// stepName is the name of the n-th run of a step.
func stepName(step string, n int) string {
	if n == 1 {
		return step
	}
	return numbered(step, n)
}

func numbered(step string, n int) string { return step + " " + strconv.Itoa(n) }
